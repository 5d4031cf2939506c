package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
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

// counted starts a server that counts its connections.
func counted(t *testing.T, handler http.HandlerFunc) (server *httptest.Server, opened *atomic.Int32) {
	t.Helper()
	opened = new(atomic.Int32)
	server = httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server, opened
}

// A response that is retried is read to its end first, so that the next attempt uses the same connection.
func TestRefusedAttemptsKeepTheirConnection(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			var seen atomic.Int32
			server, opened := counted(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if seen.Add(1) < 4 {
					w.WriteHeader(status)
					_, _ = io.WriteString(w,
						`{"error":{"code":"rate_limited","message":"a body that has to be read to the end"}}`)
					return
				}
				_, _ = io.WriteString(w, oneThing)
			})
			_, err := send(t.Context(), newClient(t, server.URL), &bookThing, transport.Call{})
			require.NoError(t, err)
			assert.EqualValues(t, 4, seen.Load())
			assert.EqualValues(t, 1, opened.Load(), "connections")
		})
	}
}

// One call that gives up closes no idle connection of the others.
func TestGivingUpLeavesOtherCallsTheirConnections(t *testing.T) {
	server, opened := counted(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			panic(http.ErrAbortHandler) // no response
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, oneThing)
	})
	shared := &idleClosing{RoundTripper: &http.Transport{}}
	client := newClient(t, server.URL, through(shared), retries(moneymovement.RetryPolicy{Max: -1}))

	_, err := send(t.Context(), client, &readThing, transport.Call{})
	require.NoError(t, err)
	_, err = send(t.Context(), client, &spendThing, transport.Call{}) // takes the kept connection, which dies
	require.Error(t, err)
	_, err = send(t.Context(), client, &readThing, transport.Call{})
	require.NoError(t, err)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = send(cancelled, client, &readThing, transport.Call{})
	require.Error(t, err)

	before := opened.Load()
	_, err = send(t.Context(), client, &readThing, transport.Call{})
	require.NoError(t, err)
	assert.Equal(t, before, opened.Load(), "the kept connection is still there")
	assert.Zero(t, shared.asked.Load())
}

// idleClosing notes calls of CloseIdleConnections.
type idleClosing struct {
	http.RoundTripper
	asked atomic.Int32
}

func (c *idleClosing) CloseIdleConnections() { c.asked.Add(1) }

// A write without a connection was not sent, however the wait for the connection ended.
func TestFailedConnectionsAreNotDelivered(t *testing.T) {
	cutHandshake := func(ctx context.Context, network, address string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = theirs.Read(make([]byte, 1))
			_ = theirs.Close()
		}()
		return ours, nil
	}
	for name, tc := range map[string]struct {
		transport *http.Transport
		url       string
	}{
		"refused":              {&http.Transport{}, "http://127.0.0.1:1"},
		"handshake breaks off": {&http.Transport{DialContext: cutHandshake}, host},
		"proxy cannot be reached": {&http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http",
			Host: "127.0.0.1:1"})}, host},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sendKeyed(t.Context(), newClient(t, tc.url, through(tc.transport)), &spendThing, transport.Call{})
			assert.Equal(t, 4, requireUndelivered(t, err).Attempts)
		})
	}
}

func TestADialThatOutlastsTheDeadlineIsNotDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		defer close(over)
		hanging := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			<-over // net/http goes on dialing for whoever comes next
			return nil, net.ErrClosed
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := sendKeyed(ctx, newClient(t, "http://127.0.0.1:1", through(hanging)), &spendThing, transport.Call{})
		assert.Equal(t, 1, requireUndelivered(t, err).Attempts)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func requireUndelivered(t *testing.T, err error) *errors.NotDelivered {
	t.Helper()
	var undelivered *errors.NotDelivered
	require.ErrorAs(t, err, &undelivered)
	assert.Equal(t, errors.NotMoved, undelivered.MovedByCall())
	assert.NotEmpty(t, undelivered.IdempotencyKey)
	return undelivered
}

