package transport

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/errors"
)

// answer is one HTTP answer, read.
type answer struct {
	status    int
	header    http.Header
	body      *bytes.Buffer // pooled; release gives it back
	truncated bool          // the body goes on beyond the bound
}

// maxBody bounds what is read of one answer. A page of 100 is some 50 kB.
const maxBody = 8 << 20

// maxPooled keeps one rare large answer from holding its memory for good.
const maxPooled = 1 << 20

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// read takes the body, at most maxBody of it. It is go-retryablehttp's response handler, so that an answer that breaks off in
// the middle is retried like one that never came. If it is the last one, its error says what there was.
func (t *trip) read(resp *http.Response) error {
	if t.stream != nil && t.stream.open(t, resp) {
		return nil
	}
	defer resp.Body.Close()
	body := bodies.Get().(*bytes.Buffer)
	body.Reset()
	if resp.ContentLength > 0 && resp.ContentLength <= maxBody {
		body.Grow(int(resp.ContentLength) + bytes.MinRead) // room to see EOF without growing
	}
	t.answer = answer{status: resp.StatusCode, header: resp.Header, body: body}
	t.limited = io.LimitedReader{R: resp.Body, N: maxBody + 1}
	if _, err := body.ReadFrom(&t.limited); err != nil {
		return t.answer.unexpected(t, fmt.Errorf("answer broke off after %d bytes: %w", body.Len(), err))
	}
	if body.Len() > maxBody {
		body.Truncate(maxBody)
		t.answer.truncated = true
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

// NoContent is the answer of an operation that answers nothing.
type NoContent struct{}

// decode reads a success into value. Unmarshal takes exactly one JSON value with nothing behind it, and under v2 semantics refuses
// duplicate keys, case variants and invalid UTF-8. Unknown members are skipped: the service may add fields. What tells the resource has to be
// there.
func (a *answer) decode(value any) error {
	if _, none := value.(*NoContent); none {
		return nil
	}
	if a.truncated {
		return fmt.Errorf("answer is longer than %d bytes", maxBody)
	}
	if kind := a.header.Get("Content-Type"); !isJSON(kind) {
		return fmt.Errorf("answer is no JSON but %q", kind)
	}
	if jsontext.Value(a.bytes()).Kind() == jsontext.KindNull {
		return fmt.Errorf("answer is null") // which would decode as a value whose fields are all empty
	}
	if err := json.Unmarshal(a.bytes(), value, decodeOptions); err != nil {
		return err
	}
	return complete(value)
}

func isJSON(contentType string) bool {
	if contentType == "" || contentType == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// refusal turns an answer that is no success into its typed error.
func (a *answer) refusal(t *trip) error {
	facts := t.facts()
	facts.ReadOnly = facts.ReadOnly || t.op.Public // a login that is refused changed nothing, whatever the status
	return errors.Decode(errors.Answer{
		Head: t.head().WithFacts(facts), Status: a.status, Header: a.header, Body: a.bytes(), Truncated: a.truncated, Now: time.Now(),
	})
}

// keep hands the answer's metadata to the caller who asked for it.
func (t *trip) keep() {
	into := t.call.Answer
	if into == nil {
		return
	}
	*into = Answer{IdempotencyKey: t.call.Key, Attempts: t.attempts, Queued: t.queued}
	if t.answer.status != 0 {
		into.Status = t.answer.status
		into.Header = t.answer.header
		into.RequestID = t.answer.header.Get("X-Request-ID")
		into.Replayed = t.answer.header.Get("Idempotency-Replayed") == "true"
		into.Body = bytes.Clone(t.answer.bytes())
	}
}
