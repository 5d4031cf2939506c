package transport_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
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

// Followed, a redirect would hand the credential's header and the body to whoever the response names.
func TestRedirectsAreNeverFollowed(t *testing.T) {
	var reached atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer elsewhere.Close()

	for name, location := range map[string]string{
		"to another host":          elsewhere.URL + "/stolen?token=t",
		"to the same host":         "/v1/elsewhere",
		"without a scheme":         "//" + elsewhere.Listener.Addr().String() + "/stolen",
		"to nowhere":               "",
		"to what is no URL":        "http://[::1%zz/?token=t",
		"to what is no URL either": "https://a b.example/%zz?token=t",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, op := range []*transport.Operation{&readThing, &bookThing, &deleteThing, &spendThing} {
				t.Run(name+"/"+http.StatusText(status)+"/"+op.ID, func(t *testing.T) {
					var seen atomic.Int32
					server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						seen.Add(1)
						assert.Equal(t, "secret", r.Header.Get("X-Api-Key"))
						if location != "" {
							w.Header()["Location"] = []string{location}
						}
						w.WriteHeader(status)
					}))
					defer server.Close()

					var response moneymovement.Response
					client := newClient(t, server.URL, authorizedBy(keyCredential{}))
					_, err := send(t.Context(), client, op, transport.Kept(&response))

					assert.NotContains(t, err.Error(), "token")
					unknown, lost := errors.AsType[*errors.InDoubt](err)
					assert.Equal(t, op.Method != http.MethodGet, lost, "%v", err)
					if lost {
						err = unknown.Cause
					}
					var unexpected *errors.UnexpectedResponse
					require.ErrorAs(t, err, &unexpected)
					assert.Equal(t, status, unexpected.Status)
					assert.EqualValues(t, 1, seen.Load(), "not sent again either")
					assert.Equal(t, status, response.Status)
				})
			}
		}
	}
	assert.Zero(t, reached.Load())
}

// A retry follows no redirect either, not even to the same host: the response of its target would count as that to
// the call.
func TestARetryFollowsNoRedirect(t *testing.T) {
	for name, location := range map[string]string{
		"the same path": "", "another path": "/v1/elsewhere", "with the host": "http://service.example/v1/things/t_1",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, op := range []*transport.Operation{&readThing, &bookThing, &deleteThing, &spendThing} {
				t.Run(name+"/"+http.StatusText(status)+"/"+op.ID, func(t *testing.T) {
					var paths []string
					server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						paths = append(paths, r.URL.Path)
						switch len(paths) {
						case 1:
							w.Header().Set("Retry-After", "0")
							w.WriteHeader(http.StatusTooManyRequests)
							return
						case 3: // which nobody may get
							return
						}
						to := strings.Replace(location, "service.example", r.Host, 1)
						w.Header().Set("Location", cmp.Or(to, r.URL.Path))
						w.WriteHeader(status)
					}))
					defer server.Close()

					client := newClient(t, server.URL, authorizedBy(keyCredential{}))
					_, err := send(t.Context(), client, op, transport.Call{})
					if unknown, lost := errors.AsType[*errors.InDoubt](err); lost {
						err = unknown.Cause
					}
					var unexpected *errors.UnexpectedResponse
					require.ErrorAs(t, err, &unexpected)
					assert.Equal(t, status, unexpected.Status)
					require.Len(t, paths, 2, "the call and its retry")
					assert.Equal(t, paths[0], paths[1])
				})
			}
		}
	}
}

// What the caller's own client would do on redirects or with cookies does not count.
func TestRedirectsAndCookiesOfTheCallersClientAreIgnored(t *testing.T) {
	jar := new(jarOfOne)
	var cookies atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookies.Add(int32(len(r.Cookies())))
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
		http.Redirect(w, r, "/v1/elsewhere", http.StatusFound)
	}))
	defer server.Close()
	given := server.Client()
	given.Jar = jar
	given.CheckRedirect = func(*http.Request, []*http.Request) error {
		assert.Fail(t, "asked about a redirect")
		return nil
	}
	client := newClient(t, server.URL, func(c *transport.Config) { c.HTTPClient = given })
	for range 2 {
		_, err := send(t.Context(), client, &readThing, transport.Call{})
		require.Error(t, err)
	}
	assert.Zero(t, cookies.Load())
	assert.Zero(t, jar.asked.Load())
	assert.NotNil(t, given.CheckRedirect, "the caller's client is left as it was")
}

