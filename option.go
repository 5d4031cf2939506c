package moneymovement

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Option sets up a client of any surface.
type Option interface{ apply(to *ClientSettings) }

type option func(*ClientSettings)

func (o option) apply(to *ClientSettings) { o(to) }

// ClientSettings is what the options of a client set. The zero value of a field means the default.
type ClientSettings struct {
	HTTPClient      *http.Client                                // of [WithHTTPClient]
	Transports      []func(http.RoundTripper) http.RoundTripper // of each [WithTransport]; the last is the outermost
	Retries         RetryPolicy                                 // of [WithRetries]
	Logger          *slog.Logger                                // of [WithLogger]
	Observers       []Observer                                  // of each [WithObserver]
	Timeout         time.Duration                               // of [WithTimeout]
	Polling         Pace                                        // of [WithPolling]
	ClockDifference time.Duration                               // of [WithClockDifference]
	UserAgent       string                                      // of [WithUserAgent]
	PlainHTTP       bool                                        // set by [WithPlainHTTP]
	RateLimiter     RateLimiter                                 // of [WithRateLimiter]
	RateShare       int                                         // of [WithRateShare]
	Unpaced         bool                                        // set by [WithoutPacing]
	// Invalid are the problems with the options. The constructor of a client refuses them.
	Invalid []errors.Field
}

// ClientSettingsOf returns what the options of a client set. It ignores nil options.
func ClientSettingsOf(options ...Option) ClientSettings {
	var settings ClientSettings
	for _, option := range options {
		if option != nil {
			option.apply(&settings)
		}
	}
	return settings
}

// refuse notes a problem with the argument of an option, which cannot return an error.
func refuse(invalid *[]errors.Field, option, code, message string) {
	*invalid = append(*invalid, errors.Field{Field: option, Code: code, Message: message})
}

// WithTransport wraps the transport of the client, for tracing, recording and tests. wrap gets the SDK's own transport,
// with its connections and limits, and returns the one to use, which passes each request on:
//
//	moneymovement.WithTransport(func(next http.RoundTripper) http.RoundTripper { return otelhttp.NewTransport(next) })
//
// It is called once, by the constructor of the client. With [WithHTTPClient], it gets the Transport of that client. If
// the option is given more than once, the last transport is the outermost. If wrap is nil or returns nil, the
// constructor fails with *errors.InvalidInput.
func WithTransport(wrap func(next http.RoundTripper) http.RoundTripper) Option {
	return option(func(to *ClientSettings) {
		if wrap == nil {
			refuse(&to.Invalid, "WithTransport", "invalid_option", "must not be nil")
			return
		}
		to.Transports = append(to.Transports, wrap)
	})
}

// WithHTTPClient sends requests with the Transport and the Timeout of the given client. Use it for client certificates,
// and for a test without a socket. To see or trace each request, use [WithTransport]. The SDK follows no redirect and
// keeps no cookie, even if the given client does.
//
// If the given client has a Transport, it takes the place of the SDK's own. What the SDK's transport does is then lost,
// unless your Transport does it too: it keeps as many connections as there were calls at once (MaxIdleConnsPerHost),
// waits 5 s for a connection, 10 s for TLS and 30 s for a response (ResponseHeaderTimeout), notices a dead HTTP/2
// connection by a ping (HTTP2.SendPingTimeout), leaves a connection on which a request timed out, and uses TLS 1.2 or
// later.
//
// Without this option, a client uses TLS 1.2 or later and verifies certificates. It takes the proxy, the dialer and the
// RootCAs from [http.DefaultTransport], and nothing else: settings that make TLS weaker, such as InsecureSkipVerify or
// KeyLogWriter, have no effect on it.
func WithHTTPClient(client *http.Client) Option {
	return option(func(to *ClientSettings) { to.HTTPClient = client })
}

// RetryPolicy bounds the retries of a client. The package documentation says which calls are repeated. The zero value
// of a field means the default.
type RetryPolicy struct {
	// Max is how many times a call is sent again after its first attempt. The default is 3. A negative value disables
	// retries.
	Max int
	// WaitMin is the first pause, 250 ms by default. Each further pause is up to twice as long, and at most 8 s.
	WaitMin time.Duration
	// WaitMax is the longest Retry-After that a call waits for, 65 s by default. If Retry-After is longer, the call
	// fails with the refusal, and a wait that made the call fails too. WaitMax does not bound the time that a call
	// waits for a rate window.
	WaitMax time.Duration
}

// WithRetries replaces the retry policy.
func WithRetries(policy RetryPolicy) Option {
	return option(func(to *ClientSettings) { to.Retries = policy })
}

