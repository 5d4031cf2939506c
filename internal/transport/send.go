package transport

import (
	"context"
	"net/http"
	"time"
)

// trip is what one call knows about its attempts; it travels in the context, because go-retryablehttp's hooks see no more.
type trip struct {
	op       *Operation
	call     *Call
	scope    string // of the rate window
	most     int    // attempts
	attempts int    // sent so far
	lost     bool   // an attempt got no whole answer and may have been carried out
	doubted  bool   // an attempt before the last was answered with a server error and may have been carried out
	answer   answer
	// header is what the last attempt sent, with the credential, for the authorizer to know which token was refused.
	header http.Header
}

type tripKey struct{}

// lastAttempt reports that the policy leaves no further one.
func (t *trip) lastAttempt() bool { return t.attempts >= t.most }

func tripOf(ctx context.Context) *trip { return ctx.Value(tripKey{}).(*trip) }

// prepare lets one attempt through the rate window and gives it the credential.
func (c *Client) prepare(ctx context.Context, t *trip, h http.Header) error {
	if c.limiter != nil {
		if err := c.limiter.Wait(ctx, t.op.Window, t.scope); err != nil {
			return err
		}
	}
	t.header = h
	return c.authorize(ctx, t.op, h)
}

// attempt is the innermost step. As the http.Client's transport it also hides the inner transport's CloseIdleConnections, which
// go-retryablehttp calls when one call gives up: that would close the connections of everyone else.
type attempt struct {
	next   http.RoundTripper
	client *Client
}

// RoundTrip counts and sends. Only here the request gets its header: of the one that http.Client is given it makes a copy at once, credential
// and all, for redirects that are never followed.
func (a attempt) RoundTrip(req *http.Request) (*http.Response, error) {
	t := tripOf(req.Context())
	t.attempts++
	started := time.Now()
	sent := req.WithContext(req.Context()) // a copy, for a transport must not change the request that it is given
	sent.Header = t.header
	resp, err := a.next.RoundTrip(sent)
	if err != nil && !notSent(err) {
		t.lost = true
	}
	a.client.log(req, t, resp, err, time.Since(started))
	return resp, err
}

// newHTTPClient takes over the caller's client without what would break a promise: redirects are never followed (they would resend
// the body and forward X-Api-Key to another origin), and no cookies are kept.
func (c *Client) newHTTPClient(given *http.Client) *http.Client {
	next := http.RoundTripper(defaultTransport())
	var timeout time.Duration
	if given != nil {
		timeout = given.Timeout
		if given.Transport != nil {
			next = given.Transport
		}
	}
	return &http.Client{
		Transport:     attempt{next: next, client: c},
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// defaultTransport is the standard one with room for many callers of one host and an end to waiting for an answer.
func defaultTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 64
	t.MaxIdleConns = 64
	t.ResponseHeaderTimeout = 30 * time.Second
	return t
}
