package errors

import (
	"errors"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// Failure is the interface of every error of a call:
//
//	var failure errors.Failure
//	if errors.As(err, &failure) && failure.Retryable() { ... }
//
// It speaks for one call. A payment can take several calls, and an earlier one may have paid. The state of the payment
// is in dapi.Payment.
type Failure interface {
	error
	// Retryable reports whether the same request, with the same idempotency key, may be sent again now and can
	// succeed. It is false if somebody must change something first, see [RemedyChangeAccount].
	Retryable() bool
	// MovedByCall returns whether this call moved the money that it asked to move. It says nothing about earlier
	// calls. A flow that pays, such as dapi's Pay, knows its earlier calls: if one of them may have paid, the flow
	// fails with [*InDoubt].
	MovedByCall() Movement
}

// Movement says whether the money that a request asked to move has moved. The service's description states it for a few
// slugs. For the others it is assumed: by default [NotMoved], because a refusal says that the service did not do what
// the request asked for.
type Movement string

// The values of [Movement].
const (
	NotMoved   Movement = "not_moved"   // the call moved no money
	Moved      Movement = "moved"       // the money moved
	MaybeMoved Movement = "maybe_moved" // in doubt: repeat with the same idempotency key, or read the resource
)

// Remedy says what to do after a refusal. The service's description states it for some slugs. For the others it is
// assumed: by default [RemedyChangeRequest], because the same request is refused again.
type Remedy string

// The values of [Remedy].
const (
	// RemedyChangeRequest means that the same request is refused again. Another request may succeed.
	RemedyChangeRequest Remedy = "change_request"
	// RemedyChangeAccount means that somebody must act first, on a balance, a key, a permission, a contact or the
	// account's verification. Then the same request with the same idempotency key may succeed.
	RemedyChangeAccount Remedy = "change_account"
	// RemedyWait means that the same request may succeed later, after RetryAt or after a backoff.
	RemedyWait Remedy = "wait"
	// RemedyLogin means that the request needs a new access token. Then it may succeed.
	RemedyLogin Remedy = "login"
	// RemedyRestart means that the step must begin again: with a new challenge, quote or approval, or from the first
	// page.
	RemedyRestart Remedy = "restart"
	// RemedyNewKey means that this request cannot have this idempotency key. First find out what the earlier calls with
	// the key did, because one of them may have paid. Then use a new key.
	RemedyNewKey Remedy = "new_key"
	// RemedyNone means that there is nothing to do. What the request asked for has already happened.
	RemedyNone Remedy = "none"
)

var (
	_ Failure = (*Refusal)(nil)
	_ Failure = (*Unrecognized)(nil)
	_ Failure = (*DetailErrors)(nil)
	_ Failure = (*UnexpectedResponse)(nil)
	_ Failure = (*InDoubt)(nil)
	_ Failure = (*InvalidInput)(nil)
	_ Failure = (*NotDelivered)(nil)
)

// The standard package's API, so that a file needs only this package.

// ErrUnsupported is the standard errors.ErrUnsupported. The SDK itself does not return it.
var ErrUnsupported = errors.ErrUnsupported

// Is reports whether any error in err's tree matches target. It is the standard errors.Is.
func Is(err, target error) bool { return errors.Is(err, target) }

// As finds the first error in err's tree that matches target, and sets target to it. It is the standard errors.As.
func As(err error, target any) bool { return errors.As(err, target) }

// AsType finds the first error of type E in err's tree. It is the standard errors.AsType.
func AsType[E error](err error) (E, bool) { return errors.AsType[E](err) }

// Join returns an error that wraps errs without the nil ones, or nil if all are nil. It is the standard errors.Join.
func Join(errs ...error) error { return errors.Join(errs...) }

// New returns an error with the given text. It is the standard errors.New.
func New(text string) error { return errors.New(text) }

// Unwrap returns the error that err wraps, or nil if it wraps none. It is the standard errors.Unwrap.
func Unwrap(err error) error { return errors.Unwrap(err) }

// CallInfo describes the call that an error comes from. Every error of a call embeds it, including the errors of the
// flows, such as dapi.PriceRefused. [CallInfoOf] finds it in any error. Each field is empty or zero when it is not
// known.
type CallInfo struct {
	// Operation is the OpenAPI operationId, for example "BookPayout".
	Operation string
	// IdempotencyKey is the idempotency key that the write was sent with. It is empty for a read.
	IdempotencyKey string
	// RequestID is the X-Request-ID header of the response, or else the requestId in the refusal's details. Give it to
	// the service's support. It is empty if there was no response.
	RequestID string
	// Attempts is how many times the request was sent.
	Attempts int
	// RetryAt is the earliest time at which it is worth trying again. It is zero when no time is known.
	RetryAt time.Time
	// Resource is the id that the call was about: the id in the path, or the contact's id for a booking.
	Resource string
	// Account is the id of the client that the call acted for. It is empty for the credential's own account.
	Account string

	facts errorbase.Facts
}

func init() { //nolint:gochecknoinits // the SDK's other packages call these, and programs cannot
	errorbase.SetFacts = func(of any, facts errorbase.Facts) {
		if of, ok := of.(interface{ callInfo() *CallInfo }); ok {
			of.callInfo().facts = facts
		}
	}
	errorbase.WithoutEffect = withoutEffect
	errorbase.SetResource = func(err error, resource, key string) {
		var found withCallInfo
		if As(err, &found) {
			call := found.callInfo()
			call.Resource, call.IdempotencyKey = resource, key
		}
	}
	errorbase.Clone = clone
}

// withCallInfo is an error that embeds a CallInfo.
type withCallInfo interface {
	error
	callInfo() *CallInfo
}

// CallInfoOf returns the [CallInfo] of the first error in err's tree that has one. It returns false if no error has
// one.
func CallInfoOf(err error) (CallInfo, bool) {
	var found withCallInfo
	if !As(err, &found) {
		return CallInfo{}, false
	}
	return *found.callInfo(), true
}

func (c *CallInfo) callInfo() *CallInfo { return c }

// withoutEffect is [errorbase.WithoutEffect].
func withoutEffect(err error) bool {
	if _, inDoubt := AsType[*InDoubt](err); inDoubt {
		return false
	}
	if unexpected, ok := AsType[*UnexpectedResponse](err); ok {
		return unexpected.effect() == NotMoved
	}
	if refusal, ok := AsType[*Refusal](err); ok {
		return refusal.effect() == NotMoved
	}
	failure, ok := AsType[Failure](err)
	return ok && failure.MovedByCall() == NotMoved
}

// clone is [errorbase.Clone].
func clone(err error) error {
	shared, ok := err.(withCallInfo) //nolint:errorlint // the value itself is copied
	if !ok || reflect.TypeOf(shared).Kind() != reflect.Pointer || reflect.ValueOf(shared).IsNil() {
		return err
	}
	own := reflect.New(reflect.TypeOf(shared).Elem())
	own.Elem().Set(reflect.ValueOf(shared).Elem())
	copied, _ := own.Interface().(error)
	return copied
}

// InvalidInput is the error for input that the SDK refuses before it sends anything.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#errorsinvalidinput
type InvalidInput struct {
	CallInfo
	// Fields lists what is wrong with each field or option.
	Fields []Field
}

// Error returns one line that is safe to log and says what is wrong with each field, for example
// "CreateContact: invalid input: account.iban is required".
func (e *InvalidInput) Error() string { return e.line().String() }

func (e *InvalidInput) line() *errorLine {
	return &errorLine{call: e.CallInfo, message: "invalid input", subjects: fieldMessages(e.Fields),
		anchor: errorbase.Anchor("errors.InvalidInput")}
}

// Remedy returns [RemedyChangeRequest].
func (e *InvalidInput) Remedy() Remedy { return RemedyChangeRequest }

// Retryable returns false: the same input is refused again.
func (e *InvalidInput) Retryable() bool { return false }

// MovedByCall returns [NotMoved]: nothing was sent.
func (e *InvalidInput) MovedByCall() Movement { return NotMoved }

// NotDelivered is the error for a request that did not reach the service, or for a read that got no response. The
// request changed nothing. Usual causes: no connection, a context that ended, or a rate window that has no room before
// the context's deadline.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#errorsnotdelivered
type NotDelivered struct {
	CallInfo
	// Err is the cause, for example a context's error or *net.OpError.
	Err error
}

// Error returns one line that is safe to log.
func (e *NotDelivered) Error() string { return e.line().String() }

func (e *NotDelivered) line() *errorLine {
	advice := "the service did nothing: you can make the same call again"
	switch {
	case errorbase.Untrusted(e.Err):
		advice = "nothing was sent: check the base URL, because the certificate of that server is not valid"
	case errorbase.NoTLS(e.Err):
		advice = "nothing was sent: check the base URL, because that server does not support TLS 1.2 or later"
	case !e.Retryable():
		advice = ""
	case !e.RetryAt.IsZero():
		advice += ", but not before " + e.RetryAt.UTC().Format(time.RFC3339)
	}
	line := &errorLine{call: e.CallInfo, message: "not delivered", cause: e.Err, advice: advice,
		anchor: errorbase.Anchor("errors.NotDelivered")}
	if refusal, ok := AsType[*Refusal](e.Err); ok { // of a login, which says more
		line.anchor = refusal.anchor()
	}
	return line
}

// Unwrap returns Err, so that errors.Is finds context.Canceled and context.DeadlineExceeded.
func (e *NotDelivered) Unwrap() error { return e.Err }

// Retryable returns true: the service did nothing, so the same call may be made again at RetryAt or later. It returns
// false if a repeat cannot help: the certificate of the service is not valid, the service does not support TLS 1.2 or
// later, or the login is refused.
func (e *NotDelivered) Retryable() bool {
	if failure, ok := AsType[Failure](e.Err); ok {
		return failure.Retryable()
	}
	return !errorbase.Final(e.Err)
}

// MovedByCall returns [NotMoved]: the request did not reach the service, or it only reads.
func (e *NotDelivered) MovedByCall() Movement { return NotMoved }

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

// InDoubt is the error for a write whose response was lost or cannot be read. The service may have done what the
// request asked for.
//
// It has no Unwrap method. Cause can be a refusal of the last attempt, which says nothing about earlier attempts. So
// errors.As does not find that refusal. errors.Is finds errors that are compared by value, such as
// context.DeadlineExceeded.
//
// For a payment, it is also the error of a call that was refused while an earlier call may have paid. The text then
// says "this call paid nothing", and why.
//
// RetryAt is the time at which to call again, if the last response gave one, such as a 429 with Retry-After. Otherwise
// it is zero. [CallInfoOf] finds it in any error.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#errorsindoubt
type InDoubt struct {
	CallInfo
	// Resolve is one sentence that says how to find out what happened, for example "repeat the same request with the
	// same idempotency key".
	Resolve string
	// Cause is the error of the last attempt, for people who look into it: a connection error, a context's error, an
	// [*UnexpectedResponse] or a refusal.
	Cause error
}

// Error returns one line that is safe to log.
func (e *InDoubt) Error() string { return e.line().String() }

func (e *InDoubt) line() *errorLine {
	message := "in doubt"
	if e.facts.Earlier > errorbase.NonePaid { // of the payment, and not of this call
		message = ""
	}
	return &errorLine{call: e.CallInfo, message: message, cause: e.Cause, advice: e.Resolve, repeats: true,
		anchor: errorbase.Anchor("errors.InDoubt")}
}

// Is reports whether target is in Cause's tree, so that errors.Is finds a context's error or io.ErrUnexpectedEOF.
func (e *InDoubt) Is(target error) bool { return Is(e.Cause, target) }

// Retryable reports whether the same write can be sent again without the risk that it is done twice. It returns false
// if neither an idempotency key nor another natural key identifies the write.
func (e *InDoubt) Retryable() bool { return !e.facts.Once }

// MovedByCall returns [MaybeMoved], or [NotMoved] if the operation moves no money.
func (e *InDoubt) MovedByCall() Movement {
	if e.facts.Moneyless {
		return NotMoved
	}
	return MaybeMoved
}
