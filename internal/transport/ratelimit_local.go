package transport

import (
	"context"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// LocalLimiter is a Limiter for one credential in one process. In any period of [Allowance.Held] it admits at most as
// many calls as the window allows. It does not need to know when the service's own window starts.
//
// In a window, refreshes go first, then confirms, then other writes and reads, then polls. Confirms go in the order in
// which their approvals expire, all other calls in the order of arrival. A waiting class gets at least a tenth of the
// window, unless a confirm would be too late. Polls leave a tenth of the window free, so that a read finds room at
// once.
//
// The first call in line waits for at most [LongestTurn], and is then sent.
type LocalLimiter struct {
	allowances map[moneymovement.Window]moneymovement.Allowance
	mu         sync.Mutex
	lines      map[lineKey]*line
	sweepAt    int // how many lines there may be before unused lines are removed
}

// LongestTurn is how long the first call in line waits for room. A window of a minute never makes it wait that long,
// but a window of an hour does. If the host does not count calls, the program must not stop for an hour. If it does
// count, its refusal says when to try again.
const LongestTurn = 65 * time.Second

// sweepLeast is how many lines are kept before unused lines are removed. Every login has its own challenge, and an
// integrator may act for any number of clients.
const sweepLeast = 128

type lineKey struct {
	window moneymovement.Window
	scope  string
}

// NewLocalLimiter returns a limiter for the given windows. Other windows are not limited.
func NewLocalLimiter(allowances map[moneymovement.Window]moneymovement.Allowance) *LocalLimiter {
	return &LocalLimiter{allowances: allowances, lines: map[lineKey]*line{}, sweepAt: sweepLeast}
}

// Wait implements Limiter.
func (l *LocalLimiter) Wait(ctx context.Context, call moneymovement.RateCall) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	allowance, limited := l.allowances[call.Window]
	if !limited || allowance.Calls <= 0 {
		return nil
	}
	l.mu.Lock()
	s := l.of(call, allowance)
	w, err := s.join(ctx, call)
	l.mu.Unlock()
	if w == nil {
		return err
	}
	GoesOn(ctx, func() time.Time {
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
		s.leave(w)
		return ended
	}
	return err
}

// of returns the line of a window. The caller holds mu.
func (l *LocalLimiter) of(call moneymovement.RateCall, allowance moneymovement.Allowance) *line {
	key := lineKey{call.Window, call.Scope}
	if l.lines[key] == nil {
		l.sweep()
		l.lines[key] = newLine(&l.mu, call.Window, allowance)
	}
	return l.lines[key]
}

// sweep removes lines in which no call counts any more. It runs when their number has doubled, so that it costs little
// on average. The caller holds mu.
func (l *LocalLimiter) sweep() {
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
