package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// defaultTransport is what sends if the caller gives nothing: with TLS 1.2 at least, with room for many callers of one
// host, and with an end to waiting for an answer.
func defaultTransport() *http.Transport {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConns:          64,
		MaxIdleConnsPerHost:   64,
	}
	inheritWay(t)
	t.OnProxyConnectResponse = proxyAnswered
	return t
}

// inheritWay takes over from http.DefaultTransport how this process gets to the network: its proxy, its dialer, and the
// authorities that it trusts. It takes nothing that makes TLS prove less or show more, such as InsecureSkipVerify, a
// lower version, a log of keys, or a function that makes TLS connections: what a program allows one of its peers is not
// for the one that holds its money.
func inheritWay(t *http.Transport) {
	standard, ok := http.DefaultTransport.(*http.Transport) //nolint:forbidigo // read, not used; a program may have put something else there
	if !ok {
		return
	}
	t.Proxy = standard.Proxy
	t.ProxyConnectHeader = standard.ProxyConnectHeader.Clone()
	t.GetProxyConnectHeader = standard.GetProxyConnectHeader
	t.DialContext = standard.DialContext
	if standard.TLSClientConfig != nil {
		t.TLSClientConfig.RootCAs = standard.TLSClientConfig.RootCAs
	}
}

// proxyAnswered ends in an error of our own where net/http's would be the proxy's words.
func proxyAnswered(_ context.Context, _ *url.URL, _ *http.Request, connect *http.Response) error {
	if connect.StatusCode != http.StatusOK {
		return fmt.Errorf("proxy refused the connection with status %d", connect.StatusCode)
	}
	return nil
}
