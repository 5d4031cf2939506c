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

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/handshake"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
)

// tracker holds what is known about the attempts of one call.
type tracker struct {
	op        *Operation
	call      *Call
	request   *Request
	auth      Authorizer    // nil for no credential
	scope     string        // of the rate window
	retried   int           // retries since the call, or its renewed credential, began
	queued    time.Duration // time in line for the rate windows
	reserved  bool          // the next attempt already has its place in the rate windows
	attempts  int           // sent so far
	began     time.Time     // when the first attempt was sent
	silence   time.Duration // of the attempts without a response, and of the pauses after them
	askedBack time.Time     // when the service asked for the next attempt
	lost      bool          // an attempt got no complete response, and may have been carried out
	// an earlier attempt got a server error and may have been carried out
	doubted bool
	noTime  bool                   // the deadline left no room for another attempt
	unsent  bool                   // the last attempt had no connection, so the service cannot have received it
	final   bool                   // the last attempt's connection failed in a way that a next one would fail too
	answer  answer                 // of the last attempt; empty if it was lost or will be repeated
	most    int                    // items that a list of the response may have
	unread  []moneymovement.Unread // of the response
	shown   bool                   // the response held the resource
	stream  *streaming             // set to read a stream in place of a decoded response
	limited io.LimitedReader       // of the response body
	body    *timedBody             // of the last response
	// header is the header of the last attempt, with the credential. It shows the authorizer which token was refused.
	header http.Header
}

// connTrace notes how far an attempt got, as net/http's transport reports it. An error does not show it: when the
// context ends, a wait for a connection and a wait for a response return the same error.
type connTrace struct {
	dialing   atomic.Bool // a connection was needed
	connected atomic.Bool // there was a connection, with its TLS handshake
	trace     httptrace.ClientTrace
}

// watch returns the context of a traced attempt. Only net/http's transport reports to it.
func (c *connTrace) watch(ctx context.Context) context.Context {
	c.trace.GetConn = func(string) { c.dialing.Store(true) }
	c.trace.GotConn = func(httptrace.GotConnInfo) { c.connected.Store(true) }
	return httptrace.WithClientTrace(ctx, &c.trace)
}

// notSent reports that an attempt that failed with err had no connection.
func (c *connTrace) notSent(err error) bool {
	if c == nil {
		return dialFailed(err)
	}
	return !c.connected.Load() && (c.dialing.Load() || dialFailed(err))
}

// dialFailed reports that the error itself shows that there was no connection.
func dialFailed(err error) bool {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return true
	}
	_, dns := errors.AsType[*net.DNSError](err)
	return dns || handshake.Final(err)
}

// sending is what an attempt needs on the heap. Each attempt has its own, because net/http may still use that of an
// earlier one.
type sending struct {
	request http.Request
	body    timedBody
}

// watchedSending is that of an attempt that is traced.
type watchedSending struct {
	sending
	trace connTrace
}

// attempt is the last step of every attempt. It counts, sets the header, and sends.
func (c *Client) attempt(ctx context.Context, req *http.Request, t *tracker) (*http.Response, error) {
	started := time.Now()
	if t.attempts++; t.attempts == 1 {
		t.began = started
	}
	var sent *sending
	var traced *connTrace
	if t.op.write() {
		watched := new(watchedSending)
		sent, traced = &watched.sending, &watched.trace
		ctx = traced.watch(ctx)
	} else { // a read may always be repeated
		sent = new(sending)
	}
	ctx, cancel := context.WithCancel(ctx)
	sent.request = *req.WithContext(ctx) // a copy, because a transport must not change its request
	sent.request.Header = t.header
	stop := t.endSilence(ctx, cancel)
	resp, err := answered(c.next.Value().RoundTrip(&sent.request))
	if stop != nil && !stop() && err != nil {
		err = errSilence
	}
	t.unsent, t.final = err != nil && traced.notSent(err), err != nil && handshake.Final(err)
	if err == nil {
		dropUnreadableLocation(resp.Header)
		now := time.Now()
		c.watchClock(ctx, resp.Header, now)
		sent.body = timedBody{body: resp.Body, cancel: cancel, end: now.Add(bodyWhole)}
		t.body = &sent.body
		resp.Body = t.body
	} else {
		t.silence += time.Since(started)
		err = unquoted(withoutURL(err))
		cancel()
	}
	c.log(ctx, t, resp, err, started)
	return resp, err
}

// maxSilence is how long a call without a deadline waits for a service that does not respond, over all attempts. The
// first attempt has the limits of the default transport, which are as long together.
const maxSilence = 45 * time.Second

var errSilence = errors.New("the service has not responded for " + maxSilence.String())

// endSilence ends a further attempt of a call without a deadline when the service has been silent for too long. It
// returns a function that stops the timer and reports whether that was in time, or nil if nothing limits the attempt.
func (t *tracker) endSilence(ctx context.Context, cancel context.CancelFunc) (stop func() bool) {
	if _, limited := ctx.Deadline(); limited || t.attempts == 1 {
		return nil
	}
	return time.AfterFunc(maxSilence-t.silence, cancel).Stop
}

// answered corrects mistakes that a caller's transport may make, like http.Client.
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

// dropUnreadableLocation removes a Location that cannot be parsed. http.Client reads it even if it does not follow
// redirects, and its error would print it.
func dropUnreadableLocation(h http.Header) {
	locations := h["Location"]
	if len(locations) == 0 {
		return // the usual case
	}
	if _, err := url.Parse(locations[0]); err != nil {
		h.Del("Location")
	}
}

// takeOver copies the transport and the timeout of the caller's client, and wraps the transport. It does not copy
// cookies and redirects.
func (c *Client) takeOver(config *Config) error {
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

// httpClient returns the client that go-retryablehttp uses, and that applies a Timeout. It never follows redirects:
// they would send the body and X-Api-Key to another origin.
func (c *Client) httpClient(t *tracker) *http.Client {
	return &http.Client{
		Transport:     attempts{c, t},
		Timeout:       c.timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// attempts makes the attempts of one call. It gives http.Client no header, because http.Client would copy it, with the
// credential, for redirects. It also hides CloseIdleConnections of the inner transport: go-retryablehttp calls it when
// a call gives up, and that would close the connections of all other calls.
type attempts struct {
	client  *Client
	tracker *tracker
}

// RoundTrip implements http.RoundTripper.
func (a attempts) RoundTrip(req *http.Request) (*http.Response, error) {
	return a.client.attempt(req.Context(), req, a.tracker)
}