type jarOfOne struct{ asked atomic.Int32 }

func (j *jarOfOne) SetCookies(*url.URL, []*http.Cookie) { j.asked.Add(1) }
func (j *jarOfOne) Cookies(*url.URL) []*http.Cookie {
	j.asked.Add(1)
	return []*http.Cookie{{Name: "session", Value: "1"}}
}

// dyingServer responds to the first request of each connection, keeps the connection, accepts a second request on it
// and closes without a response, as a proxy that restarts does. It counts the requests by their method.
type dyingServer struct {
	address       string
	response      string
	posts, others atomic.Int32
}

func newDyingServer(t *testing.T) *dyingServer { return newDyingServerThat(t, "200 OK") }

// newDyingServerThat responds with a status.
func newDyingServerThat(t *testing.T, status string) *dyingServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &dyingServer{
		address: "http://" + listener.Addr().String(),
		response: "HTTP/1.1 " + status +
			"\r\nContent-Type: application/json\r\nRetry-After: 0\r\nContent-Length: 2\r\n\r\n{}",
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}

func (s *dyingServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	from := bufio.NewReader(conn)
	for served := 0; ; served++ {
		req, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		if req.Method == http.MethodGet {
			s.others.Add(1)
		} else {
			s.posts.Add(1)
		}
		if served > 0 {
			return
		}
		_, _ = io.WriteString(conn, s.response)
	}
}

// net/http takes a request with an Idempotency-Key for replayable, and sends it again out of sight of every policy when
// a kept connection dies.
func TestKeyedWritesAreNotReplayedByNetHTTP(t *testing.T) {
	for name, op := range map[string]*transport.Operation{
		"POST with a body":            &bookThing,
		"POST that is never repeated": &spendThing,
		"DELETE without a body":       &deleteThing,
		"POST without a body, repeated": {ID: "SyncThing", Method: http.MethodPost, Path: "/things/sync",
			Repeat: transport.RepeatNatural},
	} {
		t.Run(name, func(t *testing.T) {
			server := newDyingServer(t)
			client := newClient(t, server.address, retries(moneymovement.RetryPolicy{Max: -1}))
			_, err := send(t.Context(), client, &readThing, transport.Call{}) // leaves a connection to be kept
			require.NoError(t, err)

			var response moneymovement.Response
			r := transport.NewRequest(op, "", transport.Keyed("invoice-42", &response))
			if strings.Contains(op.Path, "{thingId}") {
				r.PathParam("thingId", "ct_1", idRule)
			}
			if name == "POST with a body" {
				r.Body(map[string]string{"name": "Bob"}, nil)
			}
			_, err = transport.Do[thing](t.Context(), client, r)

			var unknown *errors.InDoubt
			require.ErrorAs(t, err, &unknown)
			assert.Equal(t, "invoice-42", unknown.IdempotencyKey)
			assert.EqualValues(t, 1, server.posts.Load(), "requests that the service saw")
			assert.Equal(t, 1, response.Attempts)
		})
	}
}

// With retries, the attempts that we count are those that the service sees.
func TestAttemptsAreCountedAsTheServiceSeesThem(t *testing.T) {
	server := newDyingServer(t)
	client := newClient(t, server.address)
	_, err := send(t.Context(), client, &readThing, transport.Call{})
	require.NoError(t, err)

	var response moneymovement.Response
	_, err = send(t.Context(), client, &bookThing, transport.Kept(&response))
	require.NoError(t, err)
	assert.Equal(t, 2, response.Attempts)
	assert.EqualValues(t, 2, server.posts.Load())
}

