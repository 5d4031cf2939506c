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

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
)

// Config holds the settings of a client: those of the caller's options, and those of the surface.
type Config struct {
	moneymovement.ClientSettings

	Auth      Authorizer
	Anonymous bool // sends no header that only says who asks, as far as net/http allows
	Most      int  // items that a list of a response may have; 0 for the default

	// StateShown returns the state of the payment that a decoded response shows, "" for none. nil shows none.
	StateShown func(value any) moneymovement.PaymentState
}

// Client sends the calls of one credential to one origin. It is safe for concurrent use.
type Client struct {
	base     *url.URL
	basePath string // of base, escaped
	// the caller's transport, or the default one; its connections keep the last requests in their buffers
	next       hidden.Value[http.RoundTripper]
	timeout    time.Duration      // of the caller's client, for one attempt; 0 for none
	callLimit  time.Duration      // of each call without its own; 0 for none
	polling    moneymovement.Pace // of waits without their own
	observers  []moneymovement.Observer
	server     string // scheme and host of base
	retry      moneymovement.RetryPolicy
	budget     *budget
	keys       *Keys
	clock      serviceClock
	limiter    moneymovement.RateLimiter
	auth       atomic.Pointer[Authorizer] // of new calls
	logger     *slog.Logger
	stateShown func(value any) moneymovement.PaymentState // nil for none
	most       int                                        // items that a list of a response may have; 0 for the default
	reported   sync.Map                                   // the places in responses for which a warning was logged
	announced  announced
	userAgent  []string
}

// New returns a client. surface is the path of the surface below the base URL.
func New(baseURL, surface string, config Config) (*Client, error) {
	base, err := origin(baseURL, surface, config.PlainHTTP)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(config.UserAgent, unicode.IsControl) {
		return nil, invalid("userAgent", "invalid_header", "must not contain control characters")
	}
	if err := Validate("New", func(check *Check) { check.Options(config.Invalid) }); err != nil {
		return nil, err
	}
	setPath(base, strings.TrimRight(base.EscapedPath(), "/")+surface)
	c := &Client{
		base:    base,
		retry:   withDefaults(config.Retries),
		budget:  newBudget(),
		keys:    NewKeys(),
		limiter: config.RateLimiter,
		logger:  config.Logger,
		most:    config.Most,

		callLimit:  config.Timeout,
		observers:  config.Observers,
		server:     base.Scheme + "://" + base.Host,
		polling:    config.Polling,
		stateShown: config.StateShown,
		userAgent: []string{strings.TrimSpace(config.UserAgent + " moneymovement-go/" + moneymovement.Version + " (" +
			runtime.Version() + ")")},
	}
	if config.Anonymous && config.UserAgent == "" {
		c.userAgent = []string{""} // net/http then sends none
	}
	c.clock.allowed = config.ClockDifference
	c.basePath = base.EscapedPath()
	c.Use(config.Auth)
	if err := c.useHTTPClient(&config); err != nil {
		return nil, err
	}
	return c, nil
}

// origin checks the base URL. It must be https or loopback, unless plain http is allowed. It must not end with the path
// of the surface: New adds that path, and every call would return 404.
func origin(baseURL, surface string, allowPlain bool) (*url.URL, error) {
	refuse := func(message string) (*url.URL, error) { return nil, invalid("baseURL", "invalid_url", message) }
	if strings.ContainsFunc(baseURL, isInvisible) {
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

// isInvisible reports a character that nobody sees in an address.
func isInvisible(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }

func invalid(field, code, message string) error {
	return &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: "New"},
		Fields: []errors.Field{{Field: field, Code: code, Message: message}}}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// useHTTPClient copies the transport and the timeout of the caller's client, and wraps the transport. It does not copy
// cookies and redirects.
func (c *Client) useHTTPClient(config *Config) error {
	var next http.RoundTripper
	if given := config.HTTPClient; given != nil {
		c.timeout, next = given.Timeout, given.Transport
	}
	if next == nil {
		own := newConnections()
		own.current.Load().DisableCompression = config.Anonymous // so that there is no Accept-Encoding
		next = own
	}
	for _, wrap := range config.Transports {
		if next = wrap(next); next == nil {
			return invalid("WithTransport", "invalid_option", "must return a transport, not nil")
		}
	}
	c.next = hidden.Hide(next)
	return nil
}

// Context refuses a nil context.
func (c *Check) Context(ctx context.Context) {
	if ctx == nil {
		c.refuse(outcome.NoContext())
	}
}

// Constructed refuses a client that no constructor made. constructors names them.
func (c *Check) Constructed(client *Client, constructors string) {
	if client == nil {
		c.refuse(outcome.NoClient(constructors))
	}
}

func (c *Check) refuse(f errors.Field) { c.Refuse(f.Field, f.Code, f.Message) }

// RequestOf starts a call of a client. If no constructor made the client, the call is refused. constructors names
// them.
func RequestOf(client *Client, constructors string, op *Operation, call Call) *Request {
	r := NewRequest(op, "", call)
	r.check.Constructed(client, constructors)
	return r
}

// Flow is what a method that makes several calls says about itself before the first one.
type Flow struct {
	Op      *Operation        // for which it is refused
	Account string            // "" for the credential's own account
	Key     moneymovement.Key // "" without one
}

// Ready checks context, client and input at the beginning of a flow. Single calls check them by themselves. Observers
// see what it refuses as a call of the operation, with the account and the key of the flow.
func Ready(ctx context.Context, client *Client, flow Flow, constructors string, checks ...func(*Check)) error {
	if ctx == nil || client == nil {
		checks = []func(*Check){func(c *Check) {
			c.Context(ctx)
			c.Constructed(client, constructors)
		}}
	}
	err := Validate(flow.Op.ID, checks...)
	if err != nil && ctx != nil && client != nil && len(client.observers) > 0 {
		seen, call := client.observe(ctx, flow.Op, flow.Account, flow.Key)
		call.end(seen, moneymovement.CallEnd{}, err)
	}
	return err
}

// OrNew returns the service, or an empty one in place of nil. A method of an empty service refuses the call, and does
// not panic.
func OrNew[S any](service *S) *S {
	if service == nil {
		return new(S)
	}
	return service
}
