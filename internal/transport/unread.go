package transport

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
)

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
		place := anyIndex(u.Pointer)
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
		slog.String("requestId", r.answer.header.Get(requestIDHeader)))
}

// firstReport reports whether a place is reported for the first time. Places come from the shapes, so their number is
// bounded.
func (c *Client) firstReport(place string) bool {
	_, before := c.reported.LoadOrStore(place, nil)
	return !before
}

// anyIndex replaces the indexes of lists by *: a problem in one entry is usually in all of them.
func anyIndex(pointer string) string {
	steps := strings.Split(pointer, "/")
	for i, step := range steps {
		if _, err := strconv.ParseUint(step, 10, 32); err == nil {
			steps[i] = "*"
		}
	}
	return strings.Join(steps, "/")
}
