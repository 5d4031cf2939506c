package errors

import (
	"strings"
	"time"
	"unicode/utf8"
)

// maxExcerpt bounds the excerpt of an unexpected answer, in bytes.
const maxExcerpt = 512

// UnexpectedResponse is the error for a response body that is not the service's JSON error, such as a proxy's HTML
// page, an empty or truncated body, a redirect, or a success that cannot be read or is not the resource that was asked
// for.
type UnexpectedResponse struct {
	CallInfo
	// Status is the HTTP status as received.
	Status int
	// ContentType is the answer's Content-Type.
	ContentType string
	// Excerpt is the beginning of the body, at most 512 bytes, made one harmless line. It is empty when the status
	// says success: what a success carries may be secret.
	Excerpt string
	// RetryAfter is the wait that the Retry-After header asks for, 0 when absent. RetryAt is when that wait ends.
	RetryAfter time.Duration
	// Err says why the body is no envelope.
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

// Error is one line, safe to log; the body is not in it.
func (e *UnexpectedResponse) Error() string { return e.line().String() }

func (e *UnexpectedResponse) line() errorLine {
	message := "the response body is not the service's JSON error"
	if e.Status >= 200 && e.Status < 300 {
		message = "the response body cannot be read" // and its error may quote it, a card's number perhaps
	}
	if e.ContentType != "" {
		message += " (" + oneLine(e.ContentType, maxName) + ")"
	}
	advice := ""
	if e.ContentType != "" && !strings.Contains(e.ContentType, "json") {
		advice = "something other than the service sent it: check the base URL, and any proxy in between"
	}
	return errorLine{head: e.CallInfo, status: e.Status, message: message, advice: advice, retryAfter: e.RetryAfter}
}

// Unwrap gives the reason why the body is no envelope.
func (e *UnexpectedResponse) Unwrap() error { return e.Err }

// Retryable judges by the status alone; a write that may have been carried out is retryable only if a key
// keeps it from being done twice.
func (e *UnexpectedResponse) Retryable() bool {
	if remedyOf(e.Status) != RemedyWait {
		return false
	}
	return e.effect() == NotMoved || !e.facts.Once
}

// MovedByCall is [NotMoved] for a read and for a client error, else [MaybeMoved]. A request timeout (408) and a
// conflict (409) say nothing about where the request got to, so they may have moved it. An operation that moves no
// money moved nothing.
func (e *UnexpectedResponse) MovedByCall() Movement {
	if e.facts.Moneyless {
		return NotMoved
	}
	return e.effect()
}

// effect says whether the request was carried out.
func (e *UnexpectedResponse) effect() Movement {
	switch {
	case e.facts.ReadOnly:
		return NotMoved
	case rejects(e.Status):
		return NotMoved
	}
	return MaybeMoved
}
