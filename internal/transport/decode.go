package transport

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// answer is an HTTP response whose body was read.
type answer struct {
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
	r.answer = answer{status: resp.StatusCode, header: resp.Header, body: body}
	body.limited = io.LimitedReader{R: resp.Body, N: maxBody + 1}
	length, err := body.ReadFrom(&body.limited)
	body.limited.R = nil
	if length > maxBody {
		body.Truncate(maxBody)
		r.answer.truncated = true
	}
	r.hideEcho()
	if err != nil {
		return r.answer.unexpected(r, fmt.Errorf("the response ended after %d bytes: %w", length, err))
	}
	return nil
}

func (a *answer) release() {
	if a.body != nil && a.body.Cap() <= maxPooled {
		bodies.Put(a.body)
	}
	a.body = nil
}

func (a *answer) bytes() []byte {
	if a.body == nil {
		return nil
	}
	return a.body.Bytes()
}

func (a *answer) success() bool { return isSuccess(a.status) }

func isSuccess(status int) bool { return status >= 200 && status < 300 }

// NoContent is the result of an operation that returns nothing.
type NoContent struct{}

// decode reads a success into value. If the description does not say what a write returns, every body counts as a
// success except a proxy's page.
func (r *Request) decode(value any) (err error) {
	if _, none := value.(*NoContent); !r.op.Silent && !none {
		r.unread, err = r.answer.decode(value, r.op.Answer, r.client.most)
		if err == nil {
			r.unread = append(r.unread, r.moreThanAsked()...)
		}
		return err
	}
	body := bytes.TrimSpace(r.answer.bytes())
	if len(body) == 0 {
		return nil
	}
	if _, none := value.(*NoContent); none {
		return r.answer.valid(body)
	}
	unread, err := r.answer.decode(value, r.op.Answer, r.client.most)
	if err == nil && (len(unread) == 0 || r.op.Answer.Shape.Shows(body)) {
		r.unread, r.shown = unread, true
		return nil
	}
	return r.answer.valid(body)
}

// valid returns why a body whose content does not matter is not from the service, or nil. A proxy has pages of its own.
func (a *answer) valid(body []byte) error {
	if err := a.readable(); err != nil {
		return err
	}
	return wire.Valid(body)
}

// moreThanAsked reports a page that has more entries than the request asked for. They are read.
func (r *Request) moreThanAsked() []moneymovement.Unread {
	limit := r.query.Get("limit")
	if limit == "" || r.op.Answer == nil {
		return nil
	}
	asked, err := strconv.Atoi(limit)
	if listed := r.answer.body.reader.Listed(); err != nil || listed >= 0 && listed <= asked {
		return nil // as usual, without looking through the body again
	}
	return r.op.Answer.TooMany(r.answer.bytes(), asked)
}

// anything is the shape of a response that the description does not show.
var anything = wire.Answer{Shape: &wire.Any}

// decode reads a success into value, and returns the members that it could not read.
func (a *answer) decode(value any, described *wire.Answer, most int) ([]moneymovement.Unread, error) {
	if err := a.readable(); err != nil {
		return nil, err
	}
	a.body.reader.Most = most
	return cmp.Or(described, &anything).Decode(&a.body.reader, a.bytes(), value)
}

// readable returns why a body cannot be JSON, or nil.
func (a *answer) readable() error {
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
func (a *answer) refusal(r *Request) error {
	head := r.head()
	if r.op.Public { // a refused login changed nothing, whatever the status is
		facts := r.facts()
		facts.ReadOnly = true
		head = callfacts.With(head, facts)
	}
	return errors.Decode(errors.Response{
		CallInfo: head, Status: a.status, Header: a.header, Body: a.bytes(), Truncated: a.truncated,
	})
}

// keep gives the response to the caller if the caller asked for it.
func (r *Request) keep() {
	if len(r.call.Capture)+len(r.call.CaptureRevealing) == 0 {
		return
	}
	response := moneymovement.Response{
		Status:         r.answer.status,
		Header:         r.answer.header,
		RequestID:      r.answer.header.Get(requestIDHeader),
		IdempotencyKey: string(r.call.Key),
		Replayed:       r.answer.header.Get("Idempotency-Replayed") == "true",
		Attempts:       r.attempts,
		Queued:         r.call.Queued,
		Unread:         r.unread,
		Body:           bytes.Clone(r.answer.bytes()),
	}
	for _, into := range r.call.CaptureRevealing {
		*into = response
	}
	if r.op.Reveals {
		response.Body = nil
	}
	for _, into := range r.call.Capture {
		*into = response
	}
}