// A service that cannot prove its identity gets nothing, and is not tried again: the next handshake would fail too.
func TestCertificatesThatCannotBeVerifiedAreFinal(t *testing.T) {
	strangers := httptest.NewUnstartedServer(http.NotFoundHandler())
	// it complains about every handshake
	strangers.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	strangers.StartTLS()
	defer strangers.Close()
	strict := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	defer strict.CloseIdleConnections()

	for name, next := range map[string]http.RoundTripper{
		"net/http":            strict,
		"a foreign transport": script(fails(fmt.Errorf("dialing: %w", &tls.CertificateVerificationError{Err: io.EOF}))),
	} {
		for _, op := range []*transport.Operation{&readThing, &bookThing, &spendThing} {
			t.Run(name+"/"+op.ID, func(t *testing.T) {
				_, err := send(t.Context(), newClient(t, strangers.URL, through(next)), op, transport.Call{})
				var undelivered *errors.NotDelivered
				require.ErrorAs(t, err, &undelivered)
				assert.Equal(t, 1, undelivered.Attempts)
				assert.False(t, undelivered.Retryable())
				assert.Equal(t, errors.NotMoved, undelivered.MovedByCall())
				_, shown := errors.AsType[*tls.CertificateVerificationError](err)
				assert.True(t, shown)
			})
		}
	}
}

// A transport other than net/http's reports only its error.
func TestForeignTransportsAreJudgedByTheirErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		outcome     step
		undelivered bool
	}{
		"dial error":  {noConnection, true},
		"name error":  {noSuchHost, true},
		"read error":  {lostResponse, false},
		"other error": {fails(io.EOF), false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := send(t.Context(), newClient(t, host, through(script(tc.outcome))), &spendThing, transport.Call{})
			var undelivered *errors.NotDelivered
			assert.Equal(t, tc.undelivered, errors.As(err, &undelivered), "%v", err)
			var unknown *errors.InDoubt
			assert.Equal(t, !tc.undelivered, errors.As(err, &unknown), "%v", err)
		})
	}
}

// A program may have replaced http.DefaultTransport.
func TestDefaultTransportMayBeAnything(t *testing.T) {
	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })
	http.DefaultTransport = script(noConnection)

	server, _ := counted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, oneThing)
	})
	client, err := transport.New(server.URL, "/v1", transport.Config{})
	require.NoError(t, err)
	_, err = send(t.Context(), client, &readThing, transport.Call{})
	require.NoError(t, err)
}

// The caller's own trace is called for the connection too.
func TestCallersHTTPTraceIsCalled(t *testing.T) {
	server, _ := counted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, oneThing)
	})
	var connections atomic.Int32
	ctx := httptrace.WithClientTrace(t.Context(),
		&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connections.Add(1) }})
	_, err := send(ctx, newClient(t, server.URL), &bookThing, transport.Call{})
	require.NoError(t, err)
	assert.EqualValues(t, 1, connections.Load())
}

// countedWrites is a connection that counts the writes of its client.
type countedWrites struct {
	net.Conn
	writes *atomic.Int32
}

func (c countedWrites) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// A request is one write to its connection: the header does not travel before the body.
func TestARequestIsWrittenAtOnce(t *testing.T) {
	server, _ := counted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, oneThing)
	})
	var writes atomic.Int32
	dialing := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return countedWrites{conn, &writes}, err
	}}
	t.Cleanup(dialing.CloseIdleConnections)
	client := newClient(t, server.URL, through(dialing))
	for range 3 {
		_, err := send(t.Context(), client, &bookThing, transport.Call{})
		require.NoError(t, err)
	}
	assert.EqualValues(t, 3, writes.Load())
}

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
		"no response":  {"http://127.0.0.1", 30 * time.Second, &errors.InDoubt{}},
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
func TestDefaultTransportSendsTheProxyHeader(t *testing.T) {
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

// What no operation describes has the guards of every other call.
func TestABareRequestIsGuarded(t *testing.T) {
	sent := func(method, url string) (*http.Response, error) {
		request, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
		require.NoError(t, err)
		return transport.NewBare().RoundTrip(request)
	}
	for name, response := range map[string]string{
		"a malformed header": "HTTP/1.1 200 OK\r\nplanted\r\n\r\n", "no HTTP": "planted\r\n\r\n",
		"a malformed length": "HTTP/1.1 200 OK\r\nContent-Length: planted\r\n\r\n",
	} {
		_, err := sent(http.MethodGet, "http://user:planted@"+raw(t, response)+"/?planted=1") //nolint:bodyclose // an error
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "planted", name)
	}
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	response, err := sent(http.MethodPost, server.URL)
	require.NoError(t, err)
	assert.Equal(t, http.StatusTemporaryRedirect, response.StatusCode)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, 1, calls)
}

