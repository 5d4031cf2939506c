package wire

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/oapi-codegen/nullable"
	"github.com/oapi-codegen/runtime"
)

// Route is one operation of a server.
type Route struct {
	Method, Path string // as in the description
	Run          func(context.Context, *Request) (Response, error)
}

// Request is a request as the gate has read it. The parts that an operation needs are bound one by one. Afterwards, Err
// reports whether all of them could be read.
type Request struct {
	Path   map[string]string // its parameters
	Query  url.Values
	Header http.Header
	Body   []byte

	unreadable bool
}

// Parameter is the description of a parameter.
type Parameter struct {
	Name, Type, Format string
	Explode, Required  bool
}

// BindQuery reads a parameter of the query.
func (r *Request) BindQuery(to any, p Parameter) {
	r.note(runtime.BindQueryParameterWithOptions("form", p.Explode, p.Required, p.Name, r.Query, to,
		runtime.BindQueryParameterOptions{Type: p.Type, Format: p.Format}))
}

// BindHeader reads a header. A header must not come twice.
func (r *Request) BindHeader(to any, p Parameter) {
	switch values := r.Header.Values(p.Name); len(values) {
	case 0:
	case 1:
		r.note(runtime.BindStyledParameterWithOptions("simple", p.Name, values[0], to,
			runtime.BindStyledParameterOptions{
				ParamLocation: runtime.ParamLocationHeader, Explode: p.Explode, Required: p.Required, Type: p.Type,
				Format: p.Format,
			}))
	default:
		r.unreadable = true
	}
}

// BindBody reads the body like encoding/json.
func (r *Request) BindBody(to any) { r.note(json.Unmarshal(r.Body, to, jsonv1.DefaultOptionsV1())) }

// note records a failure. It drops the reason: its wording differs between releases of a library.
func (r *Request) note(err error) { r.unreadable = r.unreadable || err != nil }

// Err refuses a request that cannot be read. The gate has refused all mistakes that it knows, by name.
func (r *Request) Err() error {
	if r.unreadable {
		return Unreadable()
	}
	return nil
}

// Value returns the value of a member, or zero if the member is absent or null.
func Value[T any](member nullable.Nullable[T]) T {
	value, _ := member.Get()
	return value
}

// Update sets the new value: an absent member keeps the old value, and null clears it.
func Update[T any](target *T, member nullable.Nullable[T]) {
	if member.IsSpecified() {
		*target = Value(member)
	}
}

// Response is what an operation returns.
type Response struct {
	Status int
	Header http.Header // may be nil
	Body   any         // encoded as JSON unless it is a []byte; nil for no body

	lean     bool
	replayed bool
}

// OK returns 200 with the body.
func OK(body any) Response { return Response{Status: http.StatusOK, Body: body} }

// Created returns 201 with the body.
func Created(body any) Response { return Response{Status: http.StatusCreated, Body: body} }

// NoContent is 204 without a body.
func NoContent() Response { return Response{Status: http.StatusNoContent} }

// File returns a response that is not JSON.
func File(contentType string, body []byte) Response {
	return Response{Status: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}, Body: body}
}

// Lean encodes the body like JSON v2. Otherwise the body is as encoding/json writes it to a stream: with <, > and &
// escaped, and with a line break at the end.
func (a Response) Lean() Response {
	a.lean = true
	return a
}

// Replayed says that the operation ran before.
func (a Response) Replayed() Response {
	a.Header, a.replayed = http.Header{"Idempotency-Replayed": {"true"}}, true
	return a
}

// IsReplayed reports whether the operation ran before.
func (a Response) IsReplayed() bool { return a.replayed }

// Encode returns the encoded body.
func (a Response) Encode() ([]byte, error) {
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

// NewestFirst returns a page of the visible entries, newest first, and the number of all visible entries. It views only
// the entries of the page.
func NewestFirst[T, V any](oldestFirst []T, visible func(T) bool, view func(T) V, page Page) (items []V, total int) {
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

// MatchesText reports whether a text is in what a list shows of an entry. An empty text is in every entry. The case
// does not matter, and a space finds an underscore: lists show under_review as "Under review".
func MatchesText(text string, fields ...string) bool {
	return strings.Contains(normalizeText(strings.Join(fields, " ")), normalizeText(text))
}

func normalizeText(text string) string { return strings.ReplaceAll(strings.ToLower(text), "_", " ") }
