package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// connTrace notes how far an attempt got, as net/http's transport reports it. An error does not show it: when the
// context ends, a wait for a connection and a wait for a response return the same error.
type connTrace struct {
	dialing   atomic.Bool // a connection was needed
	connected atomic.Bool // there was a connection, with its TLS handshake
	trace     httptrace.ClientTrace
}

// withTrace returns the context of a traced attempt. Only net/http's transport reports to it.
func (c *connTrace) withTrace(ctx context.Context) context.Context {
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
	return dns || errorbase.Final(err)
}

// sending is what an attempt needs on the heap. Each attempt has its own, because net/http may still use that of an
// earlier one.
type sending struct {
	request http.Request
	content bytes.Reader
	body    timedBody
	trace   connTrace // of a write: a read may always be repeated
}

// roundTrip sends the request of one attempt. It counts. Nothing below it sends a request again or follows a
// redirect, which would carry the body and X-Api-Key to another origin.
func (r *Request) roundTrip(ctx context.Context) (*http.Response, error) {
	c, started := r.client, time.Now()
	if r.attempts++; r.attempts == 1 {
		r.began = started
	}
	sent := new(sending)
	var traced *connTrace
	if r.op.write() {
		traced = &sent.trace
		ctx = traced.withTrace(ctx)
	}
	ctx, cancel := c.attemptContext(ctx)
	sent.prepare(ctx, r)
	stop := r.limitSilence(ctx, cancel)
	resp, err := corrected(c.next.Value().RoundTrip(&sent.request))
	if stop != nil && !stop() && err != nil {
		err = errSilence
	}
	r.unsent, r.final = err != nil && traced.notSent(err), err != nil && errorbase.Final(err)
	if err == nil {
		now := time.Now()
		c.watchClock(ctx, resp.Header, now)
		c.logAnnouncements(ctx, r, resp.Header)
		sent.body = timedBody{body: resp.Body, ctx: ctx, cancel: cancel, end: now.Add(bodyWhole)}
		resp.Body = &sent.body
	} else {
		r.silence += time.Since(started)
		err = unquoted(withoutURL(timedOut(ctx, err)))
		cancel()
	}
	c.log(ctx, r, resp, err, started)
	return resp, err
}

// prepare makes the request of an attempt.
func (s *sending) prepare(ctx context.Context, r *Request) {
	request := http.Request{
		Method: r.op.Method, URL: &r.target, Host: r.client.base.Host, Header: r.header, Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1,
	}
	if r.encoded != nil {
		s.content.Reset(r.encoded)
		// net/http knows this type. It sends the header of any other body as a packet of its own.
		request.Body, request.ContentLength = io.NopCloser(&s.content), int64(len(r.encoded))
	} else if r.call.Key != "" {
		request.Body = emptyBody{}
	}
	s.request = *request.WithContext(ctx)
}

// emptyBody is the body of a write that has a key and no body. net/http sends the request once, because it cannot know
// that the body can be sent again.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody) Close() error             { return nil }

// attemptContext applies the Timeout of the caller's client to an attempt, up to the end of its body.
func (c *Client) attemptContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.timeout > 0 {
		return context.WithTimeoutCause(ctx, c.timeout, errTimeout)
	}
	return context.WithCancel(ctx)
}

var errTimeout = fmt.Errorf("the attempt took longer than the Timeout of the http.Client: %w", context.DeadlineExceeded)

// timedOut returns errTimeout in place of err if the attempt was ended by it.
func timedOut(ctx context.Context, err error) error {
	if context.Cause(ctx) == errTimeout { //nolint:errorlint // it is that value
		return errTimeout
	}
	return err
}

// maxSilence is how long a call without a deadline waits for a service that does not respond, over all attempts. The
// first attempt has the limits of the default transport, which are as long together.
const maxSilence = 45 * time.Second

var errSilence = errors.New("the service has not responded for " + maxSilence.String())

// limitSilence ends a further attempt of a call without a deadline when the service has been silent for too long. It
// returns a function that stops the timer and reports whether that was in time, or nil if nothing limits the attempt.
func (r *Request) limitSilence(ctx context.Context, cancel context.CancelFunc) (stop func() bool) {
	if _, limited := ctx.Deadline(); limited || r.attempts == 1 {
		return nil
	}
	return time.AfterFunc(maxSilence-r.silence, cancel).Stop
}

// corrected corrects mistakes that a caller's transport may make, like http.Client.
func corrected(resp *http.Response, err error) (*http.Response, error) {
	switch {
	case err != nil:
		return nil, err
	case resp == nil:
		return nil, errNoResponse
	case resp.Body == nil:
		resp.Body = http.NoBody
	}
	return resp, nil
}

var errNoResponse = errors.New("the transport returned neither a response nor an error")

// unquoted returns err. If its text quotes something, it returns an error with the same text without the quotes. A
// transport quotes input that it cannot read. That can be a session's cookie, or the address of a proxy with its
// password.
func unquoted(err error) error {
	text := err.Error()
	without := withoutQuotes(text)
	if without == text {
		return err
	}
	return &unquotedError{
		text: without,
		is:   func(target error) bool { return errors.Is(err, target) },
		as:   func(target any) bool { return asUnquoted(err, target) },
	}
}