// A transport of the caller's may copy the request.
func TestACopiedRequestIsNotReplayed(t *testing.T) {
	server := newDyingServer(t)
	inner := &http.Transport{}
	t.Cleanup(inner.CloseIdleConnections)
	client := newClient(t, server.address, retries(moneymovement.RetryPolicy{Max: -1}), through(copying{inner}))
	for i, op := range []*transport.Operation{&bookThing, &deleteThing} {
		_, err := send(t.Context(), client, &readThing, transport.Call{})
		require.NoError(t, err)
		_, err = sendKeyed(t.Context(), client, op, transport.Call{})
		var unknown *errors.InDoubt
		require.ErrorAs(t, err, &unknown)
		assert.EqualValues(t, i+1, server.posts.Load())
	}
}

// Nor does a retry that goes out on the connection of the attempt before.
func TestACopiedRetryIsNotReplayed(t *testing.T) {
	server := newDyingServerThat(t, "429 Too Many Requests")
	inner := &http.Transport{}
	t.Cleanup(inner.CloseIdleConnections)
	client := newClient(t, server.address, retries(moneymovement.RetryPolicy{Max: 1}), through(copying{inner}))
	_, err := sendKeyed(t.Context(), client, &bookThing, transport.Call{})
	var unknown *errors.InDoubt
	require.ErrorAs(t, err, &unknown)
	assert.EqualValues(t, 2, server.posts.Load())
}

// copying passes a copy of each request on, as a transport that adds a header does.
type copying struct{ next http.RoundTripper }

func (c copying) RoundTrip(req *http.Request) (*http.Response, error) {
	return c.next.RoundTrip(req.Clone(req.Context()))
}

// Over HTTP/2, a connection that dies loses the write as well.
func TestKeyedWritesAreNotReplayedOverHTTP2(t *testing.T) {
	for name, op := range map[string]*transport.Operation{
		"with a body": &bookThing, "without a body": &deleteThing,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n *network
				var writes atomic.Int32
				n = newNetwork(t, func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodGet {
						writes.Add(1)
						n.cut()
						return
					}
					things(w, r)
				})
				client := n.client(retries(moneymovement.RetryPolicy{Max: -1}))
				_, err := send(t.Context(), client, &readThing, transport.Call{}) // leaves a connection to be kept
				require.NoError(t, err)
				_, err = sendKeyed(t.Context(), client, op, transport.Call{})
				var unknown *errors.InDoubt
				require.ErrorAs(t, err, &unknown)
				assert.EqualValues(t, 1, writes.Load())
			})
		})
	}
}

// The control experiment: without a guard, the header makes net/http send the write twice while its caller sees one. If
// this test fails, the guard is no longer needed.
func TestNetHTTPStillReplaysKeyedWritesOfItself(t *testing.T) {
	server := newDyingServer(t)
	stock := &http.Transport{}
	t.Cleanup(stock.CloseIdleConnections)
	sent := 0
	client := &http.Client{Transport: counting{stock, &sent}}
	do := func(req *http.Request) error {
		resp, err := client.Do(req)
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
		return err
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.address, nil)
	require.NoError(t, err)
	require.NoError(t, do(req))

	req, err = http.NewRequestWithContext(t.Context(), http.MethodPost, server.address, strings.NewReader("{}"))
	require.NoError(t, err)
	req.Header.Set("Idempotency-Key", "invoice-42")
	sent = 0
	require.NoError(t, do(req))
	assert.Equal(t, 1, sent, "requests that the caller knows of")
	assert.EqualValues(t, 2, server.posts.Load(), "requests that the service saw")
}

// counting counts what is given to a transport.
type counting struct {
	next http.RoundTripper
	sent *int
}

func (c counting) RoundTrip(req *http.Request) (*http.Response, error) {
	*c.sent++
	return c.next.RoundTrip(req)
}

// network connects a client with an HTTP/2 server by pipes, which can go silent: what is sent is lost, and nothing
// comes. That is what a connection does whose other end is gone without a FIN.
type network struct {
	*testing.T
	listener chan net.Conn
	trusted  *x509.CertPool

	mu     sync.Mutex
	dialed int
	ends   []*end
}

