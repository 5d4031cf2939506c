package serve

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Answer is what an operation returns.
type Answer struct {
	Status int
	Header http.Header // may be nil
	Body   any         // encoded as JSON unless it is a []byte; nil for no body

	lean     bool
	replayed bool
}

// OK returns 200 with the body.
func OK(body any) Answer { return Answer{Status: http.StatusOK, Body: body} }

// Created returns 201 with the body.
func Created(body any) Answer { return Answer{Status: http.StatusCreated, Body: body} }

// NoContent is 204 without a body.
func NoContent() Answer { return Answer{Status: http.StatusNoContent} }

// File returns a response that is not JSON.
func File(contentType string, body []byte) Answer {
	return Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}, Body: body}
}

// Lean encodes the body like JSON v2. Otherwise the body is as encoding/json writes it to a stream: with <, > and &
// escaped, and with a line break at the end.
func (a Answer) Lean() Answer {
	a.lean = true
	return a
}

// Replayed says that the operation ran before.
func (a Answer) Replayed() Answer {
	a.Header, a.replayed = http.Header{"Idempotency-Replayed": {"true"}}, true
	return a
}

// IsReplayed reports whether the operation ran before.
func (a Answer) IsReplayed() bool { return a.replayed }

// Encode returns the encoded body.
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

// Page says which entries of a list to return. The zero Page is the first page.
type Page struct{ Limit, Offset int }

// defaultLimit is how many entries a list returns by default.
const defaultLimit = 50

// Newest returns a page of the visible entries, newest first, and the number of all visible entries. It views only the
// entries of the page.
func Newest[T, V any](oldestFirst []T, visible func(T) bool, view func(T) V, page Page) (items []V, total int) {
	items = []V{}
	limit := cmp.Or(page.Limit, defaultLimit)
	for i := len(oldestFirst) - 1; i >= 0; i-- {
		entry := oldestFirst[i]
		if !visible(entry) {
			continue
		}
		if total >= page.Offset && len(items) < limit {
			items = append(items, view(entry))
		}
		total++
	}
	return items, total
}

// Found reports whether a text is in what a list shows of an entry. An empty text is in every entry. The case does not
// matter, and a space finds an underscore: lists show under_review as "Under review".
func Found(text string, shown ...string) bool {
	return strings.Contains(plain(strings.Join(shown, " ")), plain(text))
}

func plain(text string) string { return strings.ReplaceAll(strings.ToLower(text), "_", " ") }
