package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// maxBody limits the body of a response. A longer body is an error, and no part of it is kept.
const maxBody = 64 << 20

// Log holds the exchanges of a run, in the order in which they ended. It is safe for concurrent use.
type Log struct {
	description *wire.Description
	base        string // path of the host's address

	mu        sync.Mutex
	exchanges []*Exchange
}

// NewLog returns an empty log of a host. base is the path of the host's address, such as /v2, or "".
func NewLog(description *wire.Description, basePath string) *Log {
	return &Log{description: description, base: strings.TrimSuffix(basePath, "/")}
}

// Exchanges returns the exchanges so far.
func (l *Log) Exchanges() []*Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.exchanges)
}

// Observer records every exchange that passes through it, whatever the response is.
type Observer struct {
	Next http.RoundTripper
	Log  *Log
	// Scripted marks the exchanges of a host with scripted responses. They show that an operation was called and that a
	// slug was understood. They show nothing about the service.
	Scripted bool
}

// RoundTrip implements http.RoundTripper.
func (o *Observer) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := take(r)
	if err != nil {
		return nil, err
	}
	response, err := o.Next.RoundTrip(r)
	if err != nil {
		o.add(o.Log.record(r, sent, nil, nil))
		return nil, err
	}
	received, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if closed := response.Body.Close(); err == nil {
		err = closed
	}
	if err == nil && len(received) > maxBody {
		err = fmt.Errorf("the response to %s %s is over %d bytes", r.Method, r.URL.Path, maxBody)
	}
	if err != nil {
		o.add(o.Log.record(r, sent, nil, nil))
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(received))
	o.add(o.Log.record(r, sent, response, received))
	return response, nil
}

func (o *Observer) add(x *Exchange) {
	x.Scripted = o.Scripted
	o.Log.mu.Lock()
	defer o.Log.mu.Unlock()
	o.Log.exchanges = append(o.Log.exchanges, x)
}

// take reads a request's body and puts it back.
func take(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if closed := r.Body.Close(); err == nil {
		err = closed
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}

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
	Response  any // the decoded JSON body, or nil
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
func (l *Log) record(r *http.Request, sent []byte, response *http.Response, received []byte) *Exchange {
	path := strings.TrimPrefix(r.URL.Path, l.base)
	x := &Exchange{
		Operation: l.description.Find(r.Method, path), Method: r.Method, Path: path, Query: r.URL.Query(),
		Sent: decode(sent), request: r.Clone(context.WithoutCancel(r.Context())), body: sent,
	}
	if response == nil {
		return x
	}
	x.Status, x.header, x.raw = response.StatusCode, response.Header.Clone(), received
	if isJSON(x.header) {
		x.Response = decode(received)
	}
	if !x.Accepted() {
		x.Slug = text(member(x.Response, "error"), "code")
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