// secured starts a server that returns a thing over TLS.
func secured(t *testing.T, config *tls.Config) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, oneThing)
	}))
	// it complains about every handshake that fails
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.TLS = config
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// inPlaceOfDefault sets http.DefaultTransport for a test, and returns a setting for a client without its own transport.
func inPlaceOfDefault(t *testing.T, next http.RoundTripper) func(*transport.Config) {
	t.Helper()
	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })
	http.DefaultTransport = next
	return func(c *transport.Config) { c.HTTPClient = &http.Client{} }
}

// The server will speak the same protocol at the next attempt, and nothing was sent.
func TestVersionsOfTLSAreFinal(t *testing.T) {
	own := func(*transport.Config) {}
	without := inPlaceOfDefault(t, http.DefaultTransport)
	old := secured(t, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}).URL
	plain, _ := counted(t, func(http.ResponseWriter, *http.Request) {})
	impossible := through(&http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13,
		MaxVersion: tls.VersionTLS12}})
	hello := "\x02\x00\x00\x26\x03\x02" + strings.Repeat("r", 32) + "\x00\x00\x2f\x00"
	selects := listen(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4<<10))
		_, _ = io.WriteString(conn, "\x16\x03\x02\x00\x2a"+hello)
		_, _ = io.Copy(io.Discard, conn)
	})
	chatter := listen(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4<<10))
		_, _ = io.WriteString(conn, "220 another service\r\n")
	})
	for name, tc := range map[string]struct {
		baseURL, says string
		set           func(*transport.Config)
	}{
		"a server of 1.1":      {old, "protocol version not supported", without},
		"1.1 is selected":      {"https://" + selects, "server selected unsupported protocol version", without},
		"no version in common": {old, "no supported versions", impossible},
		"a server without TLS": {strings.Replace(plain.URL, "http:", "https:", 1), "HTTP response to HTTPS client",
			without},
		"a server of no HTTP": {"https://" + chatter, "does not look like a TLS handshake", without},
		"a client of the caller": {strings.Replace(plain.URL, "http:", "https:", 1), "HTTP response to HTTPS client",
			own},
	} {
		for _, op := range []*transport.Operation{&readThing, &bookThing, &spendThing} {
			t.Run(name+"/"+op.ID, func(t *testing.T) {
				_, err := send(t.Context(), newClient(t, tc.baseURL, tc.set), op, transport.Call{})
				undelivered, ok := errors.AsType[*errors.NotDelivered](err)
				require.True(t, ok, "%v", err)
				require.ErrorContains(t, err, tc.says)
				assert.Equal(t, 1, undelivered.Attempts)
				assert.False(t, undelivered.Retryable())
				assert.Equal(t, errors.NotMoved, undelivered.MovedByCall())
			})
		}
	}
}

// A damaged record after the handshake does not mean that nothing was sent.
func TestDamagedRecordsAreNoVersion(t *testing.T) {
	baseURL, trusting := served(t, &tls.Config{MinVersion: tls.VersionTLS12}, func(conn *tls.Conn) {
		_, _ = conn.Read(make([]byte, 4<<10))
		_, _ = io.WriteString(conn.NetConn(), "220 no record at all\r\n")
	})
	_, err := send(t.Context(), newClient(t, baseURL, through(&http.Transport{TLSClientConfig: trusting})), &spendThing,
		transport.Call{})
	_, unknown := errors.AsType[*errors.InDoubt](err)
	require.True(t, unknown, "%v", err)
}

