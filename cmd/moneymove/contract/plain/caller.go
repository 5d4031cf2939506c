package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Object is a JSON object.
type Object map[string]any

// Caller sends requests to one host.
type Caller struct {
	BaseURL string // without /dapi/v1
	Next    http.RoundTripper
}

// Reply is a response as it came.
type Reply struct {
	Status int
	Header http.Header
	Raw    string
	Body   Object // nil for a list, a PDF and what is no JSON
}

// Accepted reports a success.
func (r Reply) Accepted() bool { return r.Status >= 200 && r.Status < 300 }

// Text returns a text of the body, or "".
func (r Reply) Text(name string) string {
	value, _ := r.Body[name].(string)
	return value
}

// Object returns an object of the body, or nil.
func (r Reply) Object(name string) Object {
	value, _ := r.Body[name].(map[string]any)
	return value
}

// Slug returns the slug of a refusal, or "".
func (r Reply) Slug() string {
	code, _ := r.Object("error")["code"].(string)
	return code
}

// Send sends a request. A string is sent as it is, any other body as JSON. headers are names and values in turns. Of a
// header that is given twice, the last one is sent.
func (c *Caller) Send(ctx context.Context, method, path string, body any, headers ...string) (Reply, error) {
	var sent []byte
	switch b := body.(type) {
	case nil:
	case string:
		sent = []byte(b)
	default:
		var err error
		if sent, err = json.Marshal(b); err != nil {
			return Reply{}, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.BaseURL, "/")+path,
		bytes.NewReader(sent))
	if err != nil {
		return Reply{}, err
	}
	if sent != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return c.Deliver(request)
}

// ErrNoResponse means that no response arrived, or not all of it.
var ErrNoResponse = errors.New("no response")

// Deliver sends a request as it is. It follows no redirect.
func (c *Caller) Deliver(request *http.Request) (Reply, error) {
	response, err := c.Next.RoundTrip(request)
	if err != nil {
		return Reply{}, fmt.Errorf("%w to %s %s: %w", ErrNoResponse, request.Method, request.URL.Path, err)
	}
	raw, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return Reply{}, fmt.Errorf("%w to %s %s: %w", ErrNoResponse, request.Method, request.URL.Path, err)
	}
	r := Reply{Status: response.StatusCode, Header: response.Header, Raw: string(raw)}
	_ = json.Unmarshal(raw, &r.Body) // a list or a PDF has no members
	return r, nil
}