// They are compiled for the first error of a transport, which most programs never see.
var (
	quotes = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*(?:"|\\?$)`)
	})
	// lines matches what some releases of Go print without quotes.
	lines = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)(malformed MIME header[a-z ]*(?:: missing colon)?: ).*`)
	})
)

// withoutQuotes removes the quoted parts of a text. It does not use a list of messages: a later release of Go may quote
// in other messages.
func withoutQuotes(text string) string {
	text = lines().ReplaceAllString(text, `$1"..."`)
	if !strings.Contains(text, `"`) {
		return text
	}
	return quotes().ReplaceAllLiteralString(text, `"..."`)
}

// unquotedError replaces an error whose text quotes something. It holds that error in functions, because printers that
// use reflection would show a field.
type unquotedError struct {
	text string
	is   func(error) bool
	as   func(any) bool
}

func (q *unquotedError) Error() string { return q.text }

// Is implements the interface of errors.Is.
func (q *unquotedError) Is(target error) bool { return q.is(target) }

// As finds the causes that quote nothing.
func (q *unquotedError) As(target any) bool { return q.as(target) }

func asUnquoted(err error, target any) bool {
	wanted := reflect.ValueOf(target).Elem() // errors.As has checked that it is a pointer
	found := reflect.New(wanted.Type())
	if !errors.As(err, found.Interface()) {
		return false
	}
	cause, ok := found.Elem().Interface().(error)
	if !ok || withoutQuotes(cause.Error()) != cause.Error() {
		return false
	}
	wanted.Set(found.Elem())
	return true
}

// connections is the transport of a client whose caller sets none. After a request without a response, it uses new
// connections: an HTTP/2 connection on which a request timed out would serve all later ones. Requests that are under
// way on the old connections go on.
type connections struct {
	current atomic.Pointer[http.Transport]
}

func newConnections() *connections {
	c := &connections{}
	c.current.Store(defaultTransport())
	return c
}

// RoundTrip implements http.RoundTripper.
func (c *connections) RoundTrip(request *http.Request) (*http.Response, error) {
	current := c.current.Load()
	response, err := current.RoundTrip(request)
	if err != nil && request.Context().Err() == nil && responseTimedOut(err) {
		if c.current.CompareAndSwap(current, current.Clone()) {
			current.CloseIdleConnections()
		}
	}
	return response, err
}

// CloseIdleConnections is what http.Client calls.
func (c *connections) CloseIdleConnections() { c.current.Load().CloseIdleConnections() }

// responseTimedOut reports that the transport has waited too long for a response.
func responseTimedOut(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() && !dialFailed(err)
}

// defaultTransport is used if the caller sets no transport. It has TLS 1.2 or later, and a limit on the wait for a
// response. It notices by a ping, within ten seconds, that an HTTP/2 connection died without a FIN. It keeps as many
// connections as the program had calls under way at once, until they have been unused for IdleConnTimeout. With a
// smaller number, each further caller would open a connection for every call.
func defaultTransport() *http.Transport {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   math.MaxInt,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 5 * time.Second, PingTimeout: 5 * time.Second},
	}
	inheritNetwork(t)
	t.DialContext = dialWithin(maxDial, t.DialContext)
	t.OnProxyConnectResponse = checkProxyResponse
	return t
}

// maxDial leaves, of [maxSilence], ten seconds for TLS and thirty for the response.
const maxDial = 5 * time.Second

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

func dialWithin(limit time.Duration, dial dialer) dialer {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return dial(ctx, network, address)
	}
}

// inheritNetwork copies from http.DefaultTransport how this process reaches the network: its proxy, its dialer and its
// root certificates. It copies nothing that weakens TLS, such as InsecureSkipVerify, a lower version, a key log, or a
// function that makes TLS connections. A program may allow these for another server, but not for the service that holds
// its money.
func inheritNetwork(t *http.Transport) {
	standard, ok := http.DefaultTransport.(*http.Transport) //nolint:forbidigo // read, not used; a program may have put something else there
	if !ok {
		return
	}
	standard = standard.Clone() // net/http changes some fields at its first use, perhaps at this moment
	t.Proxy = standard.Proxy
	t.ProxyConnectHeader = standard.ProxyConnectHeader.Clone()
	t.GetProxyConnectHeader = standard.GetProxyConnectHeader
	t.DialContext = standard.DialContext
	if standard.TLSClientConfig != nil {
		t.TLSClientConfig.RootCAs = standard.TLSClientConfig.RootCAs
	}
}

// checkProxyResponse returns an error of our own. The error of net/http would hold the proxy's words.
func checkProxyResponse(_ context.Context, _ *url.URL, _ *http.Request, connect *http.Response) error {
	if connect.StatusCode != http.StatusOK {
		return fmt.Errorf("proxy refused the connection with status %d", connect.StatusCode)
	}
	return nil
}

// Bare sends requests that no operation describes. It has the guards of every other call: the SDK's own transport, no
// redirects, errors that quote nothing of a response, and a time limit for the body. It adds no credential. Each
// request has its own connection, so that net/http sends it once.
type Bare struct{ next http.RoundTripper }

// NewBare returns a Bare.
func NewBare() *Bare {
	next := defaultTransport()
	next.DisableKeepAlives = true
	next.ForceAttemptHTTP2 = false // which keeps its connections
	return &Bare{next}
}

// RoundTrip implements http.RoundTripper. The body of the response must be closed.
func (b *Bare) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	request = request.WithContext(ctx)
	request.GetBody = nil
	response, err := b.next.RoundTrip(request)
	if err != nil {
		cancel()
		return nil, unquoted(withoutURL(err))
	}
	dropUnreadableLocation(response.Header)
	response.Body = &timedBody{body: response.Body, ctx: ctx, cancel: cancel, end: time.Now().Add(bodyWhole)}
	return response, nil
}

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
