package errors

import "errors"

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
	MaybeMoved Movement = "maybe_moved" // unknown: repeat with the same idempotency key, or read the resource
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