// end is the client's end of a connection.
type end struct {
	net.Conn
	silent chan struct{} // closed when it goes silent
	closed chan struct{}
	once   sync.Once
}

func (w *end) Write(b []byte) (int, error) {
	select {
	case <-w.silent:
		return len(b), nil // into the buffer of the system, from which nobody fetches it
	default:
		return w.Conn.Write(b)
	}
}

func (w *end) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	select {
	case <-w.silent:
		<-w.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (w *end) Close() error {
	w.once.Do(func() { close(w.closed) })
	return w.Conn.Close()
}

// newNetwork starts a server in this bubble.
func newNetwork(t *testing.T, handler http.HandlerFunc) *network {
	t.Helper()
	unused := httptest.NewUnstartedServer(nil) // has a certificate
	unused.EnableHTTP2 = true
	unused.StartTLS()
	certificate := unused.TLS.Certificates
	n := &network{T: t, listener: make(chan net.Conn), trusted: x509.NewCertPool()}
	n.trusted.AddCert(unused.Certificate())
	unused.Close()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Hour}
	served := make(chan error, 1)
	listener := tls.NewListener(pipes{n.listener, t.Context()},
		&tls.Config{Certificates: certificate, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		n.silence() // so that nothing waits for a response any more
		for _, w := range n.ends {
			_ = w.Close()
		}
		_ = server.Close()
		<-served
	})
	return n
}

// pipes is the listener of a network.
type pipes struct {
	accepted chan net.Conn
	ctx      context.Context
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accepted:
		return conn, nil
	case <-p.ctx.Done():
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case n.listener <- theirs:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	w := &end{Conn: ours, silent: make(chan struct{}), closed: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dialed++
	n.ends = append(n.ends, w)
	return w, nil
}

// silence makes all connections that are open now go silent.
func (n *network) silence() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.ends {
		select {
		case <-w.silent:
		default:
			close(w.silent)
		}
	}
}

// cut closes all connections.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, end := range n.ends {
		_ = end.Conn.Close()
	}
}

func (n *network) connections() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dialed
}

// client returns a client with the default transport.
func (n *network) client(options ...func(*transport.Config)) *transport.Client {
	n.Helper()
	set := inPlaceOfDefault(n.T,
		&http.Transport{DialContext: n.dial, TLSClientConfig: &tls.Config{RootCAs: n.trusted}})
	return newClient(n.T, "https://example.com", append(options, set)...)
}

func things(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, oneThing)
}

// An HTTP/2 connection that died without a FIN costs some seconds, and not every later call.
func TestDeadHTTP2ConnectionIsReplaced(t *testing.T) {
	t.Run("calls without a deadline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork(t, things)
			client := n.client(retries(moneymovement.RetryPolicy{}))
			for _, op := range []*transport.Operation{&readThing, &bookThing} {
				_, err := sendKeyed(t.Context(), client, op, transport.Call{})
				require.NoError(t, err)
				n.silence()
				began := time.Now()
				_, err = sendKeyed(t.Context(), client, op, transport.Call{})
				require.NoError(t, err)
				took := time.Since(began)
				assert.GreaterOrEqual(t, took, 10*time.Second)
				assert.Less(t, took, 10*time.Second+300*time.Millisecond, "with the pause")
			}
			assert.Equal(t, 3, n.connections())
		})
	})
	t.Run("short calls", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork(t, things)
			client := n.client(retries(moneymovement.RetryPolicy{}))
			_, err := send(t.Context(), client, &readThing, transport.Call{})
			require.NoError(t, err)
			n.silence()
			failed := 0
			short := transport.Call{
				CallSettings: moneymovement.CallSettingsOf(moneymovement.Timeout(3 * time.Second))}
			for range 12 {
				_, err := send(t.Context(), client, &readThing, short)
				if err != nil {
					failed++
				}
			}
			assert.LessOrEqual(t, failed, 4, "after ten seconds, the connection is gone")
			_, err = send(t.Context(), client, &readThing, transport.Call{})
			require.NoError(t, err)
		})
	})
}

