package fleet

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/required"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Limiter is a [moneymovement.RateLimiter] that shares the rate windows of a credential with other processes. Make it
// with [NewLimiter], or with NewLimiter of fleet/redis or fleet/postgres. Use one for all clients of a process. It is
// safe for concurrent use. It needs no end: while no call waits, it does nothing.
type Limiter struct {
	windows    Windows
	credential string
	process    string
	settings   settings

	mu      sync.Mutex
	lines   map[lineKey]*line
	sweepAt int
}

type lineKey struct {
	window moneymovement.Window
	scope  string
}

// sweepLeast is how many lines are kept before unused ones are removed: every login has its own challenge.
const sweepLeast = 128

// NewLimiter returns a limiter on a store of windows. credential names what the service counts by; use the result of
// Developer.Credential of package dapi. It fails with *errors.InvalidInput if the store or the name is missing.
func NewLimiter(windows Windows, credential string, options ...Option) (*Limiter, error) {
	err := transport.Validate("NewLimiter", func(c *transport.Check) {
		c.Missing("windows", windows == nil)
		c.Missing("credential", credential == "")
	})
	if err != nil {
		return nil, err
	}
	l := &Limiter{
		windows: windows, credential: credential, process: rand.Text(), lines: map[lineKey]*line{}, sweepAt: sweepLeast,
		settings: settings{allowances: moneymovement.StatedWindows(), patience: 2 * time.Second},
	}
	for _, option := range options {
		option(&l.settings)
	}
	return l, nil
}

// Wait implements [moneymovement.RateLimiter]. It fails with *[moneymovement.NoRoom] if the call cannot be sent before
// ctx ends or its approval expires, and with *[StoreAway] if the store cannot be used.
func (l *Limiter) Wait(ctx context.Context, call moneymovement.RateCall) error {
	if err := required.Context(ctx, "Limiter.Wait"); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	allowance, limited := l.settings.allowances[call.Window]
	if !limited || allowance.Calls <= 0 || allowance.Per <= 0 {
		return nil
	}
	l.mu.Lock()
	s := l.of(call, allowance)
	w, p, err := s.join(ctx, call)
	l.mu.Unlock()
	if w == nil {
		return err
	}
	transport.GoesOn(ctx, func() time.Time {
		l.mu.Lock()
		defer l.mu.Unlock()
		return s.turn(w, time.Now())
	})
	select {
	case err = <-w.Admitted:
	case <-ctx.Done():
	}
	if ended := ctx.Err(); ended != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		s.leave(w, p)
		return ended
	}
	return err
}

// of returns the line of a window. The caller holds mu.
func (l *Limiter) of(call moneymovement.RateCall, allowance moneymovement.Allowance) *line {
	key := lineKey{call.Window, call.Scope}
	if l.lines[key] == nil {
		l.sweep()
		l.lines[key] = newLine(l, call, allowance)
	}
	return l.lines[key]
}

// sweep removes lines in which no call counts any more. The caller holds mu.
func (l *Limiter) sweep() {
	if len(l.lines) < l.sweepAt {
		return
	}
	now := time.Now()
	for key, s := range l.lines {
		if s.idle(now) {
			delete(l.lines, key)
		}
	}
	l.sweepAt = max(sweepLeast, 2*len(l.lines))
}

// key names a window in the store. A scope can be an email, so the name has its digest only.
func (l *Limiter) key(call moneymovement.RateCall) string {
	key := l.credential + ":" + string(call.Window)
	if call.Scope != "" {
		digest := sha256.Sum256([]byte(call.Scope))
		key += ":" + hex.EncodeToString(digest[:8])
	}
	return key
}