// WithLogger writes one record for each attempt: operation, method, path template, the account that the call acts for,
// idempotency key, the fingerprint of the developer key or API key, status, request id and duration. Levels:
//
//   - debug: an attempt;
//   - info: an attempt that got 429, which means that others use the same credential; and a call or a payment that
//     waited more than a second for a rate window, with the window and the time; and the rate limits that the service
//     states in its responses, once for each operation (see [RateLimit]);
//   - warning: a server error (5xx), with the request id, which the service's support needs; a response that differs
//     from what this SDK assumes, once for each operation and member (see [Response].Unread); an operation that the
//     service calls deprecated, once, and again if its dates change (see [Deprecation]); and, once, the clocks of the
//     service and this machine if they differ by more than 5 minutes;
//   - error: a response without a member that the service's description states.
//
// Other headers, bodies, queries and credentials are never logged. keyFingerprint has the first 23 characters of what
// `moneymove keys show` and [github.com/moneymovement/moneymovement-go/signing.DeveloperKey.Fingerprint] print.
func WithLogger(logger *slog.Logger) Option {
	return option(func(to *ClientSettings) { to.Logger = logger })
}

// WithTimeout ends each call of the client after d, with all its attempts, pauses and waiting in line, unless the
// context ends it earlier. The call option [Timeout] replaces it for one call. The default, 0, means that only the
// context bounds a call, and that a call whose context has no deadline waits at most 45 s for a service that does not
// respond. Pauses that the service asks for and waiting in line do not count. If d is negative, the constructor of the
// client fails with *errors.InvalidInput.
//
// It bounds single calls. A method that makes several calls, such as dapi's Payouts.Pay or a wait, has the timeout for
// each of them. The time that a payment waits in line before its booking does not count. To bound the whole method, use
// its context.
//
// A timeout of less than 65 s leaves no time for the Retry-After of a full rate window: such a call fails with the 429
// at once.
func WithTimeout(d time.Duration) Option {
	return option(func(to *ClientSettings) {
		to.Timeout = d
		if d < 0 {
			refuse(&to.Invalid, "WithTimeout", "out_of_range", "must not be negative")
		}
	})
}

// Pace limits the pauses between two reads of a wait. The first pause is Least. Each further pause is 1.5 times as
// long, up to Most.
type Pace struct{ Least, Most time.Duration }

// The limits prevent a wait without pauses, and overflow.
const (
	shortestPause = time.Millisecond
	longestPause  = 24 * time.Hour
)

// check notes the problem with a pace that an option sets.
func (p Pace) check(invalid *[]errors.Field, option string) {
	if p.Least < shortestPause || p.Most < p.Least || p.Most > longestPause {
		refuse(invalid, option, "out_of_range", "must be pauses from 1ms to 24h, the shorter one first")
	}
}

// WithPolling sets the pauses between the reads of a wait. The first pause is least. Each further pause is 1.5 times as
// long, up to most. The default is 500 ms to 15 s. Both must be between 1 ms and 24 h, and least must not be longer
// than most. Otherwise the constructor of the client fails with *errors.InvalidInput. The wait option [PollEvery]
// replaces the pauses for one wait.
//
// In tests against the sandbox host, use a few milliseconds.
func WithPolling(least, most time.Duration) Option {
	return option(func(to *ClientSettings) {
		to.Polling = Pace{least, most}
		to.Polling.check(&to.Invalid, "WithPolling")
	})
}

// WithClockDifference sets how far the service's clock, by the Date header of its responses, may differ from this
// machine's. The default is 10 days. If the difference is larger, the SDK signs no payment: the call fails with
// *signing.ApprovalRefused, which names both clocks. A difference of more than 5 minutes is logged once, as a warning.
//
// Use it in tests that move the clock of the sandbox host far ahead. If d is not positive, the constructor of the
// client fails with *errors.InvalidInput.
func WithClockDifference(d time.Duration) Option {
	return option(func(to *ClientSettings) {
		to.ClockDifference = d
		if d <= 0 {
			refuse(&to.Invalid, "WithClockDifference", "out_of_range", "must be positive")
		}
	})
}

// WithUserAgent adds product, such as "example-backend/1.4", in front of the SDK's User-Agent. A client of package
// public sends a User-Agent only with this option.
func WithUserAgent(product string) Option {
	return option(func(to *ClientSettings) { to.UserAgent = product })
}

// WithPlainHTTP allows a base URL with http whose host is not a loopback address. Without this option, the constructor
// of the client refuses such a URL with *errors.InvalidInput. Plain http shows the credential to the network, so use
// the option only where something else encrypts the connection.
func WithPlainHTTP() Option {
	return option(func(to *ClientSettings) { to.PlainHTTP = true })
}
