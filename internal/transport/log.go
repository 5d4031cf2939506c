package transport

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// log writes one debug record an attempt. Only what is listed here is ever logged: no header, no body, no query, no credential.
func (c *Client) log(ctx context.Context, t *trip, resp *http.Response, err error, started time.Time) {
	if c.logger == nil || !c.logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", t.op.ID),
		slog.String("method", t.op.Method),
		slog.String("path", t.op.Path),
		slog.Int("attempt", t.attempts),
		slog.Duration("took", time.Since(started)),
	}
	if t.call.Key != "" {
		attrs = append(attrs, slog.String("idempotencyKey", t.call.Key))
	}
	if resp != nil {
		attrs = append(attrs, slog.Int("status", resp.StatusCode), slog.String("requestId", resp.Header.Get("X-Request-ID")))
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", withoutURL(err).Error()))
	}
	c.logger.LogAttrs(ctx, slog.LevelDebug, "moneymovement attempt", attrs...)
}
