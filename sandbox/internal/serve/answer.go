package serve

import (
	"net/http"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Answer is what an operation returns.
type Answer struct {
	Status int
	Header http.Header // may be nil
	Body   any         // of JSON unless it is a []byte; nil: none

	lean bool
}

// OK is what was asked for.
func OK(body any) Answer { return Answer{Status: http.StatusOK, Body: body} }

// Created is what there was not before.
func Created(body any) Answer { return Answer{Status: http.StatusCreated, Body: body} }

// NoContent has no body.
func NoContent() Answer { return Answer{Status: http.StatusNoContent} }

// File is a response other than JSON.
func File(contentType string, body []byte) Answer {
	return Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}, Body: body}
}

// Lean writes JSON as JSON v2 has it. Otherwise it is as encoding/json writes it to a stream: with <, > and & escaped,
// and with a line break at the end.
func (a Answer) Lean() Answer {
	a.lean = true
	return a
}

// Replayed says that the operation ran before.
func (a Answer) Replayed() Answer {
	a.Header = http.Header{"Idempotency-Replayed": {"true"}}
	return a
}

// Encode returns the body as it travels.
func (a Answer) Encode() ([]byte, error) {
	switch body := a.Body.(type) {
	case nil:
		return nil, nil
	case []byte:
		return body, nil
	}
	if a.lean {
		return json.Marshal(a.Body)
	}
	text, err := json.Marshal(a.Body, jsonv1.DefaultOptionsV1())
	return append(text, '\n'), err
}
