package sandbox_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Read from a raw connection: net/http's client keeps to itself what came before the connection ended.
func TestADroppedRequestIsAnsweredWithoutAByte(t *testing.T) {
	w := newWorld(t)
	token := w.login().access
	addresses := map[string]string{
		"http.Server":        served(t, w.host),
		"httptest.NewServer": w.server.Listener.Addr().String(),
	}
	faults := map[string]sandbox.Fault{"before": sandbox.DropBefore(), "after commit": sandbox.DropAfterCommit()}
	requests := map[string]string{
		"a read":  raw("GET", "/dapi/v1/chains", token, ""),
		"a write": raw("POST", "/dapi/v1/clients", token, `{"email":"acme@example.com"}`),
	}
	for server, address := range addresses {
		for when, fault := range faults {
			for what, request := range requests {
				t.Run(server+", "+when+", "+what, func(t *testing.T) {
					conn := dial(t, address)
					armed := w.host.Arm("", "/dapi/v1/**", fault)
					assert.Empty(t, allOf(t, conn, request), "on a new connection")
					assert.Equal(t, 1, armed.Consumed())

					kept := dial(t, address)
					_, err := io.WriteString(kept, raw("GET", "/dapi/v1/chains", token, ""))
					require.NoError(t, err)
					read := bufio.NewReader(kept)
					first, err := http.ReadResponse(read, nil)
					require.NoError(t, err)
					_, err = io.Copy(io.Discard, first.Body)
					require.NoError(t, err)
					require.NoError(t, first.Body.Close())
					require.Zero(t, read.Buffered())

					armed = w.host.Arm("", "/dapi/v1/**", fault)
					assert.Empty(t, allOf(t, kept, request), "on a connection that was kept")
					assert.Equal(t, 1, armed.Consumed())
				})
			}
		}
	}
}

// served is the address of the host behind a server of net/http's own.
func served(t *testing.T, host http.Handler) string {
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

// raw is a request as it travels.
func raw(method, path, token, body string) string {
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n", method, path, token)
	if body != "" {
		head += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return head + "\r\n" + body
}

// allOf sends a request and reads until the other side closes the connection.
func allOf(t *testing.T, conn net.Conn, request string) string {
	t.Helper()
	_, err := io.WriteString(conn, request)
	require.NoError(t, err)
	read, err := io.ReadAll(conn)
	require.NoError(t, err)
	return string(read)
}
