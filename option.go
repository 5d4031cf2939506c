package moneymovement

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Option sets up a client of any surface.
type Option func(*transport.Config)

// WithHTTPClient sends through the given client's Transport and Timeout. This is the hook for proxies, TLS settings, tracing and tests:
// give a client whose Transport wraps another. Redirects are never followed and cookies never kept, whatever the client says.
func WithHTTPClient(client *http.Client) Option {
	return func(c *transport.Config) { c.HTTP = client }
}

// RetryPolicy bounds how a client tries again; the package documentation says when it does. Zero fields take the defaults.
type RetryPolicy struct {
	// Max is how many times a call is sent again after its first attempt: 3 by default, negative for never.
	Max int
	// WaitMin is the first backoff, 250 ms by default; each further one is up to twice as long, and at most 8 s.
	WaitMin time.Duration
	// WaitMax is the longest Retry-After that is waited for, 65 s by default, which covers a window of one minute.
	WaitMax time.Duration
}

// WithRetries replaces the retry policy.
func WithRetries(policy RetryPolicy) Option {
	return func(c *transport.Config) { c.Retry = transport.Retry(policy) }
}

// Window names a rate window of the service.
//
// Source: Limits, Rate windows.
type Window = transport.Window

// The windows of the platform API.
const (
	WindowReads          = transport.WindowReads          // 600 a minute for a credential
	WindowWrites         = transport.WindowWrites         // 120 a minute for a credential
	WindowLogin          = transport.WindowLogin          // 20 login calls in 5 minutes for the address that they come from, whatever the credential
	WindowLoginEmail     = transport.WindowLoginEmail     // 10 challenges in 5 minutes for an email
	WindowLoginChallenge = transport.WindowLoginChallenge // 10 token calls in 5 minutes for a challenge
	WindowSandboxMoney   = transport.WindowSandboxMoney   // 60 an hour for an account
)

// RateLimiter paces calls before they are sent. Implement it to share the windows of one credential among several processes, or the login
// window of one address among several credentials. It must be safe for concurrent use.
type RateLimiter interface {
	// Wait returns when a call of the window may be sent, or an error when ctx ends first. A call that more than one window counts
	// waits for each of them. scope is the account that [WindowSandboxMoney] counts for, the email of [WindowLoginEmail] or the
	// challenge of [WindowLoginChallenge], and empty for the other windows. window is empty on surfaces other than
	// the platform API, whose windows are not stated.
	Wait(ctx context.Context, window Window, scope string) error
}

// WithRateLimiter paces the client with a limiter of the caller's, instead of one of its own that keeps the stated windows.
func WithRateLimiter(limiter RateLimiter) Option {
	return func(c *transport.Config) { c.Limiter = limiter }
}

// WithoutPacing sends calls at once; what is over a window then comes back as *errors.RateLimited after the retries.
func WithoutPacing() Option {
	return func(c *transport.Config) { c.Limiter, c.Unpaced = nil, true }
}

// WithLogger writes a debug record for each attempt: operation, method, path template, status, request id, idempotency key, duration.
// Headers, bodies, queries and credentials are never logged.
func WithLogger(logger *slog.Logger) Option {
	return func(c *transport.Config) { c.Logger = logger }
}

// WithUserAgent names the calling program in front of the SDK's own User-Agent.
func WithUserAgent(product string) Option {
	return func(c *transport.Config) { c.UserAgent = product }
}

// WithPlainHTTP allows an http base URL that is not loopback, for a network that protects the credential by other means.
func WithPlainHTTP() Option {
	return func(c *transport.Config) { c.AllowPlainHTTP = true }
}
