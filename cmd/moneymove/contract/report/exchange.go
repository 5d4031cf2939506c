package report

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// Exchange is a request and its response. It holds credentials and personal data in memory. The report shows it
// redacted.
type Exchange struct {
	Operation *wire.Operation // nil if the description has no such operation
	Method    string
	Path      string
	Query     url.Values
	Sent      any // the decoded JSON body, or nil
	Status    int // 0 without a response
	Slug      string
	Answer    any // the decoded JSON body, or nil
	Scripted  bool

	request *http.Request
	body    []byte
	header  http.Header
	raw     []byte
}

// Accepted reports a success.
func (x *Exchange) Accepted() bool { return x.Status >= 200 && x.Status < 300 }

// Name is the name of the operation, or method and path if the description has no such operation.
func (x *Exchange) Name() string {
	if x.Operation != nil {
		return x.Operation.Name()
	}
	return x.Method + " " + x.Path
}

// ActsFor returns the client that the request was made on behalf of, or "".
func (x *Exchange) ActsFor() string { return x.request.Header.Get("X-Service-Account") }

// Again repeats the request, with another body and query if they are given. It sends no idempotency key.
func (x *Exchange) Again(ctx context.Context, change Change) *http.Request {
	request := x.request.Clone(ctx)
	body := x.body
	if change.Body != nil {
		body = change.Body
	}
	if change.Query != nil {
		request.URL.RawQuery = change.Query.Encode()
	}
	request.Body, request.GetBody, request.ContentLength = http.NoBody, nil, int64(len(body))
	if len(body) > 0 {
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	// in any spelling
	maps.DeleteFunc(request.Header, func(name string, _ []string) bool {
		return strings.EqualFold(name, "Idempotency-Key")
	})
	return request
}

// Change says what a repeated request has in place of the first request's values. Nil keeps a value.
type Change struct {
	Body  []byte
	Query url.Values
}

// record returns the exchange of a request and its response.
func (l *Log) record(r *http.Request, sent []byte, answer *http.Response, received []byte) *Exchange {
	path := strings.TrimPrefix(r.URL.Path, l.base)
	x := &Exchange{
		Operation: l.description.Find(r.Method, path), Method: r.Method, Path: path, Query: r.URL.Query(),
		Sent: decode(sent), request: r.Clone(context.WithoutCancel(r.Context())), body: sent,
	}
	if answer == nil {
		return x
	}
	x.Status, x.header, x.raw = answer.StatusCode, answer.Header.Clone(), received
	if isJSON(x.header) {
		x.Answer = decode(received)
	}
	if !x.Accepted() {
		x.Slug = text(member(x.Answer, "error"), "code")
	}
	return x
}

func isJSON(header http.Header) bool {
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

// decode keeps the digits of numbers. For a body that is not JSON it returns nil.
func decode(body []byte) any {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil
	}
	return value
}

// member returns a member of an object, or nil.
func member(value any, name string) any {
	object, _ := value.(map[string]any)
	return object[name]
}

func text(value any, name string) string {
	found, _ := member(value, name).(string)
	return found
}
