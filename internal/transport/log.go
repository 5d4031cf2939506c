package transport

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

// log writes one record for each attempt: a warning for a server error, an info record for a 429, else a debug record.
// It logs only the attributes listed here: no header, no body, no query, no credential. It logs the
// fingerprint of a key.
func (c *Client) log(ctx context.Context, r *Request, resp *http.Response, err error, started time.Time) {
	level := levelOf(resp)
	if c.logger == nil || !c.logger.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", r.op.ID),
		slog.String("method", r.op.Method),
		slog.String("path", r.op.Path),
		slog.Int("attempt", r.attempts),
		Milliseconds("took", time.Since(started)),
	}
	if r.account != "" {
		attrs = append(attrs, slog.String("account", r.account))
	}
	if r.call.Key != "" {
		attrs = append(attrs, slog.String("idempotencyKey", string(r.call.Key)))
	}
	if holder, ok := r.auth.(KeyHolder); ok {
		if fingerprint := holder.KeyFingerprint(); fingerprint != "" {
			attrs = append(attrs, slog.String("keyFingerprint", fingerprint))
		}
	}
	if resp != nil {
		attrs = append(attrs, slog.Int("status", resp.StatusCode), slog.String("requestId", requestID(resp, level)))
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	c.logger.LogAttrs(ctx, level, "moneymovement attempt", attrs...)
}

// Milliseconds returns a duration for a log. A JSON handler writes a time.Duration as a number without a unit.
func Milliseconds(name string, d time.Duration) slog.Attr {
	return slog.Int64(name+"Ms", d.Milliseconds())
}

// levelOf returns the level of an attempt's record. A 429 shows in production that others use the same window, even if
// the next attempt succeeds.
func levelOf(resp *http.Response) slog.Level {
	switch {
	case resp == nil:
		return slog.LevelDebug
	case resp.StatusCode >= http.StatusInternalServerError:
		return slog.LevelWarn
	case resp.StatusCode == http.StatusTooManyRequests:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// requestID returns the service's id of the request. For a warning, it is also looked for in the details of the error.
func requestID(resp *http.Response, level slog.Level) string {
	if id := resp.Header.Get(requestIDHeader); id != "" || level < slog.LevelWarn {
		return id
	}
	answered := errors.Decode(errors.Response{Status: resp.StatusCode, Body: peek(resp)})
	if refusal, ok := errors.AsType[*errors.Refusal](answered); ok {
		for _, attr := range refusal.LogValue().Group() {
			if attr.Key == "requestId" {
				return attr.Value.String()
			}
		}
	}
	return ""
}

// maxPeek is how much of a body is read for the log. A JSON error is much shorter.
const maxPeek = 64 << 10

// peek reads the beginning of a body. The whole body can still be read afterwards.
func peek(resp *http.Response) []byte {
	head, err := io.ReadAll(io.LimitReader(resp.Body, maxPeek))
	rest := io.Reader(resp.Body)
	if err != nil {
		rest = failedReader{err}
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest), resp.Body}
	return head
}

// failedReader is the end of an incomplete body.
type failedReader struct{ err error }

// Read implements io.Reader.
func (b failedReader) Read([]byte) (int, error) { return 0, b.err }

// reportUnread logs the members of a response that could not be read. If the description states the member, it logs an
// error each time, because something is wrong with the service. If the member is assumed, it logs one warning in the
// life of the client, because the OpenAPI file is wrong.
func (r *Request) reportUnread(ctx context.Context) {
	c := r.client
	if c.logger == nil {
		return
	}
	var stated, assumed []string
	seen := map[string]bool{}
	for _, u := range r.unread {
		place := withoutIndexes(u.Pointer)
		switch {
		case seen[place]:
		case u.Stated:
			stated = append(stated, place+" "+u.Problem)
		case c.firstReport(r.op.ID + " " + place):
			assumed = append(assumed, place+" "+u.Problem)
		}
		seen[place] = true
	}
	if len(stated) > 0 {
		c.logUnread(ctx, r, slog.LevelError, "moneymovement response lacks stated members", stated)
	}
	if len(assumed) > 0 {
		c.logUnread(ctx, r, slog.LevelWarn, "moneymovement response differs from assumptions", assumed)
	}
}

func (c *Client) logUnread(ctx context.Context, r *Request, level slog.Level, message string, members []string) {
	c.logger.LogAttrs(ctx, level, message,
		slog.String("operation", r.op.ID), slog.Any("members", members),
		slog.String("requestId", r.response.header.Get(requestIDHeader)))
}

// firstReport reports whether a place is reported for the first time. Places come from the shapes, so their number is
// bounded.
func (c *Client) firstReport(place string) bool {
	_, before := c.reported.LoadOrStore(place, nil)
	return !before
}

// withoutIndexes replaces the indexes of lists by *: a problem in one entry is usually in all of them.
func withoutIndexes(pointer string) string {
	steps := strings.Split(pointer, "/")
	for i, step := range steps {
		if _, err := strconv.ParseUint(step, 10, 32); err == nil {
			steps[i] = "*"
		}
	}
	return strings.Join(steps, "/")
}
