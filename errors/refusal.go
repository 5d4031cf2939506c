package errors

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Refusal is what every refusal carries, whatever its slug. The slug types embed it and unwrap to it, so that
// errors.As(err, &refusal) with a *Refusal finds it in all of them.
//
// Source: Errors, Platform envelope.
type Refusal struct {
	// Code is the slug; empty in [DetailErrors], whose shape has none.
	Code Code
	// Message is the service's sentence, as received. It is safe to log; its wording may change.
	Message string
	// Details is error.details as received, nil when absent.
	Details jsontext.Value
	// Status is the HTTP status as received, also where it is not the one the catalogue gives the slug.
	Status int
	// RequestID is the X-Request-ID of the answer, or else the requestId of the details.
	RequestID string
	// Operation is the OpenAPI operationId, for example "BookPayout".
	Operation string
	// IdempotencyKey is the key the write was sent with, empty for a read.
	IdempotencyKey string
	// Write says whether the request could change anything. A read never moves money.
	Write bool
	// Repeatable says that sending the request again cannot do it twice: it changes nothing, or its idempotency key or a natural
	// key anchors it.
	Repeatable bool
	// Moneyless says that the operation moves no money, whatever becomes of it.
	Moneyless bool
	// RetryAfter is the wait that the Retry-After header asks for, 0 when absent. Any slug may carry it.
	RetryAfter time.Duration
	// RetryAt is when that wait ends, zero when absent.
	RetryAt time.Time
	// Attempts is how many times the request was sent.
	Attempts int
}

// Error is one line, safe to log: "BookPayout: 409 idempotency_key_reused: key used before (request req_1, key
// invoice-42)".
func (r *Refusal) Error() string { return r.line("") }

// line is the error's text with names of what is concerned, such as fields or blockers, after the message.
func (r *Refusal) line(concerned string) string {
	return errorLine{
		operation:      r.Operation,
		status:         r.Status,
		code:           string(r.Code),
		message:        r.Message,
		concerned:      concerned,
		requestID:      r.RequestID,
		idempotencyKey: r.IdempotencyKey,
		attempts:       r.Attempts,
		retryAfter:     r.RetryAfter,
	}.String()
}

// Remedy says what makes sense next, as the catalogue knows it; an unknown slug is judged by its status.
func (r *Refusal) Remedy() Remedy {
	if e, known := r.Code.lookup(); known {
		return e.remedy
	}
	return remedyOf(r.Status)
}

// Retryable reports whether the same request, with the same key, may succeed when it is sent again after RetryAfter or a
// backoff. A write that may have been carried out is retryable only if it is Repeatable.
//
// A refusal that [RemedyLogin] cures is not retryable as it stands: a new token comes first.
func (r *Refusal) Retryable() bool {
	if r.Remedy() != RemedyWait {
		return false
	}
	return r.effect() == NotMoved || r.Repeatable
}

// MovedByCall says whether the money that the request asked to move has moved. The refusal of a read moved nothing. The
// refusal of a write is judged by the catalogue; a server error that the catalogue does not explain, and an unknown
// slug that a state conflict came with, may have moved it, unless the operation is Moneyless.
func (r *Refusal) MovedByCall() Movement {
	if r.Moneyless && r.effect() == MaybeMoved {
		return NotMoved
	}
	return r.effect()
}

// effect says whether the request was carried out.
func (r *Refusal) effect() Movement {
	e, known := r.Code.lookup()
	switch {
	case known && e.moved == Moved:
		return Moved
	case !r.Write:
		return NotMoved
	case known && (r.Status == 0 || r.Status == e.status || isClientError(r.Status)):
		return e.moved
	case rejects(r.Status):
		return NotMoved
	}
	// Many slugs are not shown, and an unknown conflict can be one that says "already done".
	return MaybeMoved
}

// LogValue gives slog the fields to search by; neither message nor details are among them.
func (r *Refusal) LogValue() slog.Value {
	attrs := make([]slog.Attr, 0, 5)
	add := func(name, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(name, oneLine(value, maxName)))
		}
	}
	add("operation", r.Operation)
	attrs = append(attrs, slog.Int("status", r.Status))
	add("code", string(r.Code))
	add("requestId", r.RequestID)
	add("idempotencyKey", r.IdempotencyKey)
	return slog.GroupValue(attrs...)
}

func isClientError(status int) bool { return status >= 400 && status < 500 }

// rejects reports statuses that say by themselves that nothing was done. A request timeout (408) and a conflict (409) say nothing about
// where the request got to.
func rejects(status int) bool {
	return isClientError(status) && status != http.StatusRequestTimeout && status != http.StatusConflict
}

// remedyOf judges an answer without a known slug.
//
// Source: Errors, Status codes. 408 and 504 are assumed to mean what 502 and 503 mean.
func remedyOf(status int) Remedy {
	switch status {
	case http.StatusUnauthorized:
		return RemedyLogin
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return RemedyWait
	}
	return RemedyChange
}

// Unrecognized is a refusal whose slug the catalogue does not know. Everything received is kept.
//
// Source: Errors, Slugs ("109 slugs in total").
type Unrecognized struct{ Refusal }

// Unwrap gives the common part, so that errors.As finds *Refusal.
func (e *Unrecognized) Unwrap() error { return &e.Refusal }
