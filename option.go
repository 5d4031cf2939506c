package moneymovement

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Option sets up a client of any surface.
type Option func(*transport.Config)

// WithHTTPClient sends through the given client's Transport and Timeout. This is the hook for proxies, TLS settings,
// tracing and tests: give a client whose Transport wraps another. Redirects are never followed and cookies never kept,
// whatever the client says.
//
// What its Transport does is the caller's to decide, also which TLS it accepts. Without one, a client speaks TLS 1.2 or
// later and verifies certificates; from [http.DefaultTransport] it takes the proxy, the dialer and the RootCAs, and
// nothing else: an InsecureSkipVerify, a lower version or a KeyLogWriter that a program set there for other peers is
// not for this one.
func WithHTTPClient(client *http.Client) Option {
	return func(c *transport.Config) { c.HTTP = client }
}

// RetryPolicy bounds how a client tries again; the package documentation says when it does. Zero fields take the
// defaults.
type RetryPolicy struct {
	// Max is how many times a call is sent again after its first attempt: 3 by default, negative for never.
	Max int
	// WaitMin is the first backoff, 250 ms by default; each further one is up to twice as long, and at most 8 s.
	WaitMin time.Duration
	// WaitMax is the longest Retry-After that is waited for, 65 s by default, which covers a window of one minute. It
	// holds for the reads of a wait, too: one that is told to come back later than that ends with the refusal. Waiting
	// in line for a rate window is another thing; see the package documentation.
	WaitMax time.Duration
}

// WithRetries replaces the retry policy.
func WithRetries(policy RetryPolicy) Option {
	return func(c *transport.Config) { c.Retry = transport.Retry(policy) }
}

// WithLogger writes a record for each attempt: operation, method, path template, status, request id, idempotency key,
// duration. It is a warning if the service answered with a server error (5xx), by whose request id the service's people
// find it: from the header X-Request-ID, or else from details.requestId of the refusal. Every other attempt is a debug
// record. Each call that waited over a second for a rate window, or payment for its turn, is an info record: operation,
// window, class, how long. An answer that lacks what the service's description states is an error record, and each
// assumption of this SDK that an answer shows to be wrong a warning, once for each operation and member: see
// [Response].Unread. Headers, bodies, queries and credentials are never logged.
func WithLogger(logger *slog.Logger) Option {
	return func(c *transport.Config) { c.Logger = logger }
}

// WithUserAgent names the calling program in front of the SDK's own User-Agent.
func WithUserAgent(product string) Option {
	return func(c *transport.Config) { c.UserAgent = product }
}

// WithPlainHTTP allows an http base URL that is not loopback, for a network that protects the credential by other
// means.
func WithPlainHTTP() Option {
	return func(c *transport.Config) { c.AllowPlainHTTP = true }
}
