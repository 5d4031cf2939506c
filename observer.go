package moneymovement

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Observer sees each call of a client begin and end, and each of its attempts, to trace, count and time them. Module
// otel has one for OpenTelemetry. An observer that counts needs no more than this:
//
//	func (o *observer) CallBegan(ctx context.Context, _ moneymovement.CallStart) context.Context { return ctx }
//
//	func (o *observer) AttemptEnded(context.Context, moneymovement.CallStart, moneymovement.CallAttempt) {}
//
//	func (o *observer) CallEnded(_ context.Context, call moneymovement.CallStart, end moneymovement.CallEnd) {
//		o.calls.WithLabelValues(call.Operation, string(end.Result), string(end.Code)).Inc()
//		o.seconds.WithLabelValues(call.Operation).Observe(end.Took.Seconds())
//	}
//
// A method that makes several calls, such as dapi's Payouts.Pay or a wait, shows each of them. Logins are shown too.
// Most input that the SDK refuses before it sends anything is shown as a call without attempts. A stream, such as a
// PDF, has ended when it is open.
//
// The SDK calls the methods in the goroutine of the call. They must be safe for concurrent use, must return quickly,
// and must not panic. The SDK does not recover a panic. A login, and each payout of dapi's Payouts.WaitAll, run in
// goroutines of the SDK: a panic there ends the program. Elsewhere the method of the client panics too, and does not
// return what became of the call. In both cases, a payment was then perhaps made.
type Observer interface {
	// CallBegan is called before anything of the call is done. The call goes on with the context that it returns, so
	// the call's requests, records of the log and logins have the values of that context, such as a span. It must be
	// ctx or derived from it.
	CallBegan(ctx context.Context, call CallStart) context.Context
	// AttemptEnded is called after each request that was sent, before the pause that follows. ctx is the context of
	// the call, which CallBegan of the last observer returned.
	AttemptEnded(ctx context.Context, call CallStart, attempt CallAttempt)
	// CallEnded is called once for each CallBegan, before the method of the client returns. ctx is the context of the
	// call, as for AttemptEnded.
	CallEnded(ctx context.Context, call CallStart, end CallEnd)
}

// CallStart describes a call that begins. Operation, Method and URLTemplate have few values and are fit for labels.
type CallStart struct {
	// Operation is what is called, such as "BookPayout".
	Operation string
	// Method is the HTTP method.
	Method string
	// URLTemplate is the path with the names of its parameters, such as "/dapi/v1/payouts/{payoutId}". It has no ids.
	URLTemplate string
	// Server is the scheme and the host of the service, such as "https://api.example".
	Server string
	// Account is the client that the call acts for. It is empty for your own account. Do not use it as a label, because
	// there can be many clients.
	Account string
	// IdempotencyKey is the key of a write, and empty without one. Do not use it as a label.
	IdempotencyKey Key
}

// CallAttempt describes one request of a call, which has ended.
type CallAttempt struct {
	// Number is 1 for the first request of a call.
	Number int
	// Took is how long it took, until the response was read.
	Took time.Duration
	// Status is the HTTP status of the response, 0 if there was none.
	Status int
	// Failure says why no complete response came. It is empty if one came.
	Failure AttemptFailure
	// RequestID is the service's id of the request. It is empty if the response has none.
	RequestID string
	// RetryAfter is how long the service asked to wait, 0 if it did not ask.
	RetryAfter time.Duration
	// Pause is how long the call now waits before its next request. It is 0 if the call ends, or if the next request
	// follows at once, with a new credential.
	Pause time.Duration
}

// AttemptFailure says why a request got no complete response. Later versions may add values.
type AttemptFailure string

// The failures of a request.
const (
	AttemptNotConnected AttemptFailure = "not_connected" // it had no connection, so the service did not receive it
	AttemptTimedOut     AttemptFailure = "timed_out"     // the time for the request or the call was over
	AttemptCanceled     AttemptFailure = "canceled"      // the context was canceled
	AttemptLost         AttemptFailure = "lost"          // the connection failed before the response was complete
)

// CallEnd says how a call ended. Result, Code and State have few values and are fit for labels.
type CallEnd struct {
	// Result says how it ended.
	Result CallResult
	// Code is the slug of the response, such as "rate_limited" of a refusal. A repeated confirm of a payment that was
	// made has succeeded with "already_funded". It is empty without a slug.
	Code errors.Code
	// Err is the error of the call, nil if it has none. Its text has no secrets, but may have ids and what the service
	// says.
	Err error
	// State is what this call alone shows about a payment: that of a payout or escrow that it returned; paid if the
	// service says that the money has moved; in doubt if the call may have moved it. It is empty if the call shows
	// nothing, as after a booking or a refusal: then it does not mean that nothing was paid.
	State PaymentState
	// Status is the HTTP status of the last response, 0 if there was none.
	Status int
	// RequestID is the service's id of the last request. It is empty if there was no response.
	RequestID string
	// Replayed is true if the service repeated its response to an earlier write.
	Replayed bool
	// Attempts is how many times the request was sent.
	Attempts int
	// Queued is how long the call waited in line for its rate windows. A confirm waits before it is signed.
	Queued time.Duration
	// Took is how long the call took, with the pauses between attempts. It includes Queued, except for a confirm.
	Took time.Duration
}

// CallResult says how a call ended. Later versions may add values.
type CallResult string

// The results of a call.
const (
	CallSucceeded    CallResult = "succeeded"
	CallRefused      CallResult = "refused"       // the service refused it
	CallInvalid      CallResult = "invalid"       // this SDK refused the input, and nothing was sent
	CallNotDelivered CallResult = "not_delivered" // it got no response, and the service did nothing
	CallInDoubt      CallResult = "in_doubt"      // a write that may have been carried out: *errors.InDoubt
	CallUnexpected   CallResult = "unexpected"    // the response is not from the service, or cannot be read
)

// WithObserver shows each call of the client to an observer. If the option is given more than once, each observer gets
// the context of the one before, and the end of a call goes to the last one first. If observer is nil, the constructor
// of the client fails with *errors.InvalidInput.
func WithObserver(observer Observer) Option {
	return option(func(to *ClientSettings) {
		if observer == nil {
			refuse(&to.Invalid, "WithObserver", "invalid_option", "must not be nil: leave the option out")
			return
		}
		to.Observers = append(to.Observers, observer)
	})
}