// A host that asks for a certificate gets the one in the caller's transport.
func TestMutualTLS(t *testing.T) {
	server := secured(t, &tls.Config{ClientAuth: tls.RequireAnyClientCert})
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	with := func(certificates ...tls.Certificate) func(*transport.Config) {
		return through(&http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: trusted,
			MinVersion: tls.VersionTLS12, Certificates: certificates}})
	}
	_, err := send(t.Context(), newClient(t, server.URL, with()), &readThing, transport.Call{})
	require.Error(t, err)
	_, err = send(t.Context(), newClient(t, server.URL, with(server.TLS.Certificates...)), &readThing, transport.Call{})
	require.NoError(t, err)
}

// Weak TLS settings of the process are not for this server.
func TestDefaultTransportInheritsNoWeakness(t *testing.T) {
	strangers := secured(t, nil)
	trusted := x509.NewCertPool()
	trusted.AddCert(strangers.Certificate())
	old := secured(t, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	refuses := func(t *testing.T, baseURL string, next *http.Transport) error {
		t.Helper()
		_, err := send(t.Context(), newClient(t, baseURL, inPlaceOfDefault(t, next)), &readThing, transport.Call{})
		_, undelivered := errors.AsType[*errors.NotDelivered](err)
		require.True(t, undelivered, "%v", err)
		return err
	}
	t.Run("InsecureSkipVerify", func(t *testing.T) {
		err := refuses(t, strangers.URL, &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}})
		_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
		assert.True(t, certificate, "%v", err)
	})
	t.Run("MinVersion", func(t *testing.T) {
		err := refuses(t, old.URL,
			&http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS10}})
		assert.ErrorContains(t, err, "protocol version not supported")
	})
	t.Run("DialTLSContext", func(t *testing.T) {
		refuses(t, strangers.URL,
			&http.Transport{DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
				return dialer.DialContext(ctx, network, address)
			}})
	})
	t.Run("KeyLogWriter", func(t *testing.T) {
		var keys bytes.Buffer
		set := inPlaceOfDefault(t, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, KeyLogWriter: &keys}})
		_, err := send(t.Context(), newClient(t, strangers.URL, set), &readThing, transport.Call{})
		require.NoError(t, err)
		assert.Empty(t, keys.String())
	})
}

// Settings of the process's network are for this server too.
func TestDefaultTransportInheritsProxyDialerAndRoots(t *testing.T) {
	server := secured(t, nil)
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	var dialed atomic.Int32
	set := inPlaceOfDefault(t, &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialed.Add(1)
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	})
	_, err := send(t.Context(), newClient(t, server.URL, set), &readThing, transport.Call{})
	require.NoError(t, err)
	assert.EqualValues(t, 1, dialed.Load())
}

// The first use of http.DefaultTransport changes some of its fields. A client may be made at this moment, such as while
// a test server of another test closes its connections.
func TestAClientIsMadeWhileTheDefaultTransportIsFirstUsed(t *testing.T) {
	standard := &http.Transport{ForceAttemptHTTP2: true}
	without := inPlaceOfDefault(t, standard)
	var used sync.WaitGroup
	used.Go(standard.CloseIdleConnections)
	newClient(t, host, without)
	used.Wait()
}

