package transport

import (
	"context"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// line holds the calls that wait for room in one window. A call takes its slot when it is admitted, so a call that
// gives up costs the others nothing. The limiter's mutex guards it.
type line struct {
	Queue
	window moneymovement.Window
	kept   int // slots that polls must leave free
	past   history
	first  *Waiter   // the call whose turn is next
	since  time.Time // since when it is first
	timer  *time.Timer
	alarm  func()
}

func newLine(mu *sync.Mutex, window moneymovement.Window, allowance moneymovement.Allowance) *line {
	s := &line{window: window, kept: allowance.Calls / (PassedOver + 1),
		past: history{most: allowance.Calls, held: allowance.Held()}}
	s.alarm = func() {
		mu.Lock()
		defer mu.Unlock()
		s.serve(time.Now())
	}
	return s
}

// join puts a call in line. It returns nil if the call can be sent at once, and an error if its turn comes too late.
func (s *line) join(ctx context.Context, call moneymovement.RateCall) (*Waiter, error) {
	now := time.Now()
	w := s.Come(call)
	if s.first == nil && !s.room(w.Rank, now).After(now) {
		s.past.add(now)
		return nil, nil
	}
	if err := s.tooLate(ctx, &w, now); err != nil {
		return nil, err
	}
	joined := w // only a call that waits is on the heap
	joined.Admitted = make(chan error, 1)
	s.Add(&joined)
	s.serve(now)
	return &joined, nil
}

// tooLate refuses a call whose turn comes too late, as the line looks now. Later calls may still go first, and calls in
// line may give up.
func (s *line) tooLate(ctx context.Context, w *Waiter, now time.Time) error {
	deadline, limited := ctx.Deadline()
	if !limited && w.Closes.IsZero() {
		return nil
	}
	at := s.turn(w, now)
	switch {
	case !at.After(now):
		return nil
	case limited && !at.Before(deadline):
		return &moneymovement.NoRoom{Window: s.window, Until: at}
	case !w.Closes.IsZero() && !at.Before(w.Closes):
		return &moneymovement.NoRoom{Window: s.window, Until: at, Closed: true}
	}
	return nil
}

// turn returns when a call is admitted if none before it gives up. That is when there is room, or when the call has
// been first for [LongestTurn].
func (s *line) turn(w *Waiter, now time.Time) time.Time {
	at, since := now, now
	if s.first != nil {
		since = s.since
	}
	for i := range s.Ahead(w, 0) + 1 {
		at = s.past.free(i, now)
		if bound := since.Add(LongestTurn); at.After(bound) {
			at = bound
		}
		since = later(since, at)
	}
	return later(now, at)
}

// room returns when there is room for a call of the class if nobody else waits.
func (s *line) room(r Rank, now time.Time) time.Time {
	if r == PollRank {
		return s.past.free(s.kept, now)
	}
	return s.past.free(0, now)
}

// serve admits the calls for which there is room, and sets the timer for the next one.
func (s *line) serve(now time.Time) {
	for {
		w := s.Next(func() bool { return s.sparesConfirms(now) })
		if w != s.first {
			s.first, s.since = w, now
		}
		if w == nil {
			s.stopTimer()
			return
		}
		if !w.Closes.IsZero() && !now.Before(w.Closes) {
			s.Drop(w)
			w.Admitted <- &moneymovement.NoRoom{Window: s.window, Until: now, Closed: true}
			continue
		}
		at := s.room(s.alone(w), now)
		if bound := s.since.Add(LongestTurn); at.After(bound) {
			at = bound
		}
		if at.After(now) {
			s.setTimer(at.Sub(now))
			return
		}
		s.admit(w, now)
	}
}

// alone returns the rank by which a call finds room: its own while only its class waits, else the usual one.
func (s *line) alone(w *Waiter) Rank {
	for r, others := range s.waiting {
		if Rank(r) != w.Rank && len(others) > 0 {
			return UsualRank
		}
	}
	return w.Rank
}

// admit admits a call. The call takes its slot.
func (s *line) admit(w *Waiter, now time.Time) {
	s.Went(w)
	w.passed = now
	s.past.add(now)
	w.Admitted <- nil
}

// sparesConfirms reports that no confirm misses the end of its approval if a call of a later class goes first.
func (s *line) sparesConfirms(now time.Time) bool {
	ahead := len(s.waiting[FirstRank])
	for i, confirm := range s.waiting[ConfirmRank] {
		latest := confirm.Closes.Add(-RoomToConfirm)
		inTime := confirm.Closes.IsZero() || !s.past.free(ahead+i, now).After(latest)
		if inTime && !confirm.Closes.IsZero() && s.past.free(ahead+i+1, now).After(latest) {
			return false
		}
	}
	return true
}

// leave returns the place of a call that gives up, or the slot that it does not use.
func (s *line) leave(w *Waiter) {
	if w.passed.IsZero() {
		s.Drop(w)
	} else {
		s.past.remove(w.passed)
	}
	s.serve(time.Now())
}

func (s *line) setTimer(after time.Duration) {
	if s.timer == nil {
		s.timer = time.AfterFunc(after, s.alarm)
		return
	}
	s.timer.Reset(after)
}

func (s *line) stopTimer() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// idle reports that nobody waits and no call counts any more.
func (s *line) idle(now time.Time) bool {
	return s.first == nil && !s.past.latest().Add(s.past.held).After(now)
}
