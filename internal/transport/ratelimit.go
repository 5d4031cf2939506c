package transport

import (
	"context"
	"sync"
	"time"
)

// Limiter paces calls inside the service's rate windows, before they are sent. Its public name is moneymovement.RateLimiter.
type Limiter interface {
	// Wait returns when a call of the window may be sent, or with an error when ctx ends first or would end first.
	// scope is empty, or the account that a window counts for ([WindowSandboxMoney]).
	Wait(ctx context.Context, window Window, scope string) error
}

// Allowance is how many calls a window takes.
type Allowance struct {
	Calls int
	Per   time.Duration
}

// StatedWindows are the windows that the platform API states, with login counted per email, the narrowest of the three.
//
// Source: Limits, Rate windows.
func StatedWindows() map[Window]Allowance {
	return map[Window]Allowance{
		WindowReads:        {600, time.Minute},
		WindowWrites:       {120, time.Minute},
		WindowLogin:        {10, 5 * time.Minute},
		WindowSandboxMoney: {60, time.Hour},
	}
}

// LocalLimiter is a Limiter for one credential in one process. It never lets more calls through in any stretch of a window's
// length than the window takes, wherever the service's own window starts. Callers are served in the order in which they came.
type LocalLimiter struct {
	allowances map[Window]Allowance
	mu         sync.Mutex
	slots      map[slotKey]*slots
}

type slotKey struct {
	window Window
	scope  string
}

// NewLocalLimiter makes a limiter for the given windows; a window that is not among them is not limited.
func NewLocalLimiter(allowances map[Window]Allowance) *LocalLimiter {
	return &LocalLimiter{allowances: allowances, slots: map[slotKey]*slots{}}
}

// Wait implements Limiter.
func (l *LocalLimiter) Wait(ctx context.Context, window Window, scope string) error {
	allowance, limited := l.allowances[window]
	if !limited || allowance.Calls <= 0 {
		return ctx.Err()
	}
	now := time.Now()
	deadline, _ := ctx.Deadline()
	at, ok := l.of(window, scope, allowance).reserve(now, deadline, allowance)
	if !ok {
		return &WaitTooLong{Window: window, Until: at}
	}
	return sleep(ctx, at.Sub(now))
}

func (l *LocalLimiter) of(window Window, scope string, allowance Allowance) *slots {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := slotKey{window, scope}
	if l.slots[key] == nil {
		l.slots[key] = &slots{taken: make([]time.Time, allowance.Calls)}
	}
	return l.slots[key]
}

// slots remembers when the last calls of a window were let through: a ring with one place for each call that the window takes.
type slots struct {
	mu    sync.Mutex
	taken []time.Time
	next  int
}

// reserve takes the next slot, unless it lies beyond the deadline: then the caller is told at once and takes none.
func (s *slots) reserve(now, deadline time.Time, allowance Allowance) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := now
	if oldest := s.taken[s.next]; !oldest.IsZero() && oldest.Add(allowance.Per).After(now) {
		at = oldest.Add(allowance.Per)
	}
	if !deadline.IsZero() && at.After(deadline) {
		return at, false
	}
	s.taken[s.next] = at
	s.next = (s.next + 1) % len(s.taken)
	return at, true
}

// WaitTooLong says that a rate window has no room before the caller's deadline.
type WaitTooLong struct {
	Window Window
	Until  time.Time
}

func (e *WaitTooLong) Error() string {
	return "rate window " + string(e.Window) + " has no room before the deadline"
}

// Unwrap lets errors.Is find context.DeadlineExceeded, which is what waiting would have ended in.
func (e *WaitTooLong) Unwrap() error { return context.DeadlineExceeded }

// sleep waits under the context.
func sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
