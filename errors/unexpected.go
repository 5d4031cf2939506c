package errors

import (
	"time"
	"unicode/utf8"
)

// maxExcerpt bounds the excerpt of an unexpected answer, in bytes.
const maxExcerpt = 512

// UnexpectedAnswer is an answer that is no error envelope at all: a gateway's HTML page, an empty or truncated body, a
// redirect, or a success that cannot be read or is not the resource that was asked for.
type UnexpectedAnswer struct {
	// Status is the HTTP status as received.
	Status int
	// RequestID is the X-Request-ID of the answer, often absent where a gateway answered.
	RequestID string
	// ContentType is the answer's Content-Type.
	ContentType string
	// Excerpt is the beginning of the body, at most 512 bytes, made one harmless line. It is empty when the status
	// says success: what a success carries may be secret.
	Excerpt string
	// Operation is the OpenAPI operationId.
	Operation string
	// IdempotencyKey is the key the write was sent with, empty for a read.
	IdempotencyKey string
	// Write says whether the request could change anything.
	Write bool
	// Repeatable says that sending the request again cannot do it twice: it changes nothing, or its idempotency key or a natural
	// key anchors it.
	Repeatable bool
	// Moneyless says that the operation moves no money, whatever becomes of it.
	Moneyless bool
	// RetryAfter is the wait that the Retry-After header asks for, 0 when absent.
	RetryAfter time.Duration
	// RetryAt is when that wait ends, zero when absent.
	RetryAt time.Time
	// Attempts is how many times the request was sent.
	Attempts int
	// Err says why the body is no envelope.
	Err error
}

func newUnexpectedAnswer(a Answer, r Refusal, err error) *UnexpectedAnswer {
	e := &UnexpectedAnswer{
		Status:         a.Status,
		RequestID:      r.RequestID,
		ContentType:    oneLine(a.Header.Get("Content-Type"), maxName),
		Operation:      a.Operation,
		IdempotencyKey: a.IdempotencyKey,
		Write:          a.Write,
		Repeatable:     a.Repeatable,
		Moneyless:      a.Moneyless,
		RetryAfter:     r.RetryAfter,
		RetryAt:        r.RetryAt,
		Attempts:       a.Attempts,
		Err:            err,
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
		for i := 0; i < utf8.UTFMax-1 && len(head) > 0 && !utf8.RuneStart(body[len(head)]); i++ {
			head = head[:len(head)-1]
		}
	}
	return oneLine(string(head), maxExcerpt)
}

// Error is one line, safe to log; the body is not in it.
func (e *UnexpectedAnswer) Error() string {
	message := "answer is no error envelope"
	if e.Status >= 200 && e.Status < 300 {
		message = "answer cannot be read" // and its error may quote it, a card's number perhaps
	}
	if e.ContentType != "" {
		message += " (" + oneLine(e.ContentType, maxName) + ")"
	}
	return errorLine{
		operation:      e.Operation,
		status:         e.Status,
		message:        message,
		requestID:      e.RequestID,
		idempotencyKey: e.IdempotencyKey,
		attempts:       e.Attempts,
		retryAfter:     e.RetryAfter,
	}.String()
}

// Unwrap gives the reason why the body is no envelope.
func (e *UnexpectedAnswer) Unwrap() error { return e.Err }

// Retryable judges by the status alone; a write that may have been carried out is retryable only if it is Repeatable.
func (e *UnexpectedAnswer) Retryable() bool {
	if remedyOf(e.Status) != RemedyWait {
		return false
	}
	return e.effect() == NotMoved || e.Repeatable
}

// MovedByCall is [NotMoved] for a read and for a client error, else [MaybeMoved]. A request timeout (408) and a conflict
// (409) say nothing about where the request got to, so they may have moved it. A Moneyless operation moved nothing.
func (e *UnexpectedAnswer) MovedByCall() Movement {
	if e.Moneyless {
		return NotMoved
	}
	return e.effect()
}

// effect says whether the request was carried out.
func (e *UnexpectedAnswer) effect() Movement {
	switch {
	case !e.Write:
		return NotMoved
	case rejects(e.Status):
		return NotMoved
	}
	return MaybeMoved
}
