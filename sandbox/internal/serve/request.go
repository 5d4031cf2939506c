// Package serve is the base of the generated servers of the host's surfaces. An operation receives the request as the
// gate has read it, and returns status, headers and body. A list returns a [Page] of what is kept oldest first.
package serve

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/oapi-codegen/nullable"
	"github.com/oapi-codegen/runtime"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// Route is one operation of a server.
type Route struct {
	Method, Path string // as in the description
	Run          func(context.Context, *Request) (Answer, error)
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
		return refuse.Unreadable()
	}
	return nil
}

// Value returns the value of a member, or zero if the member is absent or null.
func Value[T any](member nullable.Nullable[T]) T {
	value, _ := member.Get()
	return value
}

// Update sets the new value: an absent member keeps the old value, and null clears it.
func Update[T any](kept *T, member nullable.Nullable[T]) {
	if member.IsSpecified() {
		*kept = Value(member)
	}
}
