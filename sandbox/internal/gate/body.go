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

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// content is the body of a request, with its members if it must be an object.
type content struct {
	text    jsontext.Value
	members members
}

// readable returns the body for the operation. It refuses ids of another namespace in it, and completes unions whose
// variant is the default.
func readable(r *http.Request, route *route, body []byte) (content, error) {
	switch {
	case !route.takesBody():
		return content{text: body}, noMembers(r, body)
	case route.takesArray():
		return content{text: body}, arrayIn(r, body)
	}
	members, err := objectOf(r, body)
	if err != nil {
		return content{}, err
	}
	for name, expected := range route.ids.body {
		if id, ok := stringOf(members[name]); ok {
			if err := checkID(id, expected); err != nil {
				return content{}, err
			}
		}
	}
	completed, err := route.completeUnions(body, members)
	return content{completed, members}, err
}

// objectOf returns the members of a body that must be one object.
func objectOf(r *http.Request, body []byte) (members, error) {
	if err := sentAsJSON(r); err != nil {
		return nil, err
	}
	all, err := membersOf(body)
	if err != nil || jsontext.Value(body).Kind() != jsontext.KindBeginObject {
		return nil, wire.InvalidRequest(
			"The body must be one JSON object in UTF-8, and no object may have a name twice.")
	}
	return all, nil
}

// arrayIn requires a body that is one list.
func arrayIn(r *http.Request, body jsontext.Value) error {
	if err := sentAsJSON(r); err != nil {
		return err
	}
	if !body.IsValid() || body.Kind() != jsontext.KindBeginArray {
		return wire.InvalidRequest("The body must be one JSON array in UTF-8, and no object may have a name twice.")
	}
	return nil
}

// sentAsJSON requires the media type of JSON.
func sentAsJSON(r *http.Request) error {
	sent := r.Header.Get("Content-Type")
	if sent == "application/json" {
		return nil
	}
	if media, _, err := mime.ParseMediaType(sent); err != nil || media != "application/json" {
		return wire.InvalidRequest("The content type must be application/json.")
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
	var unknown []wire.Field
	for _, name := range slices.Sorted(maps.Keys(members)) {
		unknown = append(unknown,
			wire.Field{Field: name, Code: "extra_forbidden", Message: "The operation takes no body."})
	}
	if len(unknown) > 0 {
		return wire.ValidationFailed("", unknown...)
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
