package transport

import (
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

// measured reports a call that began at the given time.
func (c *Client) measured(ctx context.Context, r *Request, began time.Time, err *error) {
	result, code := resultOf(*err)
	c.metrics.Call(ctx, moneymovement.CallMetrics{
		Operation: r.op.ID, Result: result, Code: code, Status: r.answer.status, Account: r.account,
		Attempts: r.attempts, Queued: r.call.Queued, Took: time.Since(began),
	})
}

// resultOf sorts an error. What an unknown outcome wraps is not what it ended in, so that it comes first.
func resultOf(err error) (moneymovement.CallResult, errors.Code) {
	if err == nil {
		return moneymovement.CallSucceeded, ""
	}
	if _, is := errors.AsType[*errors.OutcomeUnknown](err); is {
		return moneymovement.CallUnknown, ""
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
	if _, is := errors.AsType[*errors.DetailErrors](err); is {
		return moneymovement.CallRefused, ""
	}
	return moneymovement.CallUnexpected, ""
}
