//go:build !wasm

// Toxiproxy's metrics do not build for WebAssembly, where no process can be started anyway.

package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/go-json-experiment/json"
	"github.com/rs/zerolog"

	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// Proxy is a Toxiproxy in front of a server. Its address stays the same. Faults hold for the connections that are open
// and for new ones. The methods end the test if they fail.
type Proxy struct {
	t     testing.TB
	inner *toxiproxy.Proxy
}

// NewProxy starts a proxy in front of an address such as 127.0.0.1:5432, and stops it when the test ends.
func NewProxy(t testing.TB, upstream string) *Proxy {
	t.Helper()
	p := &Proxy{t: t}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	var taken error
	for range 20 { // another process can take the port first
		port, err := testkit.FreePort()
		if err != nil {
			t.Fatalf("rig: %v", err)
		}
		p.inner = toxiproxy.NewProxy(server, t.Name(), fmt.Sprintf("127.0.0.1:%d", port), upstream)
		if taken = p.inner.Start(); taken == nil {
			t.Cleanup(p.inner.Stop)
			return p
		}
	}
	t.Fatalf("rig: start a proxy: %v", taken)
	return nil
}

// Address returns where clients connect, such as 127.0.0.1:20123.
func (p *Proxy) Address() string { return p.inner.Listen }

// Cut closes all connections, and refuses new ones.
func (p *Proxy) Cut() {
	p.t.Helper()
	p.inner.Stop()
	// A process that is being started holds a copy of the listener until its own program begins. Until then the system
	// takes connections for it.
	ctx, cancel := context.WithTimeout(context.Background(), refusedWithin)
	defer cancel()
	for ctx.Err() == nil {
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", p.Address())
		if err == nil {
			connection.Close()
		} else if ctx.Err() == nil {
			return
		}
	}
	p.t.Fatalf("rig: %s still takes connections, %s after the proxy was stopped", p.Address(), refusedWithin)
}

// refusedWithin is how long a slow machine may take to start a process.
const refusedWithin = 10 * time.Second

// Reopen takes connections again after Cut.
func (p *Proxy) Reopen() {
	p.t.Helper()
	if err := p.inner.Start(); err != nil && !errors.Is(err, toxiproxy.ErrProxyAlreadyStarted) {
		p.t.Fatalf("rig: start the proxy again: %v", err)
	}
}

// Direction says which bytes a fault is for.
type Direction string

// The directions.
const (
	Requests  Direction = "upstream"   // from the client to the server
	Responses Direction = "downstream" // from the server to the client
)

// Fault is something that the network does: Latency, Silence, Reset, Slices or Limit.
type Fault interface {
	kind() string
	attributes() map[string]int64
}

// Add adds a fault to a direction, for a share of the connections from above 0 to 1. A direction has one fault of a
// kind. It takes effect before Add returns.
func (p *Proxy) Add(fault Fault, direction Direction, share float64) {
	p.t.Helper()
	text, err := json.Marshal(map[string]any{"type": fault.kind(), "stream": direction, "toxicity": share,
		"attributes": fault.attributes()})
	if err == nil {
		_, err = p.inner.Toxics.AddToxicJson(bytes.NewReader(text))
	}
	if err != nil {
		p.t.Fatalf("rig: add the fault %s: %v", fault.kind(), err)
	}
}

// Heal removes all faults. Connections that a fault has broken stay broken.
func (p *Proxy) Heal() { p.inner.Toxics.ResetToxics(context.Background()) }

// Latency delays everything. Jitter is the most that is added or taken away at random. Units: milliseconds.
type Latency struct{ Delay, Jitter time.Duration }

func (Latency) kind() string { return "latency" }
func (f Latency) attributes() map[string]int64 {
	return map[string]int64{"latency": f.Delay.Milliseconds(), "jitter": f.Jitter.Milliseconds()}
}

// Silence swallows everything, and closes the connection after a duration. Zero never closes it. Units: milliseconds.
type Silence struct{ CloseAfter time.Duration }

func (Silence) kind() string { return "timeout" }
func (f Silence) attributes() map[string]int64 {
	return map[string]int64{"timeout": f.CloseAfter.Milliseconds()}
}

// Reset swallows the first bytes, and resets the connection after a duration. Units: milliseconds.
type Reset struct{ After time.Duration }

func (Reset) kind() string { return "reset_peer" }
func (f Reset) attributes() map[string]int64 {
	return map[string]int64{"timeout": f.After.Milliseconds()}
}

// Slices cuts everything into pieces of about Size bytes, give or take Variation, with a pause after each. Units of the
// pause: microseconds.
type Slices struct {
	Size, Variation int
	Pause           time.Duration
}

func (Slices) kind() string { return "slicer" }
func (f Slices) attributes() map[string]int64 {
	return map[string]int64{"average_size": int64(f.Size), "size_variation": int64(f.Variation),
		"delay": f.Pause.Microseconds()}
}

// Limit closes the connection after this number of bytes.
type Limit struct{ Bytes int }

func (Limit) kind() string                   { return "limit_data" }
func (f Limit) attributes() map[string]int64 { return map[string]int64{"bytes": int64(f.Bytes)} }
