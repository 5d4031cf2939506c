package errors

import (
	"bytes"
	"cmp"
	"log/slog"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// Refusal is the part that all refusals have in common. The type of each slug embeds it and unwraps to it, so errors.As
// with a *Refusal finds every refusal.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#errorsrefusal
type Refusal struct {
	CallInfo
	// Code is the slug. It is empty if the response has none, as in [DetailErrors].
	Code Code
	// Message is the service's sentence as received. It is safe to log. Its wording may change.
	Message string
	// Details is error.details as received, or nil if it is absent.
	Details JSON
	// Status is the HTTP status as received, even if it is not the usual status of the slug.
	Status int
	// RetryAfter is the wait that the Retry-After header asks for, or 0 if it is absent. Any slug may have it. RetryAt
	// is the end of that wait.
	RetryAfter time.Duration
}

// JSON is a JSON value as received. Unlike json.RawMessage, it prints as text and not as a list of bytes.
type JSON []byte

// String returns the text of the value, or "null" for nil.
func (j JSON) String() string {
	if j == nil {
		return "null"
	}
	return string(j)
}

// MarshalJSON returns the value unchanged, or null for nil.
func (j JSON) MarshalJSON() ([]byte, error) { return []byte(j.String()), nil }

// UnmarshalJSON stores a copy of the value.
func (j *JSON) UnmarshalJSON(value []byte) error {
	*j = bytes.Clone(value)
	return nil
}

// Error returns one line that is safe to log. It says what was refused and what to do about it, for example
// "GetPayout: 404 not_found: no such payout - check the id po_7 (request req_1)", and a link to the error page.
func (r *Refusal) Error() string { return r.line().String() }

func (r *Refusal) line() *errorLine { return r.lineWith("", "") }

// lineWith returns the error's text with subjects, such as the fields that failed, and with advice. If advice is empty,
// the text has the hint of the slug.
func (r *Refusal) lineWith(subjects, advice string) *errorLine {
	return &errorLine{
		call:       r.CallInfo,
		status:     r.Status,
		code:       string(r.Code),
		message:    r.Message,
		subjects:   subjects,
		advice:     cmp.Or(advice, r.Code.Hint()),
		corrects:   r.Remedy() == RemedyChangeRequest,
		retryAfter: r.RetryAfter,
		anchor:     r.anchor(),
	}
}

// anchor returns the entry of the error page that explains the refusal.
func (r *Refusal) anchor() string {
	if r.Code.Known() {
		return errorbase.Anchor(string(r.Code))
	}
	return errorbase.Anchor("errors.Unrecognized")
}

// subjects returns the names of what failed, such as fields. Types that have such names override it.
func (r *Refusal) subjects() string { return "" }

// advice returns what to do, in place of the slug's hint. Types that know more than the slug override it.
func (r *Refusal) advice() string { return "" }

// as returns the refusal with the code of its type. An error that was made by hand may leave Code empty. Each type
// calls it in each method: inlined, these calls would make a program 80 kB larger.
//
//go:noinline
func (r *Refusal) as(code Code) *Refusal {
	if r.Code == code {
		return r
	}
	named := *r
	named.Code = code
	return &named
}

// Remedy returns what to do next. For an unknown slug it depends on the status.
func (r *Refusal) Remedy() Remedy {
	if r.Code == CodeConflict && namesBalance(r.Details) {
		return RemedyChangeAccount
	}
	if e, known := r.Code.lookup(); known {
		return e.remedy
	}
	return remedyOf(r.Status)
}

// Retryable reports whether the same request, with the same idempotency key, can succeed if it is sent again after
// RetryAfter or a backoff. It returns true only for [RemedyWait]. If the service may have carried out a write, it also
// needs an idempotency key or another natural key: otherwise the service could do the write twice.
//
// Retryable returns false for [RemedyLogin], because a new token must come first. It returns false for
// [RemedyChangeAccount], because somebody must act first: then repeat the request with the same idempotency key.
func (r *Refusal) Retryable() bool {
	if r.Remedy() != RemedyWait {
		return false
	}
	return r.effect() == NotMoved || !r.facts.Once
}

// MovedByCall returns whether the money that the request asked to move has moved. For a read it returns [NotMoved]. For
// a write it depends on the slug. It returns [MaybeMoved] for an unknown slug with a 5xx status, 408 or 409, unless the
// operation moves no money.
func (r *Refusal) MovedByCall() Movement {
	if r.facts.Moneyless && r.effect() == MaybeMoved {
		return NotMoved
	}
	return r.effect()
}

// effect returns whether the service carried out the request.
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
	// The service has slugs that its description does not show. An unknown conflict can mean "already done".
	return MaybeMoved
}

