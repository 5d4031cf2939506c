package transport

import (
	"context"
	"time"
)

// Timeout refuses a negative timeout.
func (c *Check) Timeout(field string, d time.Duration) {
	if d < 0 {
		c.Refuse(field, "out_of_range", "must not be negative")
	}
}

// bounded applies the timeout of a call. A stream keeps the context until it is closed.
func (c *Client) bounded(ctx context.Context, r *Request) (context.Context, context.CancelFunc) {
	limit := c.callLimit
	if r.call.TimeoutSet {
		limit = r.call.Timeout
	}
	if limit == 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	if r.stream == nil {
		return ctx, cancel
	}
	return ctx, func() {
		if r.stream.opened == nil {
			cancel()
			return
		}
		r.stream.opened.cancel = cancel
	}
}
