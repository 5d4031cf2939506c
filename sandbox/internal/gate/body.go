package gate

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// content is the body of a request, with its members if it must be an object.
type content struct {
	text    jsontext.Value
	members members
}

// parseBody returns the body for the operation. It refuses ids with the prefix of another type, and completes unions
// whose variant is the default.
func parseBody(r *http.Request, route *route, body []byte) (content, error) {
	switch {
	case !route.takesBody():
		return content{text: body}, requireNoMembers(r, body)
	case route.takesArray():
		return content{text: body}, requireArray(r, body)
	}
	members, err := parseObject(r, body)
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

// parseObject returns the members of a body that must be one object.
func parseObject(r *http.Request, body []byte) (members, error) {
	if err := requireJSON(r); err != nil {
		return nil, err
	}
	all, err := membersOf(body)
	if err != nil || jsontext.Value(body).Kind() != jsontext.KindBeginObject {
		return nil, wire.InvalidRequest(
			"The body must be one JSON object in UTF-8, and no object may have a name twice.")
	}
	return all, nil
}

// requireArray refuses a body that is not one JSON array.
func requireArray(r *http.Request, body jsontext.Value) error {
	if err := requireJSON(r); err != nil {
		return err
	}
	if !body.IsValid() || body.Kind() != jsontext.KindBeginArray {
		return wire.InvalidRequest("The body must be one JSON array in UTF-8, and no object may have a name twice.")
	}
	return nil
}

// requireJSON refuses another media type than JSON.
func requireJSON(r *http.Request) error {
	sent := r.Header.Get("Content-Type")
	if sent == "application/json" {
		return nil
	}
	if media, _, err := mime.ParseMediaType(sent); err != nil || media != "application/json" {
		return wire.InvalidRequest("The content type must be application/json.")
	}
	return nil
}

// requireNoMembers refuses members in the body of an operation that takes no body: unknown members are refused and not
// ignored.
func requireNoMembers(r *http.Request, body []byte) error {
	if len(body) == 0 || r.Method == http.MethodGet {
		return nil
	}
	members, err := parseObject(r, body)
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

// maxDrained is how many bytes of a body that is too large are still read, so that its sender gets the response and not
// a broken connection.
const maxDrained = 16 << 20

// payload is the body of a request. It is read only when it is needed: the body of a caller without a credential is not
// read.
type payload struct {
	request *http.Request
	limit   int64

	wasRead bool
	bytes   []byte
	err     error
}

// read returns the whole body, up to the limit.
func (p *payload) read() ([]byte, error) {
	if !p.wasRead {
		p.wasRead = true
		p.bytes, p.err = bodyOf(p.request, p.limit)
	}
	return p.bytes, p.err
}

// drainTimeout is how long the rest of a refused request's body is read and discarded, for the same reason.
const drainTimeout = 500 * time.Millisecond

// respondEarly lets the response leave before the rest of an unread body has arrived. Otherwise net/http waits for the
// rest. If it returns true, call drain after the response.
func (p *payload) respondEarly(w http.ResponseWriter) (unread bool) {
	r := p.request
	if p.wasRead || r.ProtoMajor != 1 || r.Body == nil || r.Body == http.NoBody || r.Header.Get("Expect") != "" {
		return false // net/http needs no help
	}
	return http.NewResponseController(w).EnableFullDuplex() == nil // fails without a connection
}

// drain sends the response, and discards the following bytes of the body for a moment. If that is not the whole body,
// it closes the connection.
func (p *payload) drain(w http.ResponseWriter) {
	connection := http.NewResponseController(w)
	_ = connection.Flush()
	_ = connection.SetReadDeadline(time.Now().Add(drainTimeout))
	if n, err := io.CopyN(io.Discard, p.request.Body, maxDrained); n == maxDrained || !errors.Is(err, io.EOF) {
		panic(http.ErrAbortHandler)
	}
	_ = connection.SetReadDeadline(time.Time{})
}

func bodyOf(r *http.Request, limit int64) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, wire.InvalidRequest("The body did not arrive in time.")
	case err != nil:
		return nil, wire.InvalidRequest("The body cannot be read.")
	case int64(len(body)) > limit:
		_, _ = io.CopyN(io.Discard, r.Body, maxDrained) // closing the connection refuses the rest
		return nil, wire.PayloadTooLarge()
	default:
		return body, nil
	}
}

