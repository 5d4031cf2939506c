package transport

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// response is an HTTP response whose body was read.
type response struct {
	status    int
	header    http.Header
	body      *buffer // pooled; release returns it to the pool
	truncated bool    // the body is longer than the limit
}

// maxBody limits the body of one response. A page of 100 entries has about 50 kB.
const maxBody = 8 << 20

// maxPooled is the size of the largest buffer that returns to the pool. Larger buffers are freed, so that one large
// response does not keep its memory for ever.
const maxPooled = 1 << 20

var bodies = sync.Pool{New: func() any { return new(buffer) }}

// buffer holds a body, and what reads it.
type buffer struct {
	bytes.Buffer
	reader  wire.Reader
	limited io.LimitedReader
}

// read reads the body, up to maxBody. Its error says how much was read.
func (r *Request) read(resp *http.Response) error {
	if r.stream != nil && r.stream.open(r, resp) {
		return nil
	}
	defer resp.Body.Close()
	body := bodies.Get().(*buffer)
	body.Reset()
	if resp.ContentLength > 0 && resp.ContentLength <= maxBody {
		body.Grow(int(resp.ContentLength) + bytes.MinRead) // with room to see EOF without growing
	}
	r.response = response{status: resp.StatusCode, header: resp.Header, body: body}
	body.limited = io.LimitedReader{R: resp.Body, N: maxBody + 1}
	length, err := body.ReadFrom(&body.limited)
	body.limited.R = nil
	if length > maxBody {
		body.Truncate(maxBody)
		r.response.truncated = true
	}
	r.hideEcho()
	if err != nil {
		return r.response.unexpected(r, fmt.Errorf("the response ended after %d bytes: %w", length, err))
	}
	return nil
}

func (a *response) release() {
	if a.body != nil && a.body.Cap() <= maxPooled {
		bodies.Put(a.body)
	}
	a.body = nil
}

func (a *response) bytes() []byte {
	if a.body == nil {
		return nil
	}
	return a.body.Bytes()
}

func (a *response) success() bool { return isSuccess(a.status) }

func isSuccess(status int) bool { return status >= 200 && status < 300 }

// NoContent is the result of an operation that returns nothing.
type NoContent struct{}

// decode reads a success into value. If the description does not say what a write returns, every body counts as a
// success except a proxy's page.
func (r *Request) decode(value any) (err error) {
	if _, none := value.(*NoContent); !r.op.ResultUnstated && !none {
		r.unread, err = r.response.decode(value, r.op.Response, r.client.most)
		if err == nil {
			r.unread = append(r.unread, r.moreThanAsked()...)
		}
		return err
	}
	body := bytes.TrimSpace(r.response.bytes())
	if len(body) == 0 {
		return nil
	}
	if _, none := value.(*NoContent); none {
		return r.response.valid(body)
	}
	unread, err := r.response.decode(value, r.op.Response, r.client.most)
	if err == nil && (len(unread) == 0 || r.op.Response.Shape.HasResource(body)) {
		r.unread, r.hasResource = unread, true
		return nil
	}
	return r.response.valid(body)
}

// valid returns an error if a body is not JSON, such as a proxy's page. The content of the JSON does not matter.
func (a *response) valid(body []byte) error {
	if err := a.readable(); err != nil {
		return err
	}
	return wire.Valid(body)
}

// moreThanAsked reports a page that has more entries than the request asked for. They are read.
func (r *Request) moreThanAsked() []moneymovement.Unread {
	limit := r.query.Get("limit")
	if limit == "" || r.op.Response == nil {
		return nil
	}
	asked, err := strconv.Atoi(limit)
	if listed := r.response.body.reader.Listed(); err != nil || listed >= 0 && listed <= asked {
		return nil // as usual, without looking through the body again
	}
	return r.op.Response.TooMany(r.response.bytes(), asked)
}

// anything is the shape of a response that the description does not show.
var anything = wire.Response{Shape: &wire.Any}

// decode reads a success into value, and returns the members that it could not read.
func (a *response) decode(value any, described *wire.Response, most int) ([]moneymovement.Unread, error) {
	if err := a.readable(); err != nil {
		return nil, err
	}
	a.body.reader.Most = most
	return cmp.Or(described, &anything).Decode(&a.body.reader, a.bytes(), value)
}

// readable returns why a body cannot be JSON, or nil.
func (a *response) readable() error {
	if a.truncated {
		return fmt.Errorf("the response is too large: it has more than %d bytes", maxBody)
	}
	if kind := a.header.Get("Content-Type"); !isJSON(kind) {
		return fmt.Errorf("the content type of the response is %q, not JSON", kind)
	}
	if bytes.HasPrefix(a.bytes(), []byte("\ufeff")) {
		return errors.New("the response begins with a byte order mark, which JSON does not allow")
	}
	return nil
}

