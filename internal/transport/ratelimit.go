package transport

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Limiter paces calls inside the service's rate windows, before they are sent. Its public name is moneymovement.RateLimiter.
type Limiter interface {
	// Wait returns when a call of the window may be sent, or with an error when ctx ends first or would end first.
	// scope is what the window counts for besides the credential or the address: an account ([WindowSandboxMoney]), an email
	// ([WindowLoginEmail]), a challengeId ([WindowLoginChallenge]), else empty.
	Wait(ctx context.Context, window Window, scope string) error
}

// Allowance is how many calls a window takes.
type Allowance struct {
	Calls int
	Per   time.Duration
}

// StatedWindows are the windows that the platform API states.
//
// Source: Limits, Rate windows.
func StatedWindows() map[Window]Allowance {
	return map[Window]Allowance{
		WindowReads:          {600, time.Minute},
		WindowWrites:         {120, time.Minute},
		WindowLogin:          {20, 5 * time.Minute},
		WindowLoginEmail:     {10, 5 * time.Minute},
		WindowLoginChallenge: {10, 5 * time.Minute},
		WindowSandboxMoney:   {60, time.Hour},
	}
}

// LocalLimiter is a Limiter for one credential in one process. It never lets more calls through in any stretch of a window's
// length than the window takes, wherever the service's own window starts. Callers are served in the order in which they came.
type LocalLimiter struct {
	allowances map[Window]Allowance
	mu         sync.Mutex
	slots      map[slotKey]*slots
	sweepAt    int // how many slots there may be before those that hold nobody back are forgotten
}

// sweepLeast is how many windows may be remembered before it is worth looking for those that count no more: every login has a
// challenge of its own, and an integrator may act for any number of clients.
const sweepLeast = 128

type slotKey struct {
	window Window
	scope  string
}

// NewLocalLimiter makes a limiter for the given windows; a window that is not among them is not limited.
func NewLocalLimiter(allowances map[Window]Allowance) *LocalLimiter {
	return &LocalLimiter{allowances: allowances, slots: map[slotKey]*slots{}, sweepAt: sweepLeast}
}

// Wait implements Limiter.
func (l *LocalLimiter) Wait(ctx context.Context, window Window, scope string) error {
	allowance, limited := l.allowances[window]
	if !limited || allowance.Calls <= 0 {
		return ctx.Err()
	}
	l.mu.Lock()
	s := l.of(window, scope, allowance)
	until, ok := s.join(ctx) // before anyone can take the window for one that nobody waits for
	l.mu.Unlock()
	if !ok {
		return &WaitTooLong{Window: window, Until: until}
	}
	return s.pass(ctx)
}

// sweep forgets windows in which no call counts any more. It runs each time their number has doubled, so that it costs little on
// average. The caller holds mu.
func (l *LocalLimiter) sweep() {
	if len(l.slots) < l.sweepAt {
		return
	}
	now := time.Now()
	for key, s := range l.slots {
		if s.idle(now) {
			delete(l.slots, key)
		}
	}
	l.sweepAt = max(sweepLeast, 2*len(l.slots))
}

// of finds the slots of a window. The caller holds mu.
func (l *LocalLimiter) of(window Window, scope string, allowance Allowance) *slots {
	key := slotKey{window, scope}
	if l.slots[key] == nil {
		l.sweep()
		l.slots[key] = &slots{per: allowance.Per, line: semaphore.NewWeighted(1), taken: make([]time.Time, allowance.Calls)}
	}
	return l.slots[key]
}

// slots remembers when the last calls of a window were let through: a ring with one place for each call that the window takes. A call
// takes its slot when it goes through and not before, so that one who gives up waiting costs the others nothing.
type slots struct {
	per  time.Duration
	line *semaphore.Weighted // held by the caller whose turn it is; the others wait for it in the order in which they came

	mu      sync.Mutex
	taken   []time.Time
	next    int // place of the oldest
	waiting int // callers in line, with the one whose turn it is
}

// pass returns when the caller, who has joined the line, may go through.
func (s *slots) pass(ctx context.Context) error {
	err := s.line.Acquire(ctx, 1)
	if err == nil {
		defer s.line.Release(1)
		err = Pause(ctx, s.untilFree())
	}
	s.leave(err == nil)
	return err
}

// join lines up, unless the caller's turn lies beyond the deadline: then it is told at once when that would be.
func (s *slots) join(ctx context.Context) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	at := s.free(s.waiting, now)
	if deadline, limited := ctx.Deadline(); limited && at.After(now) && !at.Before(deadline) {
		return at, false
	}
	s.waiting++
	return at, true
}

// leave takes the slot of a caller that goes through, and none of one that gives up.
func (s *slots) leave(through bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
	if through {
		s.taken[s.next] = time.Now()
		s.next = (s.next + 1) % len(s.taken)
	}
}

// free is when the caller with so many others in line before it may go through.
func (s *slots) free(before int, now time.Time) time.Time {
	at := now
	if oldest := s.taken[(s.next+before)%len(s.taken)]; !oldest.IsZero() && oldest.Add(s.per).After(now) {
		at = oldest.Add(s.per)
	}
	return at.Add(time.Duration(before/len(s.taken)) * s.per)
}

// idle reports that nobody waits and that no call counts any more.
func (s *slots) idle(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	latest := s.taken[(s.next+len(s.taken)-1)%len(s.taken)]
	return s.waiting == 0 && !latest.Add(s.per).After(now)
}

func (s *slots) untilFree() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	return s.free(0, now).Sub(now)
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
