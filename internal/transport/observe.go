package transport

import (
	"context"
	"net/http"
	"slices"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

// observed is what the observers of one call get.
type observed struct {
	observers []moneymovement.Observer // of the client
	start     moneymovement.CallStart
	began     time.Time
}

// observe shows the observers of the client that a call begins. It returns the context of the call.
func (c *Client) observe(ctx context.Context, op *Operation, account string, key moneymovement.Key) (
	context.Context, *observed,
) {
	o := &observed{observers: c.observers, began: time.Now(), start: moneymovement.CallStart{
		Operation: op.ID, Method: op.Method, URLTemplate: c.basePath + op.Path, Server: c.server, Account: account,
		IdempotencyKey: key,
	}}
	for _, observer := range o.observers {
		ctx = observer.CallBegan(ctx, o.start) //nolint:fatcontext // one layer for each observer of the client
	}
	return ctx, o
}

// end shows the observers that the call has ended, with the result of err.
func (o *observed) end(ctx context.Context, end moneymovement.CallEnd, err error) {
	end.Result, end.Code = resultOf(err)
	end.Err, end.Took = err, time.Since(o.began)
	for _, observer := range slices.Backward(o.observers) {
		observer.CallEnded(ctx, o.start, end)
	}
}

// doObserved is [Client.do] for a client with observers.
func (c *Client) doObserved(ctx context.Context, r *Request, newValue func() any) (value any, err error) {
	ctx, r.observed = c.observe(ctx, r.op, r.account, r.call.Key)
	value, err = c.call(ctx, r, newValue)
	header := r.response.header
	end := moneymovement.CallEnd{
		State: r.state(value, err), Status: r.response.status, RequestID: header.Get(requestIDHeader),
		Replayed: replayed(header), Attempts: r.attempts, Queued: r.call.Queued,
	}
	if info, failed := errors.CallInfoOf(err); failed && end.RequestID == "" {
		end.RequestID = info.RequestID // which the body of a refusal can have, too
	}
	r.observed.end(ctx, end, err)
	return value, err
}

// observeAttempt shows the observers an attempt. resp is nil, or a response whose body was read.
func (r *Request) observeAttempt(
	ctx context.Context, started time.Time, resp *http.Response, err error, pause time.Duration,
) {
	if r.observed == nil {
		return
	}
	attempt := moneymovement.CallAttempt{Number: r.attempts, Took: time.Since(started), Pause: pause,
		RetryAfter: retryAfter(resp)}
	if resp != nil {
		attempt.Status, attempt.RequestID = resp.StatusCode, resp.Header.Get(requestIDHeader)
	}
	if err != nil {
		attempt.Failure = r.failure(ctx, err)
	}
	for _, observer := range r.observed.observers {
		observer.AttemptEnded(ctx, r.observed.start, attempt)
	}
}

// failure names the error of an attempt.
func (r *Request) failure(ctx context.Context, err error) moneymovement.AttemptFailure {
	timeout, canTime := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	switch {
	case r.unsent:
		return moneymovement.AttemptNotConnected
	case errors.Is(ctx.Err(), context.Canceled):
		return moneymovement.AttemptCanceled
	case ctx.Err() != nil, canTime && timeout.Timeout(), errors.Is(err, errSilence), errors.Is(err, errSlowBody):
		return moneymovement.AttemptTimedOut
	}
	return moneymovement.AttemptLost
}

// state returns what the call shows about a payment, "" for nothing. Whether the call itself has moved money is what
// its error says.
func (r *Request) state(value any, err error) moneymovement.PaymentState {
	if err == nil {
		switch {
		case r.op.Money == MoneyAtOnce:
			return moneymovement.PaymentPaid
		case r.client.stateShown != nil:
			return r.client.stateShown(value)
		}
		return ""
	}
	failure, ok := errors.AsType[errors.Failure](err)
	if !ok || !r.op.write() || r.op.Money == MoneyNone {
		return ""
	}
	switch failure.MovedByCall() {
	case errors.Moved:
		return moneymovement.PaymentPaid
	case errors.MaybeMoved:
		return moneymovement.PaymentInDoubt
	}
	return ""
}

// resultOf classifies an error. An error in doubt can wrap any other error, so it is checked first.
func resultOf(err error) (moneymovement.CallResult, errors.Code) {
	if err == nil {
		return moneymovement.CallSucceeded, ""
	}
	if _, is := errors.AsType[*errors.InDoubt](err); is {
		return moneymovement.CallInDoubt, ""
	}
	if _, is := errors.AsType[*errors.InvalidInput](err); is {
		return moneymovement.CallInvalid, ""
	}
	if _, is := errors.AsType[*errors.NotDelivered](err); is {
		return moneymovement.CallNotDelivered, ""
	}
	if refusal, is := errors.AsType[*errors.Refusal](err); is {
		if refusal.MovedByCall() == errors.Moved { // what the call is for was done, by an earlier one
			return moneymovement.CallSucceeded, refusal.Code
		}
		return moneymovement.CallRefused, refusal.Code
	}
	return moneymovement.CallUnexpected, ""
}
