package transport_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// piped connects a client without its own transport to a service in memory.
func piped(t *testing.T, serve func(net.Conn)) func(*transport.Config) {
	t.Helper()
	return inPlaceOfDefault(t, &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go serve(theirs)
		return ours, nil
	}})
}

// serveOnce reads a request and writes a thing as the response.
func serveOnce(t *testing.T, conn net.Conn) *bufio.Reader {
	t.Helper()
	from := bufio.NewReader(conn)
	req, err := http.ReadRequest(from)
	if assert.NoError(t, err) {
		_ = req.Body.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	}
	return from
}

// A call does not wait for ever for a silent service: ten seconds for TLS, thirty for a response.
func TestTheDefaultTransportWaitsWithAnEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		baseURL string
		after   time.Duration
		kind    error
	}{
		"no handshake": {"https://127.0.0.1", 10 * time.Second, &errors.NotDelivered{}},
		"no answer":    {"http://127.0.0.1", 30 * time.Second, &errors.OutcomeUnknown{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := piped(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
				began := time.Now()
				_, err := send(t.Context(), newClient(t, tc.baseURL, set, retries(moneymovement.RetryPolicy{Max: -1})),
					&bookThing, transport.Call{})
				require.Error(t, err)
				assert.Equal(t, typeName(tc.kind), typeName(err))
				assert.Equal(t, tc.after, time.Since(began))
			})
		})
	}
}

// An unused connection is closed after a minute and a half, and used again until then.
func TestTheDefaultTransportKeepsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan time.Time, 1)
		var opened atomic.Int32
		set := piped(t, func(conn net.Conn) {
			opened.Add(1)
			serveOnce(t, conn)
			_, _ = serveOnce(t, conn).ReadByte()
			closed <- time.Now()
		})
		client := newClient(t, "http://127.0.0.1", set)
		began := time.Now()
		for range 2 {
			_, err := send(t.Context(), client, &readThing, transport.Call{})
			require.NoError(t, err)
			synctest.Wait()
		}
		assert.Equal(t, 90*time.Second, (<-closed).Sub(began))
		assert.EqualValues(t, 1, opened.Load())
	})
}

// The callers of one host keep their connections, however many they are. Connections that they do not need any more are
// closed.
func TestTheDefaultTransportKeepsAConnectionForEachCaller(t *testing.T) {
	const callers, rounds = 512, 4
	synctest.Test(t, func(t *testing.T) {
		var opened, open atomic.Int32
		set := piped(t, func(conn net.Conn) {
			opened.Add(1)
			open.Add(1)
			defer open.Add(-1)
			for {
				from := bufio.NewReader(conn)
				if _, err := http.ReadRequest(from); err != nil {
					return
				}
				time.Sleep(time.Second) // so that all are under way at once
				_, _ = io.WriteString(conn,
					"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
			}
		})
		client := newClient(t, "http://127.0.0.1", set)
		round := func(callers int) {
			for range callers {
				go func() {
					_, err := send(t.Context(), client, &readThing, transport.Call{})
					assert.NoError(t, err)
				}()
			}
			time.Sleep(10 * time.Second)
		}
		for range rounds {
			round(callers)
		}
		assert.EqualValues(t, callers, opened.Load(), "the other rounds found them all")
		assert.EqualValues(t, callers, open.Load())

		const fewer = 3
		for range 12 { // two minutes
			round(fewer)
		}
		assert.EqualValues(t, fewer, open.Load(), "the others were not used for 90 seconds")
		time.Sleep(2 * time.Minute)
		assert.Zero(t, open.Load())
	})
}

// The client uses HTTP/2 if the server does, although it inherits the dialer.
func TestTheDefaultTransportSpeaksHTTP2(t *testing.T) {
	spoken := make(chan string, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		spoken <- r.Proto
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, oneThing)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	set := inPlaceOfDefault(t,
		&http.Transport{DialContext: new(net.Dialer).DialContext, TLSClientConfig: &tls.Config{RootCAs: trusted}})
	_, err := send(t.Context(), newClient(t, server.URL, set), &readThing, transport.Call{})
	require.NoError(t, err)
	assert.Equal(t, "HTTP/2.0", <-spoken)
}

// The proxy gets the same header as from the process's default transport. What the proxy says in a refusal is not
// repeated.
func TestTheDefaultTransportTellsTheProxy(t *testing.T) {
	asked := make(chan http.Header, 4)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	t.Cleanup(proxy.Close)
	address, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	for name, next := range map[string]*http.Transport{
		"a header": {ProxyConnectHeader: http.Header{"X-Way": {"this one"}}},
		"a function": {GetProxyConnectHeader: func(context.Context, *url.URL, string) (http.Header, error) {
			return http.Header{"X-Way": {"this one"}}, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			next.Proxy = http.ProxyURL(address)
			_, err := send(t.Context(),
				newClient(t, host, inPlaceOfDefault(t, next), retries(moneymovement.RetryPolicy{Max: -1})), &bookThing,
				transport.Call{})
			_, undelivered := errors.AsType[*errors.NotDelivered](err)
			require.True(t, undelivered, "%v", err)
			require.ErrorContains(t, err, "407")
			assert.Equal(t, "this one", (<-asked).Get("X-Way"))
		})
	}
}
