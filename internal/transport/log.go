package transport

import (
	"log/slog"
	"net/http"
	"time"
)

// log writes one debug record an attempt. Only what is listed here is ever logged: no header, no body, no query, no credential.
func (c *Client) log(req *http.Request, t *trip, resp *http.Response, err error, took time.Duration) {
	if c.logger == nil || !c.logger.Enabled(req.Context(), slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", t.op.ID),
		slog.String("method", t.op.Method),
		slog.String("path", t.op.Path),
		slog.Int("attempt", t.attempts),
		slog.Duration("took", took),
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
	c.logger.LogAttrs(req.Context(), slog.LevelDebug, "moneymovement attempt", attrs...)
}
