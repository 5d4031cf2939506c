package errors

import (
	"time"

	"github.com/moneymovement/moneymovement-go/internal/handshake"
)

// InvalidInput is a request that was refused locally, before anything was sent.
type InvalidInput struct {
	CallInfo
	// Fields are what is wrong, in wire spelling.
	Fields []Field
}

// Error is one line that says what is wrong with each field: "CreateContact: invalid input: account.iban is required".
// The messages are the SDK's own and quote nothing secret.
func (e *InvalidInput) Error() string { return e.line().String() }

func (e *InvalidInput) line() errorLine {
	return errorLine{head: e.CallInfo, message: "invalid input", concerned: fieldMessages(e.Fields)}
}

// Retryable is false: the same input is refused again.
func (e *InvalidInput) Retryable() bool { return false }

// MovedByCall is [NotMoved]: nothing was sent.
func (e *InvalidInput) MovedByCall() Movement { return NotMoved }

// NotDelivered is a request that changed nothing because it never reached the service, or a read that got no answer:
// the connection could not be made, the context ended first, or the local rate limiter would have waited too long.
type NotDelivered struct {
	CallInfo
	// Err is what went wrong.
	Err error
}

// Error is one line, safe to log.
func (e *NotDelivered) Error() string { return e.line().String() }

func (e *NotDelivered) line() errorLine {
	advice := "nothing was done, so the same call may be made again"
	switch {
	case handshake.Untrusted(e.Err):
		advice = "nothing was sent: check the address of the service, for its certificate is not valid for it"
	case handshake.NoTLS(e.Err):
		advice = "nothing was sent: check the address of the service, for what is there speaks no TLS of the versions that are allowed"
	case !e.Retryable():
		advice = ""
	case !e.RetryAt.IsZero():
		advice += ", not before " + e.RetryAt.UTC().Format(time.RFC3339)
	}
	return errorLine{head: e.CallInfo, message: "not delivered", cause: e.Err, advice: advice}
}

// Unwrap gives what went wrong, so that context errors are visible to errors.Is.
func (e *NotDelivered) Unwrap() error { return e.Err }

// Retryable is true: nothing has happened, so the same call may be made again, not before RetryAt. It is false where
// trying again does not help: a service whose certificate cannot be verified or that speaks no TLS of version 1.2 or
// later, a login that is refused, a key that signs wrong.
func (e *NotDelivered) Retryable() bool {
	if failure, ok := AsType[Failure](e.Err); ok {
		return failure.Retryable()
	}
	return !handshake.Final(e.Err)
}

// MovedByCall is [NotMoved].
func (e *NotDelivered) MovedByCall() Movement { return NotMoved }
