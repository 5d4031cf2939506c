package sandbox_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// pipeListener is a listener whose connections are in memory, so that time on them can be a test's.
type pipeListener chan net.Conn

func (p pipeListener) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipeListener) Close() error { return nil }

func (p pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// connectPipe serves a handler over one connection in memory, and returns the caller's end and a signal of its end.
func connectPipe(t *testing.T, server *http.Server) (conn net.Conn, over <-chan struct{}) {
	t.Helper()
	ended := make(chan struct{})
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(ended)
		}
	}
	listener := make(pipeListener, 1)
	conn, theirs := net.Pipe()
	listener <- theirs
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		close(listener)
		_ = conn.Close()
	})
	return conn, ended
}

// requestHead is that of a request with a body of so many bytes, from somebody without credentials.
func requestHead(path string, length int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n", path, length)
}

func TestSlowRequestBodyHitsReadDeadline(t *testing.T) {
	for _, path := range []string{"/dapi/v1/auth/challenge", "/_host/clock"} {
		synctest.Test(t, func(t *testing.T) {
			host := sandbox.New(sandbox.WithControl())
			conn, over := connectPipe(t,
				&http.Server{ReadHeaderTimeout: time.Minute,
					Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						r.RemoteAddr = "127.0.0.1:4000" // which a connection in memory does not have
						host.ServeHTTP(w, r)
					})})
			start := time.Now()
			var sender sync.WaitGroup
			sender.Go(func() {
				_, err := io.WriteString(conn, requestHead(path, 10_000))
				for err == nil {
					time.Sleep(time.Second)
					_, err = io.WriteString(conn, " ")
				}
			})
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			assert.Equal(t, http.StatusBadRequest, response.StatusCode)
			assert.Contains(t, string(text), "invalid_request")
			<-over
			assert.LessOrEqual(t, time.Since(start), 2*time.Minute, path)
			sender.Wait()
		})
	}
}

func TestServerTimeoutsWinOverDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &http.Server{Handler: sandbox.New(), ReadTimeout: time.Second, WriteTimeout: 2 * time.Second}
		conn, over := connectPipe(t, server)
		start := time.Now()
		_, err := io.WriteString(conn, requestHead("/dapi/v1/auth/challenge", 10))
		require.NoError(t, err)
		<-over // neither the body came nor was the response read
		assert.LessOrEqual(t, time.Since(start), 5*time.Second)
	})
}

func TestUnreadResponseHitsWriteDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, over := connectPipe(t, &http.Server{Handler: sandbox.New(), ReadHeaderTimeout: time.Minute})
		start := time.Now()
		_, err := io.WriteString(conn, rawRequest("GET", "/dapi/v1/chains", "unknown", ""))
		require.NoError(t, err)
		<-over
		assert.LessOrEqual(t, time.Since(start), 2*time.Minute)
	})
}

// The deadlines end with the body and with the response. They do not apply to later requests on the connection.
func TestDelayFaultOutlastsConnectionDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := sandbox.New()
		armed := host.Arm("POST", "/auth/challenge", sandbox.Delay(time.Hour))
		conn, _ := connectPipe(t, &http.Server{Handler: host, ReadHeaderTimeout: time.Minute})
		read := bufio.NewReader(conn)
		for _, delay := range []time.Duration{time.Hour, 0} {
			body := fmt.Sprintf(`{"email":"ops@example.com","requestExpiry":%q}`, time.Now().Add(delay+time.Minute).
				Format(time.RFC3339))
			_, err := io.WriteString(conn, requestHead("/dapi/v1/auth/challenge", len(body))+body)
			require.NoError(t, err)
			response, err := http.ReadResponse(read, nil)
			require.NoError(t, err)
			defer response.Body.Close()
			_, err = io.Copy(io.Discard, response.Body)
			require.NoError(t, err)
			assert.Equal(t, http.StatusCreated, response.StatusCode)
			time.Sleep(time.Hour)
		}
		assert.Equal(t, 1, armed.Consumed())
	})
}

