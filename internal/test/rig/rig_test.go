package rig_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/test/rig"
)

// A host loses the request that a trap names, or its response, and keeps what has arrived.
func TestTrapLosesARequestOrItsResponse(t *testing.T) {
	t.Parallel()
	host := rig.Serve(t)
	send := func(method, path, body string) error {
		request, err := http.NewRequest(method, host.URL()+path, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Idempotency-Key", "key-of-the-test")
		request.GetBody = nil // net/http would send it again
		response, err := host.Client().Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	calls := 0
	lost := host.At(rig.Moment{Request: "POST /dapi/v1/*/challenge", Number: 2}, func() { calls++ })
	removed := host.At(rig.Moment{Request: "GET /never"}, func() { calls++ })
	require.NoError(t, send("POST", "/dapi/v1/auth/challenge", "{}"))
	require.NoError(t, send("GET", "/dapi/v1/auth/challenge", ""))
	require.Error(t, send("POST", "/dapi/v1/auth/challenge", "[]"))
	<-lost.Done()
	require.NoError(t, send("POST", "/dapi/v1/auth/challenge", "{}"), "it springs once")
	assert.Equal(t, 1, calls)
	assert.Len(t, host.Requests(), 3, "the host has not handled the lost one")
	require.Len(t, host.Raw(), 4)
	assert.Equal(t, "[]", string(host.Raw()[2].Body))
	assert.Equal(t, []string{"POST /dapi/v1/auth/challenge key-of-the-test: {}, then []"}, host.KeysWithTwoBodies())

	committed := host.At(rig.Moment{Phase: rig.Committed}, func() { calls++ })
	require.Error(t, send("POST", "/dapi/v1/auth/challenge", "{}"))
	<-committed.Done()
	assert.Len(t, host.Requests(), 4)
	host.Disarm()
	require.NoError(t, send("GET", "/never", ""))
	assert.Equal(t, 2, calls)
	select {
	case <-removed.Done():
		t.Error("a trap that was removed has sprung")
	default:
	}
}

// Each fault does something to a connection, in the unit that its type says. What Toxiproxy does in detail is tested
// there.
func TestEachProxyFaultAffectsAConnection(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() { // sends back what it receives
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				_, _ = io.Copy(connection, connection)
			}()
		}
	}()
	page := bytes.Repeat([]byte("0123456789abcdef"), 256) // 4 kB
	// trip sends the page, and returns how much came back, after which time, and the error of the connection.
	trip := func(proxy *rig.Proxy) (got int, took time.Duration, err error) {
		connection, err := net.Dial("tcp", proxy.Address())
		require.NoError(t, err)
		defer connection.Close()
		require.NoError(t, connection.SetDeadline(time.Now().Add(30*time.Second)))
		began := time.Now()
		_, err = connection.Write(page)
		require.NoError(t, err)
		got, err = io.ReadFull(connection, make([]byte, len(page)))
		return got, time.Since(began), err
	}
	proxy := rig.NewProxy(t, listener.Addr().String())
	for name, test := range map[string]struct {
		fault rig.Fault
		got   int
		least time.Duration
		err   error
	}{
		"latency": {rig.Latency{Delay: 80 * time.Millisecond, Jitter: 10 * time.Millisecond}, len(page),
			60 * time.Millisecond, nil},
		"slices": {rig.Slices{Size: 64, Variation: 16, Pause: 2 * time.Millisecond}, len(page), 60 * time.Millisecond,
			nil},
		"limit":   {rig.Limit{Bytes: 700}, 700, 0, io.ErrUnexpectedEOF},
		"reset":   {rig.Reset{After: 10 * time.Millisecond}, 0, 10 * time.Millisecond, syscall.ECONNRESET},
		"silence": {rig.Silence{CloseAfter: 50 * time.Millisecond}, 0, 50 * time.Millisecond, io.EOF},
	} {
		proxy.Add(test.fault, rig.Responses, 1)
		got, took, err := trip(proxy)
		require.ErrorIs(t, err, test.err, name)
		assert.Equal(t, test.got, got, name)
		assert.GreaterOrEqual(t, took, test.least, name)
		proxy.Heal()
		got, _, err = trip(proxy)
		require.NoError(t, err, name)
		assert.Len(t, page, got, name)
	}
	proxy.Cut()
	_, err = net.Dial("tcp", proxy.Address())
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	proxy.Reopen()
	_, _, err = trip(proxy)
	require.NoError(t, err)
}