// members are an object's members with their unparsed values.
type members map[string]jsontext.Value

func membersOf(object []byte) (members, error) {
	var all members
	err := json.Unmarshal(object, &all)
	return all, err
}

// orParse returns the members, and parses them if they are nil.
func (m members) orParse(object jsontext.Value) members {
	if m == nil {
		m, _ = membersOf(object) // the body is valid
	}
	return m
}

func stringOf(value jsontext.Value) (string, bool) {
	if value.Kind() != '"' {
		return "", false
	}
	var text string
	err := json.Unmarshal(value, &text)
	return text, err == nil
}

// completeUnions writes discriminators that a caller may leave out: the on-chain and the email variant of a contact's
// account have a default. A body with all discriminators stays as it is.
func (r *route) completeUnions(body []byte, all members) ([]byte, error) {
	media := r.described.Operation.RequestBody.Value.Content.Get("application/json")
	changed := false
	for name, property := range media.Schema.Value.Properties {
		union := unionOf(property)
		value := all[name]
		if union == nil || value.Kind() != '{' {
			continue
		}
		inner, err := membersOf(value)
		if err != nil {
			return nil, err
		}
		discriminator := union.Discriminator.PropertyName
		if _, present := inner[discriminator]; present {
			continue
		}
		variant, ok := defaultVariant(union, inner)
		if !ok {
			continue
		}
		if inner[discriminator], err = json.Marshal(variant); err != nil {
			return nil, err
		}
		if all[name], err = json.Marshal(inner); err != nil {
			return nil, err
		}
		changed = true
	}
	if !changed {
		return body, nil
	}
	return json.Marshal(all)
}

// unionOf looks through the wrapper that makes a union nullable.
func unionOf(property *openapi3.SchemaRef) *openapi3.Schema {
	schema := property.Value
	if len(schema.AllOf) == 1 {
		schema = schema.AllOf[0].Value
	}
	if len(schema.OneOf) == 0 || schema.Discriminator == nil {
		return nil
	}
	return schema
}

// defaultVariant returns the first variant with a default whose required members are all there. It also returns a
// variant if one of its required members is there and no other variant has it: then other members are missing, and not
// the discriminator.
func defaultVariant(union *openapi3.Schema, present members) (any, bool) {
	for _, variant := range union.OneOf {
		fallback := defaultOf(variant.Value.Properties[union.Discriminator.PropertyName])
		if fallback != nil && (hasAll(present, variant.Value.Required) || hasOwn(present, variant, union)) {
			return fallback, true
		}
	}
	return nil, false
}

// hasOwn reports whether the object has a required member of the variant that no other variant has.
func hasOwn(present members, variant *openapi3.SchemaRef, union *openapi3.Schema) bool {
	return slices.ContainsFunc(variant.Value.Required, func(name string) bool {
		_, ok := present[name]
		return ok && !slices.ContainsFunc(union.OneOf, func(other *openapi3.SchemaRef) bool {
			return other != variant && other.Value.Properties[name] != nil
		})
	})
}

func defaultOf(property *openapi3.SchemaRef) any {
	if property == nil {
		return nil
	}
	if property.Value.Default != nil {
		return property.Value.Default
	}
	for _, part := range property.Value.AllOf {
		if fallback := defaultOf(part); fallback != nil {
			return fallback
		}
	}
	return nil
}

func hasAll(present members, required []string) bool {
	for _, name := range required {
		if _, ok := present[name]; !ok {
			return false
		}
	}
	return true
}