func isJSON(contentType string) bool {
	if contentType == "" || contentType == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// refusal returns the typed error of a response that is not a success.
func (a *response) refusal(r *Request) error {
	refusal := errors.Decode(errors.Response{
		CallInfo: r.info(), Status: a.status, Header: a.header, Body: a.bytes(), Truncated: a.truncated,
	})
	facts := r.facts()
	facts.ReadOnly = facts.ReadOnly || r.op.Public // a refused login changed nothing, whatever the status is
	errorbase.SetFacts(refusal, facts)
	return refusal
}

// replayed reports that the service repeated its response to an earlier write.
func replayed(h http.Header) bool { return h.Get("Idempotency-Replayed") == "true" }

// capture gives the response to the caller if the caller asked for it.
func (r *Request) capture() {
	if len(r.call.Capture)+len(r.call.CaptureRevealing) == 0 {
		return
	}
	response := moneymovement.Response{
		Status:         r.response.status,
		Header:         r.response.header,
		RequestID:      r.response.header.Get(requestIDHeader),
		IdempotencyKey: string(r.call.Key),
		Replayed:       replayed(r.response.header),
		Attempts:       r.attempts,
		Queued:         r.call.Queued,
		Deprecation:    wire.DeprecationOf(r.response.header),
		RateLimits:     wire.RateLimitsOf(r.response.header),
		Unread:         r.unread,
		Body:           bytes.Clone(r.response.bytes()),
	}
	for _, into := range r.call.CaptureRevealing {
		*into = response
	}
	if r.op.SecretResponse {
		response.Body = nil
	}
	for _, into := range r.call.Capture {
		*into = response
	}
}

// Unstated is the response to a write whose result the description does not state ([Operation.ResultUnstated]). A
// success status means that the write was carried out.
type Unstated[T any] struct {
	value  *T // nil if the response did not show it
	err    error
	origin Origin // of the write
	// unproven is the error if only the resource proves the write
	unproven error
}

var errNotShown = errors.New("the response reports success, and does not show the resource")

// DoUnstated is [Do] for such a write.
func DoUnstated[T any](ctx context.Context, c *Client, r *Request) Unstated[T] {
	value, err := Do[T](ctx, c, r)
	if err != nil {
		return Unstated[T]{err: err}
	}
	if !r.hasResource {
		return Unstated[T]{origin: r.origin(), unproven: r.unreadableSuccess(errNotShown)}
	}
	return Unstated[T]{value: value}
}

// ValueOrRead returns the resource from the response, or else the result of read. read uses the credential and the
// headers of the write: a newer credential can belong to another account. The write was carried out, so if the read
// fails, ValueOrRead returns the zero value and no error.
func (s Unstated[T]) ValueOrRead(read func(Origin) (*T, error)) (*T, error) {
	if s.value != nil || s.err != nil {
		return s.value, s.err
	}
	if value, err := read(s.origin); err == nil {
		return value, nil
	}
	return new(T), nil
}

// ValueOrInDoubt is ValueOrRead for a write of money: a success that shows nothing does not prove it. If there is no
// read, or it fails, the outcome is in doubt.
func (s Unstated[T]) ValueOrInDoubt(read func(Origin) (*T, error)) (*T, error) {
	if s.value != nil || s.err != nil {
		return s.value, s.err
	}
	if read != nil {
		if value, err := read(s.origin); err == nil {
			return value, nil
		}
	}
	return nil, s.unproven
}

// ValueOrZero returns the resource from the response, or else the zero value.
func (s Unstated[T]) ValueOrZero() (*T, error) {
	return s.ValueOrRead(func(Origin) (*T, error) { return new(T), nil })
}

// Value returns the resource from the response, or nil.
func (s Unstated[T]) Value() (*T, error) { return s.value, s.err }

// leastEchoed is the length of the shortest secret that is searched for in a refusal. A shorter text could be there by
// chance.
const leastEchoed = 8

// hideEcho removes secrets that a refusal repeats. Validators quote the values that they refuse, and programs print and
// encode the details of a refusal.
func (r *Request) hideEcho() {
	if r.response.success() {
		return
	}
	var room [4]string
	secrets := r.sentSecrets(room[:0])
	if !mayEcho(r.response.bytes(), secrets) { // the usual case
		return
	}
	var pairs []string
	for _, secret := range secrets {
		pairs = append(pairs, secret, hidden.Redaction)
	}
	if hidden, found := wire.Replace(r.response.bytes(), strings.NewReplacer(pairs...)); found {
		r.response.body.Reset()
		r.response.body.Write(hidden)
	}
}

// mayEcho reports whether a body can have one of the secrets. An escape can hide a character of a secret.
func mayEcho(body []byte, secrets []string) bool {
	if len(secrets) > 0 && bytes.IndexByte(body, '\\') >= 0 {
		return true
	}
	for _, secret := range secrets {
		beginning := secret[:min(len(secret), 32)] // as bytes, it fits on the stack
		if bytes.Contains(body, []byte(beginning)) {
			return true
		}
	}
	return false
}

// sentSecrets adds the credentials, and the secrets of the body, that the last attempt sent. It leaves out those that
// are too short to search for.
func (r *Request) sentSecrets(secrets []string) []string {
	secrets = append(secrets, strings.TrimPrefix(r.header.Get("Authorization"), "Bearer "), r.header.Get("X-Api-Key"))
	if r.op.SecretRequest {
		secrets = append(secrets, wire.Secrets(r.body)...)
	}
	return slices.DeleteFunc(secrets, func(secret string) bool { return len(secret) < leastEchoed })
}
