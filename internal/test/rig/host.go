package rig

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Host is a sandbox host on a loopback port that keeps every request as it arrived. It is safe for concurrent use.
type Host struct {
	*sandbox.Host

	server *httptest.Server

	mu       sync.Mutex
	requests []Request
	traps    []*Trap
}

// Request is a request as it arrived.
type Request struct {
	At     time.Time // on the machine's clock
	Method string
	Path   string
	Header http.Header
	Body   []byte
}

// Serve starts a host, and stops it when the test ends.
func Serve(t testing.TB, options ...sandbox.Option) *Host {
	t.Helper()
	h := &Host{Host: sandbox.New(options...)}
	h.server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.server.Close)
	return h
}

// URL returns the host's address for a client that connects without a proxy.
func (h *Host) URL() string { return h.server.URL }

// Address returns the host's address for a proxy, such as 127.0.0.1:40123.
func (h *Host) Address() string { return h.server.Listener.Addr().String() }

// Client returns a client that trusts nothing but the host, without a proxy of the environment.
func (h *Host) Client() *http.Client { return h.server.Client() }

// Raw returns a copy of the list of all requests, in the order of their arrival. Do not change headers and bodies.
func (h *Host) Raw() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.requests)
}

// Moment is an instant in the life of one request.
type Moment struct {
	Request string // such as "POST /dapi/v1/payouts/*/confirm", by the rules of path.Match; empty is any request
	Number  int    // which of these requests, from 1; 0 is the first
	Phase   Phase
}

// Phase says how far the host is with the request.
type Phase int

// The phases. In both of them the client gets no response from the host.
const (
	Lost      Phase = iota // the request arrived, and the host does not handle it
	Committed              // the host has handled it
)

// String returns the phase as a word of a test's name.
func (p Phase) String() string {
	if p == Lost {
		return "lost"
	}
	return "committed"
}

// Trap waits for a moment.
type Trap struct {
	moment Moment
	left   int
	do     func()
	sprung chan struct{}
}

// Sprung returns a channel that is closed when the trap's function has returned.
func (t *Trap) Sprung() <-chan struct{} { return t.sprung }

// At sets a trap: at the moment, the host calls the function, such as Child.Kill, and then closes the connection. It
// counts from the next request on, and calls the function once.
func (h *Host) At(moment Moment, do func()) *Trap {
	trap := &Trap{moment: moment, left: max(moment.Number, 1), do: do, sprung: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.traps = append(h.traps, trap)
	return trap
}

// Disarm removes all traps.
func (h *Host) Disarm() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.traps = nil
}

// serve keeps the request, and lets the host handle it, unless a trap says otherwise.
func (h *Host) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	trap := h.arrived(r, body)
	if err != nil {
		panic(http.ErrAbortHandler) // the connection broke within the body
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if trap == nil {
		h.ServeHTTP(w, r)
		return
	}
	if trap.moment.Phase == Committed {
		unread := httptest.NewRecorder()
		h.ServeHTTP(unread, r.WithContext(context.WithoutCancel(r.Context())))
	}
	trap.do()
	close(trap.sprung)
	panic(http.ErrAbortHandler)
}

// arrived adds a request to the list, and returns the trap that it springs.
func (h *Host) arrived(r *http.Request, body []byte) *Trap {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = append(h.requests, Request{At: time.Now(), Method: r.Method, Path: r.URL.Path,
		Header: r.Header.Clone(), Body: body})
	for i, trap := range h.traps {
		if !trap.moment.matches(r.Method, r.URL) {
			continue
		}
		if trap.left--; trap.left == 0 {
			h.traps = slices.Delete(h.traps, i, i+1)
			return trap
		}
	}
	return nil
}

func (m Moment) matches(method string, at *url.URL) bool {
	if m.Request == "" {
		return true
	}
	found, err := path.Match(m.Request, method+" "+at.Path)
	return err == nil && found
}
