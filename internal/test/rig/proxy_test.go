package rig_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/test/rig"
	"github.com/moneymovement/moneymovement-go/internal/tier"
)

// echo starts a server that sends back what it receives, and a proxy in front of it.
func echo(t *testing.T) *rig.Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
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
	return rig.NewProxy(t, listener.Addr().String())
}

// dial connects to the proxy, and returns a connection that fails after half a minute.
func dial(t *testing.T, proxy *rig.Proxy) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", proxy.Address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	require.NoError(t, connection.SetDeadline(time.Now().Add(30*time.Second)))
	return connection
}

// trip sends a text, reads as much back, and returns how long that took.
func trip(t *testing.T, connection net.Conn, text []byte) time.Duration {
	t.Helper()
	began := time.Now()
	_, err := connection.Write(text)
	require.NoError(t, err)
	got := make([]byte, len(text))
	_, err = io.ReadFull(connection, got)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(text, got), "the proxy changed the bytes")
	return time.Since(began)
}

var (
	hello = []byte("hello")
	page  = bytes.Repeat([]byte("0123456789abcdef"), 256) // 4 kB
)

func TestFaultsThatDelay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault rig.Fault
		text  []byte
		least time.Duration
	}{
		"latency": {rig.Latency{Delay: 80 * time.Millisecond, Jitter: 10 * time.Millisecond}, hello,
			60 * time.Millisecond},
		"slices": {rig.Slices{Size: 64, Variation: 16, Pause: 2 * time.Millisecond}, page, 60 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, direction := range []rig.Direction{rig.Requests, rig.Responses} {
				proxy := echo(t)
				before := dial(t, proxy)
				trip(t, before, test.text)
				proxy.Add(test.fault, direction, 1)
				assert.Greater(t, trip(t, before, test.text), test.least, "a connection that was open")
				assert.Greater(t, trip(t, dial(t, proxy), test.text), test.least, "a new connection")
				proxy.Heal()
				trip(t, before, test.text)
			}
		})
	}
}

func TestFaultsThatBreak(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault rig.Fault
		bytes int
		err   error
	}{
		"limit":   {rig.Limit{Bytes: 700}, 700, nil},
		"reset":   {rig.Reset{After: 10 * time.Millisecond}, 0, syscall.ECONNRESET},
		"silence": {rig.Silence{CloseAfter: 50 * time.Millisecond}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := echo(t)
			proxy.Add(test.fault, rig.Responses, 1)
			broken := dial(t, proxy)
			_, err := broken.Write(page)
			require.NoError(t, err)
			got, err := io.ReadAll(broken)
			require.ErrorIs(t, err, test.err)
			assert.Len(t, got, test.bytes)
			proxy.Heal()
			trip(t, dial(t, proxy), page)
		})
	}
}

func TestSilenceCanLastForever(t *testing.T) {
	t.Parallel()
	proxy := echo(t)
	proxy.Add(rig.Silence{}, rig.Requests, 1)
	silent := dial(t, proxy)
	_, err := silent.Write(hello)
	require.NoError(t, err)
	require.NoError(t, silent.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
	_, err = silent.Read(make([]byte, 1))
	assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

func TestCutAndMend(t *testing.T) {
	t.Parallel()
	proxy := echo(t)
	address := proxy.Address()
	before := dial(t, proxy)
	trip(t, before, hello)
	proxy.Cut()
	proxy.Cut() // changes nothing
	_, err := io.ReadAll(before)
	require.NoError(t, err, "it was closed")
	_, err = net.Dial("tcp", address)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	proxy.Mend()
	proxy.Mend() // changes nothing
	assert.Equal(t, address, proxy.Address())
	trip(t, dial(t, proxy), hello)
}

// A process that is being started has a copy of each open file of its parent for a moment, the proxy's listener too.
func TestCutWhileProcessesStart(t *testing.T) {
	tier.Long(t, "starts processes")
	t.Parallel()
	short, err := exec.LookPath("true")
	if err != nil {
		t.Skip("needs the program true, which ends at once; make check runs it on Unix")
	}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				assert.NoError(t, exec.Command(short).Run())
			}
		})
	}
	proxy := echo(t)
	for range 2000 {
		proxy.Cut()
		_, err := net.Dial("tcp", proxy.Address())
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		proxy.Mend()
	}
}
