package gate

import (
	"bytes"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// readable returns the body for the operation. It refuses ids of another namespace in it, and completes unions whose
// variant is the default.
func readable(r *http.Request, route *route, body []byte) ([]byte, error) {
	switch {
	case !route.takesBody():
		return body, noMembers(r, body)
	case route.takesArray():
		return body,
			strictJSON(r, body, '[', "The body must be one JSON array in UTF-8, and no object may have a name twice.")
	}
	members, err := objectOf(r, body)
	if err != nil {
		return nil, err
	}
	for name, expected := range route.ids.body {
		if id, ok := stringOf(members[name]); ok {
			if err := checkID(id, expected); err != nil {
				return nil, err
			}
		}
	}
	return route.completeUnions(body, members)
}

// objectOf returns the members of a body that must be one object.
func objectOf(r *http.Request, body []byte) (members, error) {
	const wanted = "The body must be one JSON object in UTF-8, and no object may have a name twice."
	if err := strictJSON(r, body, '{', wanted); err != nil {
		return nil, err
	}
	all, err := membersOf(body)
	if err != nil {
		return nil, refuse.InvalidRequest(wanted)
	}
	return all, nil
}

// strictJSON requires one value of a kind, without duplicate names, in valid UTF-8.
func strictJSON(r *http.Request, body []byte, kind jsontext.Kind, wanted string) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return refuse.InvalidRequest("The content type must be application/json.")
	}
	if value := jsontext.Value(body); !value.IsValid() || value.Kind() != kind {
		return refuse.InvalidRequest(wanted)
	}
	return nil
}

// noMembers refuses members in the body of an operation that takes no body: unknown keys are refused and not ignored.
func noMembers(r *http.Request, body []byte) error {
	if len(body) == 0 || r.Method == http.MethodGet {
		return nil
	}
	members, err := objectOf(r, body)
	if err != nil {
		return err
	}
	var unknown []refuse.Field
	for _, name := range slices.Sorted(maps.Keys(members)) {
		unknown = append(unknown,
			refuse.Field{Field: name, Code: "extra_forbidden", Message: "The operation takes no body."})
	}
	if len(unknown) > 0 {
		return refuse.ValidationFailed("", unknown...)
	}
	return nil
}

// takesBody reports whether the operation has a request body.
func (r *route) takesBody() bool { return r.described.Operation.RequestBody != nil }

// takesArray reports whether the request body is a list.
func (r *route) takesArray() bool {
	if !r.takesBody() {
		return false
	}
	media := r.described.Operation.RequestBody.Value.Content.Get("application/json")
	return media.Schema.Value.Type.Is(openapi3.TypeArray)
}

// replaceBody sets a request body that can be read again without a copy.
func replaceBody(r *http.Request, body []byte) {
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
}
