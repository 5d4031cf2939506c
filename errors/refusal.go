package errors

import (
	"bytes"
	"cmp"
	"log/slog"
	"net/http"
	"time"
)

// Refusal is what every refusal carries, whatever its slug. The slug types embed it and unwrap to it, so that
// errors.As(err, &refusal) with a *Refusal finds it in all of them.
//
// Source: Errors, Platform envelope.
type Refusal struct {
	CallInfo
	// Code is the slug; empty where the shape has none, as in [DetailErrors].
	Code Code
	// Message is the service's sentence, as received. It is safe to log; its wording may change.
	Message string
	// Details is error.details as received, nil when absent.
	Details JSON
	// Status is the HTTP status as received, also where it is not the one the catalogue gives the slug.
	Status int
	// RetryAfter is the wait that the Retry-After header asks for, 0 when absent. Any slug may carry it. RetryAt is
	// when that wait ends.
	RetryAfter time.Duration
}

// JSON is a value as it was received. Unlike json.RawMessage, it prints as what it says and not as a list of bytes.
type JSON []byte

// String is the value's text, "null" for none.
func (j JSON) String() string {
	if j == nil {
		return "null"
	}
	return string(j)
}

// MarshalJSON writes the value as it is.
func (j JSON) MarshalJSON() ([]byte, error) { return []byte(j.String()), nil }

// UnmarshalJSON keeps a copy of the value.
func (j *JSON) UnmarshalJSON(value []byte) error {
	*j = bytes.Clone(value)
	return nil
}

// Error is one line, safe to log, that says what was refused and what to do about it: "GetPayout: 404 not_found: no
// such payout - check the id po_7 (request req_1)".
func (r *Refusal) Error() string { return r.line().String() }

func (r *Refusal) line() errorLine { return r.lineWith("", "") }

// lineWith is the error's text with names of what is concerned, such as fields or blockers, and with the advice of a
// type that knows more than its slug does.
func (r *Refusal) lineWith(concerned, advice string) errorLine {
	return errorLine{
		head:       r.CallInfo,
		status:     r.Status,
		code:       string(r.Code),
		message:    r.Message,
		concerned:  concerned,
		advice:     cmp.Or(advice, r.Code.Hint()),
		retryAfter: r.RetryAfter,
	}
}

// concerned names what the refusal is about; the types that know it have their own.
func (r *Refusal) concerned() string { return "" }

// advice says what to do in place of the slug's hint; the types that know more have their own.
func (r *Refusal) advice() string { return "" }

// as gives the refusal as its type knows it: one that was made by hand need not repeat its slug.
func (r *Refusal) as(code Code) *Refusal {
	if r.Code == code {
		return r
	}
	named := *r
	named.Code = code
	return &named
}

// Remedy says what makes sense next, as the catalogue knows it; an unknown slug is judged by its status.
func (r *Refusal) Remedy() Remedy {
	if r.Code == CodeConflict && namesBalance(r.Details) {
		return RemedyChangeAccount
	}
	if e, known := r.Code.lookup(); known {
		return e.remedy
	}
	return remedyOf(r.Status)
}

// Retryable reports whether the same request, with the same key, may succeed when it is sent again after RetryAfter or
// a backoff, unchanged and with nobody's help. A write that may have been carried out is retryable only if a key keeps
// it from being done twice.
//
// A refusal that [RemedyLogin] cures is not retryable as it stands: a new token comes first. One that
// [RemedyChangeAccount] cures can be repeated with the same key once an operator has acted.
func (r *Refusal) Retryable() bool {
	if r.Remedy() != RemedyWait {
		return false
	}
	return r.effect() == NotMoved || !r.facts.Once
}

// MovedByCall says whether the money that the request asked to move has moved. The refusal of a read moved nothing. The
// refusal of a write is judged by the catalogue; a server error that the catalogue does not explain, and an unknown
// slug that a state conflict came with, may have moved it, unless the operation moves no money at all.
func (r *Refusal) MovedByCall() Movement {
	if r.facts.Moneyless && r.effect() == MaybeMoved {
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
	case r.facts.ReadOnly:
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

// rejects reports statuses that say by themselves that nothing was done. A request timeout (408) and a conflict (409)
// say nothing about where the request got to.
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
	case http.StatusForbidden:
		return RemedyChangeAccount
	}
	return RemedyChangeRequest
}

// Unrecognized is a refusal whose slug the catalogue does not know, or that has none but a sentence. Everything
// received is kept.
//
// Source: Errors, Slugs ("109 slugs in total").
type Unrecognized struct{ Refusal }

// Unwrap gives the common part, so that errors.As finds *Refusal.
func (e *Unrecognized) Unwrap() error { return &e.Refusal }
