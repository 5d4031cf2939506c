package transport

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// maxAnnounced is how many announcements of one kind a client logs. There are far fewer operations, and a service that
// announces something else in each response must not fill a log.
const maxAnnounced = 1000

// announced counts the announcements that were logged. Each kind has its own count, so that many of one kind do not
// keep the other out of the log.
type announced struct{ deprecations, limits atomic.Int64 }

// logAnnouncements logs what the headers of a response say about the future of the operation, and about the rate
// windows: once for each operation, and again if it changes.
func (c *Client) logAnnouncements(ctx context.Context, r *Request, h http.Header) {
	if c.logger == nil || !wire.Announces(h) {
		return
	}
	if d := wire.DeprecationOf(h); d != nil {
		link := loggedLink(d.Link)
		text := fmt.Sprint(d.Since.Unix(), " ", d.Sunset.Unix(), " ", link)
		c.announce(ctx, r, h, &c.announced.deprecations, announcement{slog.LevelWarn,
			"moneymovement operation is deprecated", text, deprecationAttrs(d, link)})
	}
	if limits := wire.RateLimitsOf(h); len(limits) > 0 {
		stated := make([]string, len(limits)) // without what is left, which changes with each response
		for i, l := range limits {
			stated[i] = l.Policy
			if l.Quota >= 0 {
				stated[i] += fmt.Sprintf(": %d", l.Quota)
			}
			if l.Window > 0 {
				stated[i] += " in " + l.Window.String()
			}
		}
		c.announce(ctx, r, h, &c.announced.limits, announcement{slog.LevelInfo,
			"moneymovement service states rate limits", strings.Join(stated, "\n"),
			[]slog.Attr{slog.Any("limits", stated)}})
	}
}

// announcement is a record for the log. Those with the same text are logged once.
type announcement struct {
	level         slog.Level
	message, text string
	attrs         []slog.Attr
}

func (c *Client) announce(ctx context.Context, r *Request, h http.Header, count *atomic.Int64, a announcement) {
	if !c.logger.Enabled(ctx, a.level) || count.Load() >= maxAnnounced ||
		!c.firstReport(fmt.Sprintf("%s %s %x", r.op.ID, a.message, sha256.Sum256([]byte(a.text)))) {
		return
	}
	count.Add(1)
	attrs := append([]slog.Attr{slog.String("operation", r.op.ID)}, a.attrs...)
	attrs = append(attrs, slog.String("requestId", h.Get(requestIDHeader)))
	c.logger.LogAttrs(ctx, a.level, a.message, attrs...)
}

// loggedLink returns an address without its query and its fragment, which can have a token.
func loggedLink(link string) string {
	if end := strings.IndexAny(link, "?#"); end >= 0 {
		return link[:end]
	}
	return link
}

func deprecationAttrs(d *moneymovement.Deprecation, link string) (attrs []slog.Attr) {
	if !d.Since.IsZero() {
		attrs = append(attrs, slog.String("since", d.Since.Format(time.RFC3339)))
	}
	if !d.Sunset.IsZero() {
		attrs = append(attrs, slog.String("sunset", d.Sunset.Format(time.RFC3339)))
	}
	if link != "" {
		attrs = append(attrs, slog.String("link", link))
	}
	return attrs
}

// KeyHolder is an Authorizer that can say which key it uses.
type KeyHolder interface {
	// KeyFingerprint returns what [Fingerprint] returned for the key, or "".
	KeyFingerprint() string
}

// Fingerprint returns the beginning of the fingerprint of a key, for a log: "SHA256:" and 16 hexadecimal digits, as
// [signing.DeveloperKey.String] shows it. key is the public half, or an API key. It is empty for an API key that is so
// short that its fingerprint would help to guess it.
func Fingerprint(key string) string {
	if len(key) < leastFingerprinted {
		return ""
	}
	return fmt.Sprintf("SHA256:%.8x", sha256.Sum256([]byte(key)))
}

// leastFingerprinted is the length of a random key of at least 128 bits in base64.
const leastFingerprinted = 22
