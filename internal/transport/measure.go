package transport

import (
	"context"
	"time"
)

// Measurement holds the facts of one call. moneymovement.CallMetrics has the same facts.
type Measurement struct {
	Operation string
	Account   string
	Status    int
	Attempts  int
	Queued    time.Duration
	Took      time.Duration
	Err       error
}

// measured reports a call that began at the given time.
func (c *Client) measured(ctx context.Context, r *Request, began time.Time, err *error) {
	c.measure(ctx, Measurement{
		Operation: r.op.ID, Account: r.account, Status: r.answer.status, Attempts: r.attempts,
		Queued: r.call.Queued, Took: time.Since(began), Err: *err,
	})
}
