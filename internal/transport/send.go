package transport

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/handshake"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// tracker holds what is known about the attempts of one call.
type tracker struct {
	op       *Operation
	call     *Call
	request  *Request
	auth     Authorizer    // nil for no credential
	scope    string        // of the rate window
	retried  int           // since the call, or its renewal, began
	queued   time.Duration // in line for the rate windows
	reserved bool          // the next attempt has its place in the rate windows already
	attempts int           // sent so far
	began    time.Time     // when the first attempt was sent
	lost     bool          // an attempt got no whole answer and may have been carried out
	// an earlier attempt got a server error and may have been carried out
	doubted bool
	noTime  bool             // the deadline left no room for another attempt
	unsent  bool             // the last attempt had no connection, so that the service cannot have seen it
	final   bool             // the last attempt's connection was refused in a way that the next will be, too
	answer  answer           // the last attempt's, none if it was lost or is tried again
	unread  []wire.Unread    // of the answer
	shown   bool             // the answer held the resource
	stream  *streaming       // wanted instead of a decoded answer, or nil
	limited io.LimitedReader // of the answer's body
	body    *timedBody       // of the last answer
	// header is what the last attempt sent, with the credential. The authorizer learns from it which token was refused.
	header http.Header
}

// connTrace notes how far an attempt got, as net/http's transport reports it. An error alone does not show it: when the
// context ends, waiting for a connection and waiting for a response end in the same error.
type connTrace struct {
	dialing   atomic.Bool // a connection was asked for
	connected atomic.Bool // there was one, with its TLS handshake done
	trace     httptrace.ClientTrace
}

// watch returns the context of a traced attempt. Transports other than net/http's report nothing.
func (c *connTrace) watch(ctx context.Context) context.Context {
	c.trace.GetConn = func(string) { c.dialing.Store(true) }
	c.trace.GotConn = func(httptrace.GotConnInfo) { c.connected.Store(true) }
	return httptrace.WithClientTrace(ctx, &c.trace)
}

// notSent reports that an attempt that ended in err had no connection.
func (c *connTrace) notSent(err error) bool {
	if c == nil {
		return dialFailed(err)
	}
	return !c.connected.Load() && (c.dialing.Load() || dialFailed(err))
}

// dialFailed reports what the error alone says about the connection.
func dialFailed(err error) bool {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return true
	}
	_, dns := errors.AsType[*net.DNSError](err)
	return dns || handshake.Final(err)
}

// attempt is the innermost step of every attempt: it counts and sends. It gives the request its header.
func (c *Client) attempt(ctx context.Context, req *http.Request, t *tracker) (*http.Response, error) {
	started := time.Now()
	if t.attempts++; t.attempts == 1 {
		t.began = started
	}
	var traced *connTrace
	if t.op.write() { // a read may be repeated however far it got
		traced = new(connTrace)
		ctx = traced.watch(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	sent := req.WithContext(ctx) // a copy, for a transport must not change the request that it is given
	sent.Header = t.header
	resp, err := answered(c.next.Value().RoundTrip(sent))
	t.unsent, t.final = err != nil && traced.notSent(err), err != nil && handshake.Final(err)
	if err == nil {
		dropUnreadableLocation(resp.Header)
		c.clock.observe(resp.Header, time.Now())
		t.body = newTimedBody(resp.Body, cancel)
		resp.Body = t.body
	} else {
		err = unquoted(withoutURL(err))
		cancel()
	}
	c.log(ctx, t, resp, err, started)
	return resp, err
}

// answered corrects what a caller's transport may get wrong, as http.Client does.
func answered(resp *http.Response, err error) (*http.Response, error) {
	switch {
	case err != nil:
		return nil, err
	case resp == nil:
		return nil, errNoAnswer
	case resp.Body == nil:
		resp.Body = http.NoBody
	}
	return resp, nil
}

var errNoAnswer = errors.New("the transport returned neither a response nor an error")

// dropUnreadableLocation removes a redirect's address that cannot be parsed. http.Client reads it even if it does not
// follow it, and its error would print the address.
func dropUnreadableLocation(h http.Header) {
	if _, err := url.Parse(h.Get("Location")); err != nil {
		h.Del("Location")
	}
}

// takeOver takes from the caller's client the transport and the timeout. It does not take cookies and redirects.
func (c *Client) takeOver(given *http.Client) {
	next := http.RoundTripper(defaultTransport())
	if given != nil {
		c.timeout = given.Timeout
		if given.Transport != nil {
			next = given.Transport
		}
	}
	c.next = Hide(next)
}

// httpClient returns the client that go-retryablehttp sends with, and that enforces a Timeout. Redirects are never
// followed: they would send the body and X-Api-Key to another origin.
func (c *Client) httpClient(t *tracker) *http.Client {
	return &http.Client{
		Transport:     attempts{c, t},
		Timeout:       c.timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// attempts makes the attempts of one call. http.Client gets no header: it would copy it at once, with the credential,
// for redirects that are never followed. It gets no CloseIdleConnections of the inner transport either:
// go-retryablehttp calls it when a call gives up, and that would close the connections of all other calls.
type attempts struct {
	client  *Client
	tracker *tracker
}

// RoundTrip implements http.RoundTripper.
func (a attempts) RoundTrip(req *http.Request) (*http.Response, error) {
	return a.client.attempt(req.Context(), req, a.tracker)
}
