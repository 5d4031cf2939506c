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
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Config holds the settings of a client: those of the caller's options, and those of the surface.
type Config struct {
	moneymovement.ClientSettings

	Auth      Authorizer
	Anonymous bool // sends no header that only says who asks, as far as net/http allows
	Most      int  // items that a list of a response may have; 0 for the default
}

// Client sends the calls of one credential to one origin. It is safe for concurrent use.
type Client struct {
	base     *url.URL
	basePath string // of base, escaped
	// the caller's transport, or the default one; its connections keep the last requests in their buffers
	next      hidden.Value[http.RoundTripper]
	timeout   time.Duration      // of the caller's client, for one attempt; 0 for none
	callLimit time.Duration      // of each call without its own; 0 for none
	polling   moneymovement.Pace // of waits without their own
	metrics   moneymovement.Metrics
	retry     moneymovement.RetryPolicy
	budget    *budget
	keys      *Keys
	clock     serviceClock
	limiter   moneymovement.RateLimiter
	auth      atomic.Pointer[Authorizer] // of new calls
	logger    *slog.Logger
	most      int      // items that a list of a response may have; 0 for the default
	reported  sync.Map // the places in responses for which a warning was logged
	userAgent []string
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

		callLimit: config.Timeout,
		metrics:   config.Metrics,
		polling:   config.Polling,
		userAgent: []string{strings.TrimSpace(config.UserAgent + " moneymovement-go/" + moneymovement.Version + " (" +
			runtime.Version() + ")")},
	}
	if config.Anonymous && config.UserAgent == "" {
		c.userAgent = []string{""} // net/http then sends none
	}
	c.clock.allowed = config.ClockDifference
	c.basePath = base.EscapedPath()
	c.Use(config.Auth)
	if err := c.takeOver(&config); err != nil {
		return nil, err
	}
	return c, nil
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

// Do sends one call and decodes the response into a T.
func Do[T any](ctx context.Context, c *Client, r *Request) (*T, error) {
	value, err := c.do(ctx, r, func() any { return new(T) })
	if err != nil {
		return nil, err
	}
	typed, _ := value.(*T) // do returns what newValue made
	return typed, nil
}

// do makes the value only for a success: it can be large, and a refusal does not need it.
func (c *Client) do(ctx context.Context, r *Request, newValue func() any) (value any, err error) {
	if c != nil && c.metrics != nil && ctx != nil {
		defer c.measured(ctx, r, time.Now(), &err)
	}
	r.call.forget()
	r.idempotency()
	r.check.Context(ctx)
	r.check.Options(r.call.Invalid)
	if err := r.check.err(r.head); err != nil {
		return nil, err
	}
	body, err := r.encode()
	if err != nil {
		return nil, &errors.InvalidInput{
			CallInfo: r.head(),
			Fields:   []errors.Field{{Field: wire.Unencodable(err), Code: "unencodable", Message: err.Error()}},
		}
	}
	over, err := c.keys.claim(r, body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.bounded(ctx, r)
	defer cancel()
	r.aim(c)
	t := &r.tracker
	*t = tracker{
		op: r.op, call: &r.call, request: r, auth: c.authorizer(&r.call), scope: r.scope(), stream: r.stream,
		queued: r.call.Queued, reserved: r.call.Reserved, most: c.most,
	}
	defer t.answer.release()
	defer t.keep()

	value, err = c.send(ctx, r, t, body, newValue)
	if renewer, able := t.renewer(err); able {
		value, err = c.renewAndReplay(ctx, renewer, r, t, body, newValue)
	}
	over(value, err)
	return value, err
}

// send sends the request, and returns the decoded value or the error.
func (c *Client) send(ctx context.Context, r *Request, t *tracker, body []byte, newValue func() any) (any, error) {
	if err := c.exchange(ctx, r, t, body); err != nil {
		return nil, t.outcome(ended(ctx, err))
	}
	if !t.answer.success() {
		return nil, t.settle(t.answer.refusal(t))
	}
	c.budget.earn()
	value := newValue()
	if t.stream != nil {
		return value, t.stream.end(t)
	}
	if err := t.decode(value); err != nil {
		return nil, t.unreadable(err)
	}
	c.reportUnread(ctx, t)
	return value, nil
}

// renewAndReplay renews the credential once, and sends the same request with the same key again. This is safe: the
// refused attempt was not carried out.
func (c *Client) renewAndReplay(
	ctx context.Context, renewer Renewer, r *Request, t *tracker, body []byte, newValue func() any,
) (any, error) {
	if err := renewer.Renew(ctx, t.header); err != nil {
		return nil, t.outcome(ended(ctx, err))
	}
	return c.send(ctx, r, t, body, newValue)
}

// exchange makes the first attempt. If that attempt should be repeated, it continues with go-retryablehttp. For the
// first attempt it does itself what go-retryablehttp's loop does for the others.
//
//nolint:bodyclose // read and drain close the body of the response
func (c *Client) exchange(ctx context.Context, r *Request, t *tracker, body []byte) (err error) {
	t.retried = 0
	h := r.header(c)
	r.setKey(h)
	if err = c.prepare(ctx, t, h); err != nil {
		return err
	}
	var resp *http.Response
	req := r.http(c, body)
	if c.timeout > 0 {
		resp, err = c.httpClient(t).Do(req.WithContext(ctx))
	} else {
		resp, err = c.attempt(ctx, &req, t)
	}
	again := c.checkRetry(ctx, t, resp, err)
	if err == nil && !again {
		err = t.read(resp)
		again = c.checkRetry(ctx, t, resp, err)
	}
	if !again {
		return err
	}
	if err == nil {
		drain(resp.Body)
	}
	if err = Pause(ctx, c.backoff(ctx, t, resp)); err != nil {
		return err
	}
	if err = c.prepareRetry(ctx, t); err != nil {
		return err
	}
	return t.retrying(c.retrier(ctx, t), req.WithContext(ctx), body)
}
