package target

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// The reasons why a guard does not send a request.
var (
	// ErrNotSandbox means that nothing shows that the host is a sandbox.
	ErrNotSandbox = errors.New("not sent: the host has not shown that it is a sandbox")
	// ErrWrites means that the request may write, in a run that only reads.
	ErrWrites = errors.New("not sent: this run only reads")
)

const (
	platformPath = "/dapi/v1/"
	loginPath    = "/dapi/v1/auth/"
	treasuryPath = "/dapi/v1/sandbox/treasury"
)

// Guard stands between a run and a real host. Until GET /dapi/v1/sandbox/treasury returns 200, it sends only that
// request and the login. After any other response to it, it sends nothing. It never sends to another host. It pauses
// after each request. The pause after a write of the platform API is longer, because that window has a fifth of the
// reads' calls.
type Guard struct {
	Next    http.RoundTripper
	BaseURL *url.URL
	// ReadOnly lets only reads and the login pass, on a sandbox as well.
	ReadOnly bool
	// AnyHost lets reads and the login pass on a host that has not shown that it is a sandbox.
	AnyHost    bool
	Pause      time.Duration // after a request
	WritePause time.Duration // after a write of the platform API

	mu      sync.Mutex
	sandbox bool
	refused bool
	next    time.Time // of the next request
}

// RoundTrip implements http.RoundTripper.
func (g *Guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != g.BaseURL.Scheme || r.URL.Host != g.BaseURL.Host {
		return nil, fmt.Errorf("not sent: %s is not the host of this run", r.URL.Host)
	}
	logsIn := r.Method == http.MethodPost && strings.HasPrefix(g.path(r), loginPath)
	reads := r.Method == http.MethodGet
	if g.ReadOnly && !reads && !logsIn {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, ErrWrites)
	}
	asks := reads && g.path(r) == treasuryPath
	if !g.mayPass(asks || logsIn) && !(g.AnyHost && (reads || logsIn)) {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, ErrNotSandbox)
	}
	if err := g.wait(r); err != nil {
		return nil, err
	}
	answer, err := g.Next.RoundTrip(r)
	if err == nil && asks {
		g.learn(answer.StatusCode)
	}
	return answer, err
}

func (g *Guard) path(r *http.Request) string {
	return strings.TrimPrefix(r.URL.Path, strings.TrimSuffix(g.BaseURL.Path, "/"))
}

func (g *Guard) mayPass(harmless bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.refused && (g.sandbox || harmless)
}

// learn accepts a host as a sandbox if it has a treasury. An expired session or a rate limit shows nothing.
func (g *Guard) learn(status int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch status {
	case http.StatusOK:
		g.sandbox = true
	case http.StatusUnauthorized, http.StatusTooManyRequests:
	default:
		g.refused = g.refused || !g.sandbox
	}
}

// wait keeps a pause between requests: other users of the same credential share the rate windows.
func (g *Guard) wait(r *http.Request) error {
	g.mu.Lock()
	now := time.Now()
	at := now
	if g.next.After(now) {
		at = g.next
	}
	g.next = at.Add(g.pauseAfter(r))
	g.mu.Unlock()
	timer := time.NewTimer(at.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

func (g *Guard) pauseAfter(r *http.Request) time.Duration {
	if r.Method != http.MethodGet && strings.HasPrefix(g.path(r), platformPath) {
		return g.WritePause
	}
	return g.Pause
}
