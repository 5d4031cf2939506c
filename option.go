package moneymovement

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Option sets up a client of any surface.
type Option func(*transport.Config)

// WithHTTPClient sends requests with the Transport and the Timeout of the given client. Use it for proxies, TLS
// settings, tracing and tests: give a client whose Transport wraps another. Redirects are never followed and cookies
// never kept, whatever the client says. Your Transport decides which TLS versions and certificates it accepts.
//
// To look at the idempotency key, a Transport must read r.Header["idempotency-key"]. The SDK writes the name in lower
// case, because net/http would send a request with the usual spelling again by itself. Header.Get finds the usual
// spelling only.
//
// Without this option, a client uses TLS 1.2 or later and verifies certificates. It takes the proxy, the dialer and the
// RootCAs from [http.DefaultTransport], and nothing else: settings that make TLS weaker, such as InsecureSkipVerify or
// KeyLogWriter, have no effect on it.
func WithHTTPClient(client *http.Client) Option {
	return func(c *transport.Config) { c.HTTP = client }
}

// RetryPolicy bounds the retries of a client. The package documentation says which calls are repeated. A field that is
// 0 has its default.
type RetryPolicy struct {
	// Max is how many times a call is sent again after its first attempt. The default is 3. A negative value disables
	// retries.
	Max int
	// WaitMin is the first pause, 250 ms by default. Each further pause is up to twice as long, and at most 8 s.
	WaitMin time.Duration
	// WaitMax is the longest Retry-After that a call waits for, 65 s by default. A longer one ends the call, and also
	// the wait that the call belongs to, with the refusal. It does not bound the time in line for a rate window.
	WaitMax time.Duration
}

// WithRetries replaces the retry policy.
func WithRetries(policy RetryPolicy) Option {
	return func(c *transport.Config) { c.Retry = transport.Retry(policy) }
}

// WithLogger writes one record for each attempt: operation, method, path template, the account that the call acts for,
// idempotency key, status, request id and duration. Levels:
//
//   - debug: an attempt;
//   - info: an attempt that got 429, although the client keeps the rate windows: another process uses the same
//     credential; and a call that waited more than a second for a rate window, or a payment for its turn, with the
//     window and the time;
//   - warning: a server error (5xx), with the request id from the header X-Request-ID or from the body, by which the
//     service's support finds it; and, once for each operation and member, a response that differs from what this SDK
//     assumes, see [Response].Unread;
//   - error: a response that lacks what the service's description states.
//
// Headers, bodies, queries and credentials are never logged.
func WithLogger(logger *slog.Logger) Option {
	return func(c *transport.Config) { c.Logger = logger }
}

// WithTimeout ends each call of the client after d, with all its attempts, pauses and waiting in line, unless the
// context ends it earlier. [Timeout] sets another one for a call. The default, 0, is no timeout but the context's. A
// negative d is *errors.InvalidInput.
//
// It bounds calls, and not flows: each call of dapi's Payouts.Pay and each read of a wait has the timeout for itself,
// and the time that a payment waits in line before its booking does not count. Bound a flow by its context. A timeout
// of less than 65 s leaves no time for the Retry-After of a full rate window: such a call fails with the 429 at once.
func WithTimeout(d time.Duration) Option {
	return func(c *transport.Config) { c.Timeout = d }
}

// WithPolling bounds the pause between two reads of each wait of the client: least at first, half as much again each
// time, most in the end. The default is 500 ms to 15 s. Both must be between 1 ms and 24 h, and least not longer than
// most; else New fails with *errors.InvalidInput. The wait option PollEvery sets others for one wait.
//
// Tests against the sandbox host are fastest with a few milliseconds.
func WithPolling(least, most time.Duration) Option {
	return func(c *transport.Config) { c.Pace = &transport.Pace{Least: least, Most: most} }
}

// WithUserAgent puts product in front of the SDK's own User-Agent, such as "example-backend/1.4".
func WithUserAgent(product string) Option {
	return func(c *transport.Config) { c.UserAgent = product }
}

// WithPlainHTTP allows a base URL with http that is not loopback. Use it only on a network that protects the credential
// in another way. Without it, such a URL is refused with *errors.InvalidInput.
func WithPlainHTTP() Option {
	return func(c *transport.Config) { c.AllowPlainHTTP = true }
}
