package transport

import "context"

// bounded applies the timeout of a call. A stream keeps the context until it is closed.
func (c *Client) bounded(ctx context.Context, r *Request) (context.Context, context.CancelFunc) {
	limit := c.callLimit
	if r.call.Timeout != nil {
		limit = *r.call.Timeout
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
