package errors

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// maxExcerpt is the largest length of an excerpt, in bytes.
const maxExcerpt = 512

// UnexpectedResponse is the error for a response body that is not the service's JSON error, such as a proxy's HTML
// page, an empty or truncated body, or a redirect. It is also the error for a success whose body cannot be read, or
// that is not the resource that the call asked for.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#errorsunexpectedresponse
type UnexpectedResponse struct {
	CallInfo
	// Status is the HTTP status as received.
	Status int
	// ContentType is the Content-Type header of the response.
	ContentType string
	// Excerpt is the beginning of the body as one printable line of at most 512 bytes. It is empty if the status is a
	// success, because the body of a success can contain secrets.
	Excerpt string
	// RetryAfter is the wait that the Retry-After header asks for, or 0 if it is absent. RetryAt is the end of that
	// wait.
	RetryAfter time.Duration
	// Err says what is wrong with the body.
	Err error
}

func newUnexpectedResponse(a Response, r Refusal, err error) *UnexpectedResponse {
	e := &UnexpectedResponse{
		CallInfo:    r.CallInfo,
		Status:      a.Status,
		ContentType: oneLine(a.Header.Get("Content-Type"), maxName),
		RetryAfter:  r.RetryAfter,
		Err:         err,
	}
	if a.Status >= 300 {
		e.Excerpt = excerpt(a.Body)
	}
	return e
}

// excerpt looks only at the beginning of the body, however long it is.
func excerpt(body []byte) string {
	head := body
	if len(head) > maxExcerpt {
		head = head[:maxExcerpt]
		// A character cut in two would show as a replacement character.
		for i := 0; i < utf8.UTFMax-1 && !utf8.RuneStart(body[len(head)]); i++ {
			head = head[:len(head)-1]
		}
	}
	return oneLine(string(head), maxExcerpt)
}

// Error returns one line that is safe to log. It contains nothing of the body.
func (e *UnexpectedResponse) Error() string { return e.line().String() }

func (e *UnexpectedResponse) line() *errorLine {
	message := "the response body is not the service's JSON error"
	if e.Status >= 200 && e.Status < 300 {
		// Err is not shown: it can quote the body, for example a card number
		message = "the response body cannot be read"
	}
	if e.ContentType != "" {
		message += " (" + oneLine(e.ContentType, maxName) + ")"
	}
	advice := ""
	if e.ContentType != "" && !strings.Contains(e.ContentType, "json") {
		advice = "something other than the service sent it: check the base URL, and any proxy in between"
	}
	return &errorLine{call: e.CallInfo, status: e.Status, message: message, advice: advice, retryAfter: e.RetryAfter,
		anchor: errorbase.Anchor("errors.UnexpectedResponse")}
}

// Unwrap returns Err.
func (e *UnexpectedResponse) Unwrap() error { return e.Err }

// Retryable reports whether the same request may be sent again, which depends on the status: it returns true for 408,
// 429, 500, 502, 503 and 504. If the service may have carried out a write, it returns true only if an
// idempotency key or another natural key identifies the write.
func (e *UnexpectedResponse) Retryable() bool {
	if remedyOf(e.Status) != RemedyWait {
		return false
	}
	return e.effect() == NotMoved || !e.facts.Once
}

// MovedByCall returns [NotMoved] for a read, for an operation that moves no money, and for a 4xx status other than 408
// and 409. Otherwise it returns [MaybeMoved].
func (e *UnexpectedResponse) MovedByCall() Movement {
	if e.facts.Moneyless {
		return NotMoved
	}
	return e.effect()
}

// effect returns whether the service carried out the request.
func (e *UnexpectedResponse) effect() Movement {
	switch {
	case e.facts.ReadOnly:
		return NotMoved
	case rejects(e.Status):
		return NotMoved
	}
	return MaybeMoved
}
