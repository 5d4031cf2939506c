package transport_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// dyingServer answers the first request of each connection, keeps the connection, accepts a second request on it and
// closes without an answer, as a proxy that restarts does. It counts the requests by their method.
type dyingServer struct {
	address       string
	answer        string
	posts, others atomic.Int32
}

func newDyingServer(t *testing.T) *dyingServer { return newDyingServerThat(t, "200 OK") }

// newDyingServerThat answers with a status.
func newDyingServerThat(t *testing.T, status string) *dyingServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &dyingServer{
		address: "http://" + listener.Addr().String(),
		answer: "HTTP/1.1 " + status +
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
		_, _ = io.WriteString(conn, s.answer)
	}
}

// net/http takes a request with an Idempotency-Key for replayable, and sends it again out of sight of every policy when
// a kept connection dies.
func TestKeyedWritesAreNeverReplayedBehindOurBack(t *testing.T) {
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

			var answer moneymovement.Response
			r := transport.NewRequest(op, "", transport.Keyed("invoice-42", &answer))
			if strings.Contains(op.Path, "{thingId}") {
				r.PathParam("thingId", "ct_1", idRule)
			}
			if name == "POST with a body" {
				r.Body(map[string]string{"name": "Bob"}, nil)
			}
			_, err = transport.Do[thing](t.Context(), client, r)

			var unknown *errors.OutcomeUnknown
			require.ErrorAs(t, err, &unknown)
			assert.Equal(t, "invoice-42", unknown.IdempotencyKey)
			assert.EqualValues(t, 1, server.posts.Load(), "requests that the service saw")
			assert.Equal(t, 1, answer.Attempts)
		})
	}
}

// With retries, the attempts that we count are those that the service sees.
func TestAttemptsAreCountedAsTheServiceSeesThem(t *testing.T) {
	server := newDyingServer(t)
	client := newClient(t, server.address)
	_, err := send(t.Context(), client, &readThing, transport.Call{})
	require.NoError(t, err)

	var answer moneymovement.Response
	_, err = send(t.Context(), client, &bookThing, transport.Kept(&answer))
	require.NoError(t, err)
	assert.Equal(t, 2, answer.Attempts)
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
		var unknown *errors.OutcomeUnknown
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
	var unknown *errors.OutcomeUnknown
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
				var unknown *errors.OutcomeUnknown
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