// A request that timed out on a connection that still lives is sent again on another one.
func TestARetryDoesNotShareAConnectionThatTimedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		from := map[string]int{}
		n := newNetwork(t, func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, "HTTP/2.0", r.Proto)
			mu.Lock()
			from[r.Header.Get("X-Way")]++
			first := len(from) == 1 && from[r.Header.Get("X-Way")] == 1
			mu.Unlock()
			if first {
				<-r.Context().Done()
				return
			}
			things(w, r)
		})
		began := time.Now()
		_, err := send(t.Context(), n.client(retries(moneymovement.RetryPolicy{})), &readThing, transport.Call{})
		require.NoError(t, err)
		assert.Equal(t, 2, n.connections())
		assert.Less(t, time.Since(began), 31*time.Second)
	})
}

const maxDial = 5 * time.Second

// A call without a deadline ends after 45 seconds of silence, whatever the silence is.
func TestACallWithoutADeadlineEnds(t *testing.T) {
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, c := range map[string]struct {
		client func(t *testing.T) *transport.Client
		lost   bool
	}{
		"no response": {func(t *testing.T) *transport.Client {
			t.Helper()
			return newNetwork(t, silent).client(retries(moneymovement.RetryPolicy{}))
		}, true},
		"no connection": {func(t *testing.T) *transport.Client {
			t.Helper()
			set := inPlaceOfDefault(t, &http.Transport{
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}})
			return newClient(t, host, set, retries(moneymovement.RetryPolicy{Max: 100}))
		}, false},
		"no response over HTTP/1.1": {func(t *testing.T) *transport.Client {
			t.Helper()
			set := piped(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
			return newClient(t, "http://127.0.0.1", set, retries(moneymovement.RetryPolicy{}))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := c.client(t)
				began := time.Now()
				_, err := sendKeyed(t.Context(), client, &bookThing, transport.Call{})
				require.Error(t, err)
				_, unknown := errors.AsType[*errors.InDoubt](err)
				assert.Equal(t, c.lost, unknown, "%v", err)
				if c.lost {
					assert.ErrorContains(t, err, "the service has not responded for 45s")
				}
				assert.LessOrEqual(t, time.Since(began), 46*time.Second, "with the pauses")
				assert.GreaterOrEqual(t, time.Since(began), 30*time.Second)
				time.Sleep(maxDial) // for a dial that nobody waits for
			})
		})
	}
}

// A silence ends neither a call with a deadline nor the first attempt of a call without one, which has the limits of
// the transport.
func TestCallsThatTheSilenceLimitDoesNotEnd(t *testing.T) {
	silent := func(d time.Duration, end step) step {
		return func(req *http.Request) (*http.Response, error) {
			select {
			case <-time.After(d):
				return end(req)
			case <-req.Context().Done():
				return nil, req.Context().Err()
			}
		}
	}
	for name, tc := range map[string]struct {
		within time.Duration
		steps  []step
	}{
		"a call with a deadline": {2 * time.Minute,
			[]step{silent(30*time.Second, lostResponse), silent(20*time.Second, ok)}},
		"the first attempt": {0, []step{silent(50*time.Second, ok)}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var call transport.Call
				if tc.within > 0 {
					call.Timeout = &tc.within
				}
				svc := script(tc.steps...)
				_, err := send(t.Context(), newClient(t, host, through(svc)), &readThing, call)
				require.NoError(t, err)
				assert.Len(t, svc.attempts(), len(tc.steps))
			})
		})
	}
}

// A connection that cannot be made is given up after five seconds.
func TestADialHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := inPlaceOfDefault(t, &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}})
		began := time.Now()
		_, err := send(t.Context(), newClient(t, host, set, once), &readThing, transport.Call{})
		require.Error(t, err)
		assert.Equal(t, 5*time.Second, time.Since(began))
	})
}
