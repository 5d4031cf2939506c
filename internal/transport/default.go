package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"
)

// defaultTransport is used if the caller sets no transport. It has TLS 1.2 or later, and a limit on the wait for a
// response. It keeps as many connections as the program had calls under way at once, until they have been unused for
// IdleConnTimeout. With a smaller number, each further caller would open a connection for every call.
func defaultTransport() *http.Transport {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   math.MaxInt,
	}
	inheritWay(t)
	t.OnProxyConnectResponse = proxyAnswered
	return t
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