// LogValue returns the fields to search for: operation, status, code, requestId and idempotencyKey, the service's
// sentence as message, and what to do as remedy. It leaves out the details.
func (r *Refusal) LogValue() slog.Value { return r.line().logValue() }

func isClientError(status int) bool { return status >= 400 && status < 500 }

// rejects reports whether the status alone says that the service did nothing. After a request timeout (408) or a
// conflict (409), this is not known.
func rejects(status int) bool {
	return isClientError(status) && status != http.StatusRequestTimeout && status != http.StatusConflict
}

// remedyOf returns the remedy for a response without a known slug. 408 and 504 are assumed to mean what 502 and 503
// mean.
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

// Unrecognized is the error for a refusal whose slug the SDK does not know, or that has a sentence but no slug. It
// keeps everything that was received.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#errorsunrecognized
type Unrecognized struct{ Refusal }

// Unwrap returns the embedded [*Refusal], so that errors.As finds it.
func (e *Unrecognized) Unwrap() error { return &e.Refusal }

// Code is a slug: the stable lower snake_case name of a refusal, for example "quote_expired". Branch on it, never on
// the message. The set is open: a newer service can send a code that this SDK does not know.
type Code string

// entry is what the catalogue says about a slug.
type entry struct {
	status    int
	remedy    Remedy
	moved     Movement
	condition string
	hint      string
}

var knownCodes = sync.OnceValue(func() map[string]Code {
	known := map[string]Code{}
	for _, code := range Codes() {
		known[string(code)] = code
	}
	return known
})

// codeOf returns the code that a text spells. It copies only the text of an unknown one.
func codeOf(text []byte) Code {
	if known, ok := knownCodes()[string(text)]; ok {
		return known
	}
	if bytes.ContainsRune(text, utf8.RuneError) {
		return "" // a part of it is lost
	}
	return Code(text)
}

// Known reports whether the SDK has a type for this slug. It returns false for a folded slug, such as
// [CodeContactRequiresQuote], because no error carries it as its Code.
func (c Code) Known() bool {
	_, known := c.lookup()
	return known
}

// Status returns the HTTP status that the slug comes with, or 0 if the slug is not known.
func (c Code) Status() int {
	e, _ := c.lookup()
	return e.status
}

// Hint returns the SDK's advice for this slug, or "" if there is none. The text of the slug's errors contains it.
func (c Code) Hint() string {
	e, _ := c.lookup()
	return e.hint
}

// Condition returns a sentence that says when the service sends the slug, or "" if the slug is not known.
func (c Code) Condition() string {
	e, _ := c.lookup()
	return e.condition
}

// HasCode reports whether err's tree contains a refusal with this slug. A refusal made by hand has the slug of its
// type, also if its Code field is empty. HasCode does not look inside an [InDoubt].
func HasCode(err error, code Code) bool {
	for err != nil {
		if refusal, ok := err.(*Refusal); ok && refusal.Code == code { //nolint:errorlint // this walks the tree itself
			return true
		}
		switch wrapper := err.(type) { //nolint:errorlint // this walks the tree itself
		case interface{ Unwrap() error }:
			err = wrapper.Unwrap()
		case interface{ Unwrap() []error }:
			for _, branch := range wrapper.Unwrap() {
				if HasCode(branch, code) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}
