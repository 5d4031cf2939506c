package transport

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// rank is the place of a class in the order. The lowest goes first.
type rank int

const (
	firstRank rank = iota // refreshes
	confirmRank
	usualRank
	pollRank
	ranks
)

func (c RateClass) rank() rank {
	switch c {
	case ClassRefresh:
		return firstRank
	case ClassConfirm:
		return confirmRank
	case ClassPoll:
		return pollRank
	default:
		return usualRank
	}
}

const (
	// passedOver is how many calls of other classes may go before a call of a waiting class. Together with that call
	// they are ten, so the class gets a tenth.
	passedOver = 9
	// roomToConfirm is the time that a confirm needs between its slot and the end of its approval: it must be signed
	// and arrive.
	roomToConfirm = 5 * time.Second
)

// waiter is a call in line.
type waiter struct {
	rank     rank
	closes   time.Time // of a confirm: when its approval expires
	number   uint64    // in the order of arrival
	admitted chan error
	passed   time.Time // when it was admitted; zero before
}

// before compares two calls of one class. A confirm without a known expiry comes after those with one.
func (w *waiter) before(other *waiter) int {
	switch {
	case w.closes.Equal(other.closes):
	case w.closes.IsZero():
		return 1
	case other.closes.IsZero():
		return -1
	default:
		return w.closes.Compare(other.closes)
	}
	return cmp.Compare(w.number, other.number)
}

// line holds the calls that wait for room in one window. A call takes its slot when it is admitted, so a call that
// gives up costs the others nothing. The limiter's mutex guards it.
type line struct {
	window  Window
	kept    int // slots that polls must leave free
	past    history
	waiting [ranks][]*waiter
	over    [ranks]int // for each waiting class, how many calls of other classes went since its last turn
	came    uint64     // how many calls have joined
	first   *waiter    // the call whose turn is next
	since   time.Time  // since when it is first
	timer   *time.Timer
	alarm   func()
}

func newLine(mu *sync.Mutex, window Window, allowance Allowance) *line {
	s := &line{window: window, kept: allowance.Calls / (passedOver + 1),
		past: history{most: allowance.Calls, held: allowance.Held()}}
	s.alarm = func() {
		mu.Lock()
		defer mu.Unlock()
		s.serve(time.Now())
	}
	return s
}

// join puts a call in line. It returns nil if the call can be sent at once, and an error if its turn comes too late.
func (s *line) join(ctx context.Context, call RateCall) (*waiter, error) {
	now := time.Now()
	w := waiter{rank: call.Class.rank(), number: s.came}
	if w.rank == confirmRank {
		w.closes = call.Closes
	}
	s.came++
	if s.first == nil && !s.room(w.rank, now).After(now) {
		s.past.add(now)
		return nil, nil
	}
	if err := s.tooLate(ctx, &w, now); err != nil {
		return nil, err
	}
	joined := w // only a call that waits is on the heap
	joined.admitted = make(chan error, 1)
	place, _ := slices.BinarySearchFunc(s.waiting[w.rank], &joined, (*waiter).before)
	s.waiting[w.rank] = slices.Insert(s.waiting[w.rank], place, &joined)
	s.serve(now)
	return &joined, nil
}

// tooLate refuses a call whose turn comes too late, as the line looks now. Later calls may still go first, and calls in
// line may give up.
func (s *line) tooLate(ctx context.Context, w *waiter, now time.Time) error {
	deadline, limited := ctx.Deadline()
	if !limited && w.closes.IsZero() {
		return nil
	}
	own, _ := slices.BinarySearchFunc(s.waiting[w.rank], w, (*waiter).before)
	before := own
	for _, others := range s.waiting[:w.rank] {
		before += len(others)
	}
	at := s.admissionTime(min(before, (own+1)*(passedOver+1)-1), now) // the class gets its tenth
	switch {
	case !at.After(now):
		return nil
	case limited && !at.Before(deadline):
		return &WaitTooLong{Window: s.window, Until: at}
	case !w.closes.IsZero() && !at.Before(w.closes):
		return &WaitTooLong{Window: s.window, Until: at, Closed: true}
	}
	return nil
}

// admissionTime returns when a call is admitted that has before other calls in front of it, if none gives up. That is
// when there is room, or when the call has been first for [LongestTurn].
func (s *line) admissionTime(before int, now time.Time) time.Time {
	at, since := now, now
	if s.first != nil {
		since = s.since
	}
	for i := range before + 1 {
		at = s.past.free(i, now)
		if bound := since.Add(LongestTurn); at.After(bound) {
			at = bound
		}
		since = later(since, at)
	}
	return later(now, at)
}

// room returns when there is room for a call of the class if nobody else waits.
func (s *line) room(r rank, now time.Time) time.Time {
	if r == pollRank {
		return s.past.free(s.kept, now)
	}
	return s.past.free(0, now)
}

// serve admits the calls for which there is room, and sets the timer for the next one.
func (s *line) serve(now time.Time) {
	for {
		w := s.next(now)
		if w != s.first {
			s.first, s.since = w, now
		}
		if w == nil {
			s.stopTimer()
			return
		}
		if !w.closes.IsZero() && !now.Before(w.closes) {
			s.drop(w)
			w.admitted <- &WaitTooLong{Window: s.window, Until: now, Closed: true}
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
func (s *line) alone(w *waiter) rank {
	for r, others := range s.waiting {
		if rank(r) != w.rank && len(others) > 0 {
			return usualRank
		}
	}
	return w.rank
}

// admit admits a call. The call takes its slot.
func (s *line) admit(w *waiter, now time.Time) {
	s.drop(w)
	for r := range s.waiting {
		if len(s.waiting[r]) > 0 {
			s.over[r]++
		}
	}
	s.over[w.rank] = 0
	w.passed = now
	s.past.add(now)
	w.admitted <- nil
}

// next returns the call that goes next, or nil. That is a call of a class that was passed over often enough, or else a
// call of the first class.
func (s *line) next(now time.Time) *waiter {
	var next *waiter
	for r, class := range s.waiting {
		switch {
		case len(class) == 0:
		case next == nil:
			next = class[0]
		case rank(r) > confirmRank && s.over[r] >= passedOver && s.sparesConfirms(now):
			return class[0]
		}
	}
	return next
}

// sparesConfirms reports that no confirm misses the end of its approval if a call of a later class goes first.
func (s *line) sparesConfirms(now time.Time) bool {
	ahead := len(s.waiting[firstRank])
	for i, confirm := range s.waiting[confirmRank] {
		latest := confirm.closes.Add(-roomToConfirm)
		inTime := confirm.closes.IsZero() || !s.past.free(ahead+i, now).After(latest)
		if inTime && !confirm.closes.IsZero() && s.past.free(ahead+i+1, now).After(latest) {
			return false
		}
	}
	return true
}

// leave returns the place of a call that gives up, or the slot that it does not use.
func (s *line) leave(w *waiter) {
	if w.passed.IsZero() {
		s.drop(w)
	} else {
		s.past.remove(w.passed)
	}
	s.serve(time.Now())
}

// drop removes a call from the line, if it is there.
func (s *line) drop(w *waiter) {
	class := s.waiting[w.rank]
	if place, found := slices.BinarySearchFunc(class, w, (*waiter).before); found {
		s.waiting[w.rank] = slices.Delete(class, place, place+1)
	}
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
