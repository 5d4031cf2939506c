package transport

import (
	"context"
	"time"
)

// Measurement is what one call was like. moneymovement.CallMetrics has the same facts, where its readers see them.
type Measurement struct {
	Operation string
	Account   string
	Status    int
	Attempts  int
	Queued    time.Duration
	Took      time.Duration
	Err       error
}

// measured hands on what a call that began at a time was like.
func (c *Client) measured(ctx context.Context, r *Request, began time.Time, err *error) {
	c.measure(ctx, Measurement{
		Operation: r.op.ID, Account: r.account, Status: r.trip.answer.status, Attempts: r.trip.attempts,
		Queued: r.trip.queued, Took: time.Since(began), Err: *err,
	})
}
