package transport_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

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
func TestADeadConnectionOfHTTP2IsLeft(t *testing.T) {
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
				assert.Less(t, time.Since(began), 15*time.Second)
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
				_, unknown := errors.AsType[*errors.OutcomeUnknown](err)
				assert.Equal(t, c.lost, unknown, "%v", err)
				assert.LessOrEqual(t, time.Since(began), 46*time.Second, "with the pauses")
				assert.GreaterOrEqual(t, time.Since(began), 30*time.Second)
				time.Sleep(maxDial) // for a dial that nobody waits for
			})
		})
	}
}
