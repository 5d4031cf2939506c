package main

import (
	"context"
	"slices"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// windows are the rate windows that the service states, each a second longer: calls travel for different times, and can
// arrive closer together than they left.
var windows = map[moneymovement.Window]struct {
	calls  int
	length time.Duration
}{
	moneymovement.WindowReads:          {600, 61 * time.Second},
	moneymovement.WindowWrites:         {120, 61 * time.Second},
	moneymovement.WindowLogin:          {20, 301 * time.Second},
	moneymovement.WindowLoginEmail:     {10, 301 * time.Second},
	moneymovement.WindowLoginChallenge: {10, 301 * time.Second},
	moneymovement.WindowSandboxMoney:   {60, 3601 * time.Second},
}

// limiter is a [moneymovement.RateLimiter] for one of several processes with the same credential. It uses an equal
// share of each window, so that the processes together keep within it, and need not talk to each other.
type limiter struct {
	share int // among how many processes

	mu   sync.Mutex
	sent map[counter][]time.Time // oldest first
}

// counter is what the service counts calls by, for one credential.
type counter struct {
	window moneymovement.Window
	scope  string
}

// Wait implements [moneymovement.RateLimiter]. It returns at once if the call's turn is after the deadline of ctx.
func (l *limiter) Wait(ctx context.Context, call moneymovement.RateCall) error {
	for {
		turn := l.take(call, time.Now())
		if turn.IsZero() {
			return nil
		}
		if deadline, ok := ctx.Deadline(); ok && deadline.Before(turn) {
			return context.DeadlineExceeded
		}
		timer := time.NewTimer(time.Until(turn))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// take takes a slot for a call and returns the zero time, or returns when to try again. A tenth of each window is kept
// for confirms, because the approval that they carry expires after a minute or two.
func (l *limiter) take(call moneymovement.RateCall, now time.Time) time.Time {
	window, known := windows[call.Window]
	if !known {
		return time.Time{} // a window that this program does not know: the service may refuse, and the SDK tries again
	}
	slots := max(1, window.calls/l.share)
	if call.Class != moneymovement.ClassConfirm {
		slots -= slots / 10
	}
	key := counter{call.Window, call.Scope}
	l.mu.Lock()
	defer l.mu.Unlock()
	recent := slices.DeleteFunc(l.sent[key], func(at time.Time) bool { return now.Sub(at) >= window.length })
	if l.sent == nil {
		l.sent = map[counter][]time.Time{}
	}
	if len(recent) >= slots {
		l.sent[key] = recent
		return recent[len(recent)-slots].Add(window.length)
	}
	l.sent[key] = append(recent, now)
	return time.Time{}
}