// It reads a raw connection, because the client of net/http hides bytes that came before the connection ended.
func TestDropFaultSendsNoBytes(t *testing.T) {
	w := newWorld(t)
	token := w.login().access
	addresses := map[string]string{
		"http.Server":        startServer(t, w.host),
		"httptest.NewServer": w.server.Listener.Addr().String(),
	}
	faults := map[string]sandbox.Fault{"before": sandbox.DropBefore(), "after commit": sandbox.DropAfterCommit()}
	requests := map[string]string{
		"a read":  rawRequest("GET", "/dapi/v1/chains", token, ""),
		"a write": rawRequest("POST", "/dapi/v1/clients", token, `{"email":"acme@example.com"}`),
	}
	for server, address := range addresses {
		for when, fault := range faults {
			for what, request := range requests {
				t.Run(server+", "+when+", "+what, func(t *testing.T) {
					conn := dial(t, address)
					armed := w.host.Arm("", "/dapi/v1/**", fault)
					assert.Empty(t, readAll(t, conn, request), "on a new connection")
					assert.Equal(t, 1, armed.Consumed())

					kept := dial(t, address)
					_, err := io.WriteString(kept, rawRequest("GET", "/dapi/v1/chains", token, ""))
					require.NoError(t, err)
					read := bufio.NewReader(kept)
					first, err := http.ReadResponse(read, nil)
					require.NoError(t, err)
					_, err = io.Copy(io.Discard, first.Body)
					require.NoError(t, err)
					require.NoError(t, first.Body.Close())
					require.Zero(t, read.Buffered())

					armed = w.host.Arm("", "/dapi/v1/**", fault)
					assert.Empty(t, readAll(t, kept, request), "on a connection that was kept")
					assert.Equal(t, 1, armed.Consumed())
				})
			}
		}
	}
}

// startServer is the address of the host behind a server of net/http's own.
func startServer(t *testing.T, host http.Handler) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: host, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return conn
}

// rawRequest is a request as it travels.
func rawRequest(method, path, token, body string) string {
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n", method, path, token)
	if body != "" {
		head += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return head + "\r\n" + body
}

// readAll sends a request and reads until the other side closes the connection.
func readAll(t *testing.T, conn net.Conn, request string) string {
	t.Helper()
	_, err := io.WriteString(conn, request)
	require.NoError(t, err)
	read, err := io.ReadAll(conn)
	require.NoError(t, err)
	return string(read)
}

// endlessReader is a body that never ends, and counts what is read of it.
type endlessReader struct{ read atomic.Int64 }

func (e *endlessReader) Read(p []byte) (int, error) {
	e.read.Add(int64(len(p)))
	return len(p), nil
}

// Rule: session.bearer
func TestUnauthenticatedRequestBodyIsNotRead(t *testing.T) {
	w := newWorld(t)
	for name, path := range map[string]string{
		"platform": "/dapi/v1/clients", "app": "/user/contact", "reference": "/api/v1/wallet/login",
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("refused at once", func(t *testing.T) {
				conn := dial(t, w.server.Listener.Addr().String())
				_, err := io.WriteString(conn, requestHead(path, 100))
				require.NoError(t, err)
				response, err := http.ReadResponse(bufio.NewReader(conn), nil) // the body has yet to come
				require.NoError(t, err)
				defer response.Body.Close()
				text, err := io.ReadAll(response.Body)
				require.NoError(t, err)
				assert.Equal(t, http.StatusUnauthorized, response.StatusCode)
				assert.Contains(t, string(text), "unauthenticated")
			})
			t.Run("not read", func(t *testing.T) {
				body := &endlessReader{}
				request := httptest.NewRequest(http.MethodPost, path, io.LimitReader(body, 1<<30))
				request.Header.Set("Content-Type", "application/json")
				recorder := httptest.NewRecorder()
				w.host.ServeHTTP(recorder, request)
				assert.Equal(t, http.StatusUnauthorized, recorder.Code)
				assert.Zero(t, body.read.Load())
			})
			t.Run("of any length", func(t *testing.T) {
				refused(t, http.StatusUnauthorized, "unauthenticated",
					w.call("POST", path, strings.Repeat(" ", 15<<20)))
			})
		})
	}
}
