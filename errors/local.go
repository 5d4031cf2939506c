package errors

import (
	"time"

	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

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
