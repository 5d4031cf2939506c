package transport

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Config holds the settings of a client. The zero value of a field is its default.
type Config struct {
	HTTP           *http.Client
	Wrap           []func(http.RoundTripper) http.RoundTripper // around the transport, the last one outermost
	Retry          Retry
	Limiter        Limiter // nil for no limiter
	Unpaced        bool    // the surface must not set the limiter of its stated windows
	Share          *int    // among how many clients the stated windows are divided, nil for one
	Logger         *slog.Logger
	UserAgent      string // comes before the SDK's own
	Anonymous      bool   // sends no header that only says who asks, as far as net/http allows
	AllowPlainHTTP bool   // also to hosts that are not loopback
	Auth           Authorizer
	Most           int // items that a list of a response may have; 0 for the default
	Version        string
	ChainNames     []ChainName // further names of chains in approvals
	// ClockDifference is how far the service's clock may differ; nil for 10 days.
	ClockDifference *time.Duration
	Timeout         time.Duration // of each call without its own; 0 for none
	Pace            *Pace         // of waits without their own; nil for the default
	Measure         func(context.Context, Measurement)
	// Random returns a random time that is at least zero and less than the given one; nil for math/rand. A simulation
	// sets it, so that the pauses of a run can be repeated.
	Random func(context.Context, time.Duration) time.Duration
}

// ChainName is the code of the chain that has an EVM id.
type ChainName struct {
	ID   int64
	Code string
}

// ConfigOf collects the settings of options. version is the version of the SDK.
func ConfigOf[O ~func(*Config)](version string, options []O) Config {
	config := Config{Version: version}
	Apply(&config, options)
	return config
}

// Client sends the calls of one credential to one origin. It is safe for concurrent use.
type Client struct {
	base     *url.URL
	basePath string // of base, escaped
	// the caller's transport, or the default one; its connections keep the last requests in their buffers
	next      Hidden[http.RoundTripper]
	timeout   time.Duration // of the caller's client, for one attempt; 0 for none
	callLimit time.Duration // of each call without its own; 0 for none
	polling   Pace          // of waits without their own
	measure   func(context.Context, Measurement)
	random    func(context.Context, time.Duration) time.Duration // nil for math/rand
	retry     Retry
	budget    *budget
	keys      *Keys
	clock     serviceClock
	limiter   Limiter
	auth      atomic.Pointer[Authorizer] // of new calls
	logger    *slog.Logger
	most      int      // items that a list of a response may have; 0 for the default
	reported  sync.Map // the places in responses for which a warning was logged
	userAgent []string
}

// New returns a client. surface is the path of the surface below the base URL.
func New(baseURL, surface string, config Config) (*Client, error) {
	base, err := origin(baseURL, surface, config.AllowPlainHTTP)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(config.UserAgent, unicode.IsControl) {
		return nil, invalid("userAgent", "invalid_header", "must not contain control characters")
	}
	if err := Validate("New", config.check); err != nil {
		return nil, err
	}
	setPath(base, strings.TrimRight(base.EscapedPath(), "/")+surface)
	c := &Client{
		base:    base,
		retry:   config.Retry.withDefaults(),
		budget:  newBudget(),
		keys:    NewKeys(),
		limiter: config.Limiter,
		logger:  config.Logger,
		most:    config.Most,

		callLimit: config.Timeout,
		measure:   config.Measure,
		random:    config.Random,
		userAgent: []string{strings.TrimSpace(config.UserAgent + " moneymovement-go/" + config.Version + " (" +
			runtime.Version() + ")")},
	}
	if config.Anonymous && config.UserAgent == "" {
		c.userAgent = []string{""} // net/http then sends none
	}
	if config.Pace != nil {
		c.polling = *config.Pace
	}
	if config.ClockDifference != nil {
		c.clock.allowed = *config.ClockDifference
	}
	c.basePath = base.EscapedPath()
	c.Use(config.Auth)
	if err := c.takeOver(&config); err != nil {
		return nil, err
	}
	return c, nil
}

// check refuses invalid settings.
func (c *Config) check(check *Check) {
	check.Timeout("WithTimeout", c.Timeout)
	if c.Share != nil {
		check.AtLeast("WithRateShare", int64(*c.Share), 1)
	}
	if c.ClockDifference != nil && *c.ClockDifference <= 0 {
		check.Refuse("WithClockDifference", "out_of_range", "must be positive")
	}
	if c.Pace != nil {
		var invalid InvalidOptions
		invalid.Pace("WithPolling", c.Pace.Least, c.Pace.Most)
		check.Options(invalid)
	}
}

// origin checks the base URL. It must be https or loopback, unless plain http is allowed. It must not end with the path
// of the surface: New adds that path, and every call would return 404.
func origin(baseURL, surface string, allowPlain bool) (*url.URL, error) {
	refuse := func(message string) (*url.URL, error) { return nil, invalid("baseURL", "invalid_url", message) }
	if strings.ContainsFunc(baseURL, unreadable) {
		return refuse("contains a blank or a character that does not print: remove it")
	}
	u, err := url.Parse(baseURL)
	switch {
	case err != nil && !strings.Contains(baseURL, "://"), err == nil && u.Scheme != "https" && u.Scheme != "http":
		return refuse("must begin with https://")
	case err != nil:
		return refuse("is not a valid URL")
	case !plainPath(strings.TrimRight(u.Path, "/")):
		return refuse("must have a path without .. and empty parts, or no path")
	case u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return refuse("must have a scheme and a host, may have a path, and must have nothing else")
	case u.Scheme == "http" && !allowPlain && !loopback(u.Hostname()):
		return nil, invalid("baseURL", "https_required",
			"must be https: plain http would show the credential to the network")
	case surface != "" && strings.HasSuffix(strings.TrimRight(u.Path, "/"), surface):
		return nil, invalid("baseURL", "path_not_expected", "must not end in "+surface+": the SDK adds this path")
	}
	return u, nil
}

// plainPath reports a path that every server and proxy reads in the same way.
func plainPath(decoded string) bool {
	for i, part := range strings.Split(decoded, "/") {
		if part == "." || part == ".." || part == "" && i > 0 {
			return false
		}
	}
	return true
}

// unreadable reports a character that nobody sees in an address.
func unreadable(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }

func invalid(field, code, message string) error {
	return &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: "New"},
		Fields: []errors.Field{{Field: field, Code: code, Message: message}}}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// takeOver copies the transport and the timeout of the caller's client, and wraps the transport. It does not copy
// cookies and redirects.
func (c *Client) takeOver(config *Config) error {
	var next http.RoundTripper
	if given := config.HTTP; given != nil {
		c.timeout, next = given.Timeout, given.Transport
	}
	if next == nil {
		own := newConnections()
		own.current.Load().DisableCompression = config.Anonymous // so that there is no Accept-Encoding
		next = own
	}
	for _, wrap := range config.Wrap {
		if wrap == nil {
			return invalid("WithTransport", "invalid_option", "must not be nil")
		}
		if next = wrap(next); next == nil {
			return invalid("WithTransport", "invalid_option", "must return a transport, not nil")
		}
	}
	c.next = Hide(next)
	return nil
}
