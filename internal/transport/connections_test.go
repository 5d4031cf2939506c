package transport_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
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
			panic(http.ErrAbortHandler) // no answer
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
func TestUnmadeConnectionsAreNotDelivered(t *testing.T) {
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
		"read error":  {lostAnswer, false},
		"other error": {fails(io.EOF), false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := send(t.Context(), newClient(t, host, through(script(tc.outcome))), &spendThing, transport.Call{})
			var undelivered *errors.NotDelivered
			assert.Equal(t, tc.undelivered, errors.As(err, &undelivered), "%v", err)
			var unknown *errors.OutcomeUnknown
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
func TestTheCallersTraceStillHears(t *testing.T) {
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
