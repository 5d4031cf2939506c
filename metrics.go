package moneymovement

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Metrics receives the facts of each call, to count and time calls in your metrics system:
//
//	func (m metrics) Call(_ context.Context, call moneymovement.CallMetrics) {
//		m.calls.WithLabelValues(call.Operation, string(call.Result), string(call.Code)).Inc()
//		m.seconds.WithLabelValues(call.Operation).Observe(call.Took.Seconds())
//	}
//
// A method that makes several calls, such as dapi's Payouts.Pay or a wait, reports each of them. Logins are reported
// too.
type Metrics interface {
	// The SDK calls Call in the goroutine of each call, when the call is over and before the method returns. Call must
	// be safe for concurrent use, and must return quickly.
	Call(ctx context.Context, call CallMetrics)
}

// CallMetrics are the facts of one call. Operation, Result and Code have few values and are fit for labels.
type CallMetrics struct {
	// Operation is what was called, such as "BookPayout".
	Operation string
	// Result says how it ended.
	Result CallResult
	// Code is the slug of the response, such as "rate_limited" of a refusal. A repeated confirm of a payment that was
	// made has succeeded with "already_funded". It is empty without a slug.
	Code errors.Code
	// Status is the HTTP status of the last response, 0 if there was none.
	Status int
	// Account is the client that the call acted for. It is empty for your own account. Do not use it as a label,
	// because there can be many clients.
	Account string
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

// WithMetrics reports each call of the client. The default, nil, reports nothing.
func WithMetrics(metrics Metrics) Option {
	return option(func(to *ClientSettings) { to.Metrics = metrics })
}
