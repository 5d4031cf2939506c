// Package ratewindow keeps calls inside the rate windows of the service: those of one process, and those that many
// processes share through a store. package fleet has the public names of the second.
package ratewindow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"sync/atomic"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// Limiter is a moneymovement.RateLimiter. In any period of Allowance.Span it admits at most as many calls as the window
// allows. It does not need to know when the service's own window starts.
//
// In a window, refreshes go first, then confirms, then other writes and reads, then polls. Confirms go in the order in
// which their approvals expire, all other calls in the order of arrival. A waiting class gets at least a tenth of the
// window, unless a confirm would be too late. Polls leave a tenth of the window free, so that a read finds room at
// once.
//
// The first call in the queue waits for at most [LongestWait], and is then sent.
//
// Make it with [New]. A nil or zero Limiter limits nothing.
type Limiter struct {
	allowances map[moneymovement.Window]moneymovement.Allowance
	sharing    *Sharing // nil in one process

	mu      sync.Mutex
	queues  map[queueKey]*windowQueue
	sweepAt int // how many queues there may be before unused queues are removed
}

// Sharing is how many processes share windows.
type Sharing struct {
	// Store counts the windows.
	Store Store
	// Credential names what the windows of the store count by.
	Credential string
	// Process is the name of this process in the store.
	Process string
	// Share is how many processes divide a window while the store is unavailable. With 0, calls then fail.
	Share int
	// Patience is how long calls wait for an unavailable store before they fail.
	Patience time.Duration
	// Unavailable makes the error of a call that fails because the store is unavailable.
	Unavailable func(window moneymovement.Window, err error) error
}

// Store counts the calls of windows for many processes. See fleet.Windows.
type Store interface {
	Reserve(ctx context.Context, request Request) (Reservation, error)
}

// LongestWait is how long the first call in the queue waits for room. A window of a minute never makes it wait that
// long, but a window of an hour does. If the host does not count calls, the program must not stop for an hour. If it
// does count, its refusal says when to try again.
const LongestWait = 65 * time.Second

// roomToConfirm is the time that a confirm needs between its slot and the end of its approval: it must be signed and
// arrive.
const roomToConfirm = 5 * time.Second

// sweepLeast is how many queues are kept before unused queues are removed. Every login has its own challenge, and an
// integrator may act for any number of clients.
const sweepLeast = 128

type queueKey struct {
	window moneymovement.Window
	scope  string
}

// New returns a limiter for the given windows. Other windows are not limited. Without sharing, it counts for itself.
func New(allowances map[moneymovement.Window]moneymovement.Allowance, sharing *Sharing) *Limiter {
	return &Limiter{allowances: allowances, sharing: sharing}
}

// ShareOfStatedWindows returns the part of each window that one of n clients of a credential may use: rounded down, and
// at least one call. The window of a login challenge stays whole, since only one client knows the challenge.
func ShareOfStatedWindows(n int) map[moneymovement.Window]moneymovement.Allowance {
	windows := moneymovement.StatedWindows()
	for window, allowance := range windows {
		if window != moneymovement.WindowLoginChallenge {
			allowance.Calls = max(allowance.Calls/max(n, 1), 1)
			windows[window] = allowance
		}
	}
	return windows
}

// Wait implements moneymovement.RateLimiter.
func (l *Limiter) Wait(ctx context.Context, call moneymovement.RateCall) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l == nil {
		return nil
	}
	allowance := l.allowances[call.Window]
	if allowance.Calls <= 0 || allowance.Per <= 0 {
		return nil
	}
	l.mu.Lock()
	s := l.queueOf(call, allowance)
	w, err := s.join(ctx, call)
	l.mu.Unlock()
	if w == nil {
		return err
	}
	ReportAdmission(ctx, func() time.Time {
		l.mu.Lock()
		defer l.mu.Unlock()
		return s.admissionTime(w, time.Now())
	})
	select {
	case err = <-w.ended:
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

// queueOf returns the queue of a window. The caller holds mu.
func (l *Limiter) queueOf(call moneymovement.RateCall, allowance moneymovement.Allowance) *windowQueue {
	key := queueKey{call.Window, call.Scope}
	if l.queues[key] == nil {
		l.sweep()
		l.queues[key] = newWindowQueue(l, call, allowance)
	}
	return l.queues[key]
}

// sweep removes queues in which no call counts any more. It runs when their number has doubled, so that it costs little
// on average. The caller holds mu.
func (l *Limiter) sweep() {
	if l.queues == nil {
		l.queues, l.sweepAt = map[queueKey]*windowQueue{}, sweepLeast
	}
	if len(l.queues) < l.sweepAt {
		return
	}
	now := time.Now()
	for key, s := range l.queues {
		if s.idle(now) {
			delete(l.queues, key)
		}
	}
	l.sweepAt = max(sweepLeast, 2*len(l.queues))
}

// key names a window in the store. A scope can be an email, so the name has its digest only.
func (s *Sharing) key(call moneymovement.RateCall) string {
	key := s.Credential + ":" + string(call.Window)
	if call.Scope != "" {
		digest := sha256.Sum256([]byte(call.Scope))
		key += ":" + hex.EncodeToString(digest[:8])
	}
	return key
}

// QueueWatch is called when a call has waited in a queue for some seconds. until is when it will go on, as far as is
// known. What it returns is called when the wait is over.
type QueueWatch func(window moneymovement.Window, until time.Time) (over func())

type (
	queueWatch struct{} // the context's key of the QueueWatch
	goesOn     struct{} // the context's key of an *atomic.Value with a func() time.Time
)

// watchedQueue is the time in a queue after which a [QueueWatch] is called.
const watchedQueue = 5 * time.Second

// WatchQueue returns a context for calls whose waits in queues are watched.
func WatchQueue(ctx context.Context, watch QueueWatch) context.Context {
	return context.WithValue(ctx, queueWatch{}, watch)
}

// BeginWait begins a wait, and returns its context, for [ReportAdmission]. Call over when the wait is over.
func BeginWait(ctx context.Context, window moneymovement.Window) (waiting context.Context, over func()) {
	watch, _ := ctx.Value(queueWatch{}).(QueueWatch)
	if watch == nil {
		return ctx, func() {}
	}
	known := new(atomic.Value)
	called := make(chan func(), 1)
	timer := time.AfterFunc(watchedQueue, func() {
		over := func() {}
		defer func() { called <- over }() // also if the watch ends its goroutine
		var until time.Time
		if at, ok := known.Load().(func() time.Time); ok {
			if until = at(); !until.After(time.Now()) {
				until = time.Time{} // it would have gone on, so nobody knows
			}
		}
		over = watch(window, until)
	})
	return context.WithValue(ctx, goesOn{}, known), func() {
		if !timer.Stop() {
			(<-called)()
		}
	}
}

// ReportAdmission is for who keeps a queue. at returns when the call will go on; the watch of the queue calls it.
func ReportAdmission(waiting context.Context, at func() time.Time) {
	if known, ok := waiting.Value(goesOn{}).(*atomic.Value); ok {
		known.Store(at)
	}
}
