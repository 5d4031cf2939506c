package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

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
	if err != nil && request.Context().Err() == nil && unanswered(err) {
		if c.current.CompareAndSwap(current, current.Clone()) {
			current.CloseIdleConnections()
		}
	}
	return response, err
}

// CloseIdleConnections is what http.Client calls.
func (c *connections) CloseIdleConnections() { c.current.Load().CloseIdleConnections() }

// unanswered reports that the transport has waited too long for a response.
func unanswered(err error) bool {
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
	inheritWay(t)
	t.DialContext = dialWithin(maxDial, t.DialContext)
	t.OnProxyConnectResponse = proxyAnswered
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

// inheritWay copies from http.DefaultTransport how this process reaches the network: its proxy, its dialer and its root
// certificates. It copies nothing that weakens TLS, such as InsecureSkipVerify, a lower version, a key log, or a
// function that makes TLS connections. A program may allow these for another server, but not for the service that holds
// its money.
func inheritWay(t *http.Transport) {
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

// proxyAnswered returns an error of our own. The error of net/http would hold the proxy's words.
func proxyAnswered(_ context.Context, _ *url.URL, _ *http.Request, connect *http.Response) error {
	if connect.StatusCode != http.StatusOK {
		return fmt.Errorf("proxy refused the connection with status %d", connect.StatusCode)
	}
	return nil
}

// Bare sends requests that no operation describes, with the guards of every other call: the SDK's own transport, no
// redirect, no words of a proxy or of a malformed response in an error, and no body that never ends. It adds no
// credential, and sends nothing twice: each request has a connection of its own, on which net/http does not send it
// again.
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
