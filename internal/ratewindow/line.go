package ratewindow

import (
	"context"
	"slices"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// line holds the calls that wait for room in one window. A call takes its slot when it is admitted, so a call that
// gives up costs the others nothing. A slot comes from the line's own window, or from the store. The limiter's mutex
// guards the line.
type line struct {
	of     *Limiter
	window moneymovement.Window
	calls  int
	held   time.Duration // how long a call counts
	queue  queue

	own   *own   // nil while the store counts
	store *store // nil without a store

	first *waiter   // the call whose turn is next
	since time.Time // since when it is first
	timer *time.Timer
}

// own is a window that the process counts for itself: the whole one, or its part while the store is away. Times are
// nanoseconds since base, so that a clock that is set changes nothing.
type own struct {
	calls int
	held  time.Duration
	base  time.Time
	slots slots
}

func (o *own) time(now time.Time) int64 { return int64(now.Sub(o.base)) }

// free returns when the k-th next call finds room, by the clock as it is now.
func (o *own) free(k int, now time.Time) time.Time {
	at := o.time(now)
	o.slots.expire(at)
	return now.Add(time.Duration(o.slots.free(k, o.calls, int64(o.held), at) - at))
}

// take returns the slot of a call that goes now.
func (o *own) take(now time.Time) slot {
	mark := o.time(now) + int64(o.held)
	o.slots.add(mark, o.calls)
	return slot{at: now, mark: mark, of: o}
}

// slot is room for one call at a time of this machine's clock.
type slot struct {
	at   time.Time
	mark int64
	of   *own // nil if it is of the store
}

func newLine(l *Limiter, call moneymovement.RateCall, allowance moneymovement.Allowance) *line {
	s := &line{of: l, window: call.Window, calls: allowance.Calls, held: allowance.Span()}
	if l.sharing == nil {
		s.own = &own{calls: s.calls, held: s.held, base: time.Now()}
	} else {
		s.store = &store{key: l.sharing.key(call), slack: s.held - allowance.Per}
	}
	return s
}

// join puts a call in line. It returns nil if the call can be sent at once, and an error if its turn comes too late, as
// far as is known now.
func (s *line) join(ctx context.Context, call moneymovement.RateCall) (*waiter, error) {
	now, rank := time.Now(), rankOf(call.Class)
	if s.store == nil && s.queue.empty() && !s.own.free(s.place(rank == Polls), now).After(now) {
		s.own.take(now)
		return nil, nil
	}
	w := &waiter{rank: rank, number: s.queue.came, ended: make(chan error, 1)}
	if s.queue.came++; rank == Confirms {
		w.closes = call.Closes
	}
	w.deadline, _ = ctx.Deadline()
	if err := s.tooLate(w, now); err != nil {
		return nil, err
	}
	s.queue.add(w)
	s.serve(now)
	return w, nil
}

// serve admits the calls whose turn has come, and sets the alarm for the next one.
func (s *line) serve(now time.Time) {
	s.refuseClosed(now)
	s.admitAll(now)
	if s.store != nil {
		s.ask(now)
		s.failWhileAway(now)
	}
	s.setTimer(now)
}

// admitAll admits the calls for which there are slots.
func (s *line) admitAll(now time.Time) {
	if s.store != nil {
		s.admitGiven(now)
	}
	for s.next(now) != nil && s.own != nil && !s.ownAt(now).After(now) {
		s.admit(s.own.take(now), now)
	}
}

// next returns the call that goes next, or nil.
func (s *line) next(now time.Time) *waiter {
	w := s.queue.next(func() bool { return s.spares(now) })
	if w != s.first {
		s.first, s.since = w, now
	}
	return w
}

// place returns for which next call the line's own window must have room. While only polls wait, some slots stay free.
func (s *line) place(onlyPolls bool) int {
	if onlyPolls {
		return kept(s.own.calls) + 1
	}
	return 1
}

// ownAt returns when the first call in line gets a slot of the line's own window.
func (s *line) ownAt(now time.Time) time.Time {
	waiting := s.queue.counts()
	return earlier(s.own.free(s.place(waiting.onlyPolls()), now), s.since.Add(LongestTurn))
}

// admit admits the first call in line. The call takes its slot.
func (s *line) admit(given slot, now time.Time) {
	w := s.first
	w.slot, w.admitted = given, now
	s.queue.went(w)
	s.made(given, now)
	w.ended <- nil
}

// spares reports that no confirm misses the end of its approval if a call of a later class goes first.
func (s *line) spares(now time.Time) bool {
	if s.own == nil {
		return !s.pressed(now)
	}
	ahead := len(s.queue.waiting[Refreshes])
	for i, confirm := range s.queue.waiting[Confirms] {
		latest := confirm.closes.Add(-roomToConfirm)
		inTime := confirm.closes.IsZero() || !s.own.free(ahead+i+1, now).After(latest)
		if inTime && !confirm.closes.IsZero() && s.own.free(ahead+i+2, now).After(latest) {
			return false
		}
	}
	return true
}

// leave takes a call out of the line that gives up, or gives its slot to another call.
func (s *line) leave(w *waiter) {
	switch {
	case w.admitted.IsZero():
		s.queue.drop(w)
	case s.own != nil && w.slot.of == s.own:
		s.own.slots.remove(w.slot.mark)
		s.unmade(w)
	case s.unmade(w):
		s.store.slots = slices.Insert(s.store.slots, 0, w.slot)
	}
	s.serve(time.Now())
}

// refuse ends the wait of a call.
func (s *line) refuse(w *waiter, err error) {
	s.queue.drop(w)
	w.ended <- err
}

// refuseClosed refuses the confirms whose approval expired while they waited. While there may be room, the service
// decides whether an approval has expired.
func (s *line) refuseClosed(now time.Time) {
	if len(s.queue.waiting[Confirms]) == 0 || !now.Before(s.free(1, now)) {
		return
	}
	for _, w := range slices.Clone(s.queue.waiting[Confirms]) {
		if !w.closes.IsZero() && !now.Before(w.closes) {
			s.refuse(w, &moneymovement.WindowFull{Window: s.window, Until: now, Closed: true})
		}
	}
}

// free returns when the k-th next call finds room, as far as is known.
func (s *line) free(k int, now time.Time) time.Time {
	if s.own != nil {
		return s.own.free(k, now)
	}
	return s.store.known.free(k, s.calls, s.held)
}

// tooLate refuses a call whose turn comes too late, as the line looks now. Later calls may still go first, and calls in
// line may give up.
func (s *line) tooLate(w *waiter, now time.Time) error {
	if w.deadline.IsZero() && w.closes.IsZero() {
		return nil
	}
	at := s.turn(w, now)
	switch {
	case !at.After(now):
		return nil
	case !w.deadline.IsZero() && !at.Before(w.deadline):
		return &moneymovement.WindowFull{Window: s.window, Until: at}
	case !w.closes.IsZero() && !at.Before(w.closes):
		return &moneymovement.WindowFull{Window: s.window, Until: at, Closed: true}
	}
	return nil
}

// turn returns when a call is admitted if none before it gives up. That is when there is room, or when the call has
// been first for [LongestTurn].
func (s *line) turn(w *waiter, now time.Time) time.Time {
	ahead, given := s.queue.ahead(w, s.elsewhere(w.rank)), s.given()
	if ahead < len(given) {
		return later(now, given[ahead].at)
	}
	k := ahead - len(given) + 1
	if s.held <= LongestTurn {
		return later(now, s.free(k, now))
	}
	at, since := now, now
	if s.first != nil {
		since = s.since
	}
	for i := range k {
		at = earlier(s.free(i+1, now), since.Add(LongestTurn))
		since = later(since, at)
	}
	return later(now, at)
}

// setTimer sets the alarm for when the line has something to do.
func (s *line) setTimer(now time.Time) {
	next := s.storeAt(now)
	if s.first != nil {
		if s.own != nil {
			next = sooner(next, s.ownAt(now))
		}
		for _, w := range s.queue.waiting[Confirms] {
			if w.closes.After(now) {
				next = sooner(next, w.closes)
			}
		}
	}
	switch {
	case next.IsZero(): // an alarm without anything to do changes nothing
	case s.timer == nil:
		s.timer = time.AfterFunc(next.Sub(now), s.alarm)
	default:
		s.timer.Reset(next.Sub(now))
	}
}

func (s *line) alarm() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.serve(time.Now())
}

// idle reports that nobody waits and no call counts any more.
func (s *line) idle(now time.Time) bool {
	if s.store != nil {
		return s.queue.empty() && s.store.idle(now, s.held)
	}
	return s.queue.empty() && !s.own.free(s.own.calls, now).After(now)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// sooner is earlier, where zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