// After a request that timed out, the connections that nobody uses are closed. They stay after any other failure.
func TestWhichFailuresCloseConnections(t *testing.T) {
	silent := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	for name, tc := range map[string]struct {
		second func(net.Conn)
		within time.Duration
		closes time.Duration // when the connection of another call is closed
	}{
		"no response":         {silent, time.Hour, 30 * time.Second},
		"a deadline":          {silent, 10 * time.Second, 91 * time.Second},
		"a closed connection": {func(conn net.Conn) { _ = conn.Close() }, time.Hour, 91 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, closed := time.Now(), make(chan time.Duration, 1)
				var opened atomic.Int32
				set := piped(t, func(conn net.Conn) {
					if opened.Add(1) > 1 {
						tc.second(conn)
						return
					}
					time.Sleep(time.Second)
					_, _ = serveOnce(t, conn).ReadByte()
					closed <- time.Since(began)
				})
				client := newClient(t, "http://127.0.0.1", set, retries(moneymovement.RetryPolicy{Max: -1}))
				var first sync.WaitGroup
				first.Go(func() {
					_, err := send(t.Context(), client, &readThing, transport.Call{})
					assert.NoError(t, err)
				})
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), tc.within)
				defer cancel()
				_, err := send(ctx, client, &readThing, transport.Call{})
				require.Error(t, err)
				first.Wait()
				assert.Equal(t, tc.closes, <-closed)
			})
		})
	}
}

// A transport of the program that is around the default one can close its unused connections.
func TestTheDefaultTransportClosesItsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan struct{})
		set := piped(t, func(conn net.Conn) {
			_, _ = serveOnce(t, conn).ReadByte()
			close(closed)
		})
		var wrapped http.RoundTripper
		began := time.Now()
		client := newClient(t, "http://127.0.0.1", set, func(c *transport.Config) {
			c.Transports = append(c.Transports, func(next http.RoundTripper) http.RoundTripper {
				wrapped = next
				return next
			})
		})
		_, err := send(t.Context(), client, &readThing, transport.Call{})
		require.NoError(t, err)
		synctest.Wait()
		(&http.Client{Transport: wrapped}).CloseIdleConnections()
		<-closed
		assert.Zero(t, time.Since(began))
	})
}

// What a program's dialer holds for a connection ends with the dial.
func TestTheContextOfADialEndsWithIt(t *testing.T) {
	server := secured(t, nil)
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	var dialed context.Context
	set := inPlaceOfDefault(t, &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialed = ctx //nolint:fatcontext // the test looks at how it ends
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	})
	_, err := send(t.Context(), newClient(t, server.URL, set), &readThing, transport.Call{})
	require.NoError(t, err)
	assert.ErrorIs(t, dialed.Err(), context.Canceled)
}

// A bare request has a connection of its own, also to a server that speaks HTTP/2.
func TestABareRequestHasAConnectionOfItsOwn(t *testing.T) {
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	}))
	server.EnableHTTP2 = true
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	inPlaceOfDefault(t, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}})
	bare := transport.NewBare()
	for range 2 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		require.NoError(t, err)
		response, err := bare.RoundTrip(request)
		require.NoError(t, err)
		spoken, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		assert.Equal(t, "HTTP/1.1", string(spoken))
		require.NoError(t, response.Body.Close())
	}
	assert.EqualValues(t, 2, opened.Load())
}

// A Location that cannot be read is removed, and any other one stays.
func TestInvalidLocationHeaderIsRemoved(t *testing.T) {
	for location, kept := range map[string]string{"/elsewhere": "/elsewhere", "http://a:planted/": "", "": ""} {
		head := "HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\n"
		if location != "" {
			head += "Location: " + location + "\r\n"
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+raw(t, head+"\r\n"),
			http.NoBody)
		require.NoError(t, err)
		response, err := transport.NewBare().RoundTrip(request)
		require.NoError(t, err)
		assert.Equal(t, kept, response.Header.Get("Location"))
		require.NoError(t, response.Body.Close())
	}
}

// The body of a bare request has an end.
func TestTheBodyOfABareRequestHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		piped(t, func(conn net.Conn) {
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
			_, _ = io.Copy(io.Discard, conn)
		})
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1", http.NoBody)
		require.NoError(t, err)
		response, err := transport.NewBare().RoundTrip(request)
		require.NoError(t, err)
		began := time.Now()
		_, err = io.ReadAll(response.Body)
		require.ErrorContains(t, err, "the response body takes too long")
		assert.Equal(t, 30*time.Second, time.Since(began))
		require.NoError(t, response.Body.Close())
	})
}
