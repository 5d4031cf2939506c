package ratewindow

import (
	"context"
	"slices"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// windowQueue holds the calls that wait for room in one window. A call takes its slot when it is admitted, so a call
// that gives up costs the others nothing. A slot comes from the process's own window, or from the store. The limiter's
// mutex guards the queue.
type windowQueue struct {
	limiter *Limiter
	window  moneymovement.Window
	calls   int
	span    time.Duration // how long a call counts
	queue   priorityQueue

	local *localWindow // nil while the store counts
	store *store       // nil without a store

	first *waiter   // the call that goes next
	since time.Time // since when it is first
	timer *time.Timer
}

// localWindow is a window that the process counts for itself: the whole one, or its part while the store is
// unavailable. Times are nanoseconds since base, so that a clock that is set changes nothing.
type localWindow struct {
	calls int
	span  time.Duration
	base  time.Time
	slots slots
}

func (o *localWindow) time(now time.Time) int64 { return int64(now.Sub(o.base)) }

// free returns when the k-th next call finds room, by the clock as it is now.
func (o *localWindow) free(k int, now time.Time) time.Time {
	at := o.time(now)
	o.slots.expire(at)
	return now.Add(time.Duration(o.slots.free(k, o.calls, int64(o.span), at) - at))
}

// take returns the slot of a call that goes now.
func (o *localWindow) take(now time.Time) slot {
	mark := o.time(now) + int64(o.span)
	o.slots.add(mark, o.calls)
	return slot{at: now, mark: mark, local: o}
}

// slot is room for one call at a time of this machine's clock.
type slot struct {
	at    time.Time
	mark  int64
	local *localWindow // nil if it is of the store
}

func newWindowQueue(l *Limiter, call moneymovement.RateCall, allowance moneymovement.Allowance) *windowQueue {
	s := &windowQueue{limiter: l, window: call.Window, calls: allowance.Calls, span: allowance.Span()}
	if l.sharing == nil {
		s.local = &localWindow{calls: s.calls, span: s.span, base: time.Now()}
	} else {
		s.store = &store{key: l.sharing.key(call), slack: s.span - allowance.Per}
	}
	return s
}

// join adds a call to the queue. It returns nil if the call can be sent at once, and an error if its slot comes too
// late, as far as is known now.
func (s *windowQueue) join(ctx context.Context, call moneymovement.RateCall) (*waiter, error) {
	now, rank := time.Now(), rankOf(call.Class)
	if s.store == nil && s.queue.empty() && !s.local.free(s.place(rank == Polls), now).After(now) {
		s.local.take(now)
		return nil, nil
	}
	w := &waiter{rank: rank, number: s.queue.arrivals, ended: make(chan error, 1)}
	if s.queue.arrivals++; rank == Confirms {
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

// serve admits the calls that have a slot, and sets the timer for the next one.
func (s *windowQueue) serve(now time.Time) {
	s.refuseClosed(now)
	s.admitAll(now)
	if s.store != nil {
		s.request(now)
		s.failWhileUnavailable(now)
	}
	s.setTimer(now)
}

// admitAll admits the calls for which there are slots.
func (s *windowQueue) admitAll(now time.Time) {
	if s.store != nil {
		s.admitGranted(now)
	}
	for s.next(now) != nil && s.local != nil && !s.localAt(now).After(now) {
		s.admit(s.local.take(now), now)
	}
}

// next returns the call that goes next, or nil.
func (s *windowQueue) next(now time.Time) *waiter {
	w := s.queue.next(func() bool { return s.confirmsCanWait(now) })
	if w != s.first {
		s.first, s.since = w, now
	}
	return w
}

// place returns for which next call the local window must have room. While only polls wait, some slots stay free.
func (s *windowQueue) place(onlyPolls bool) int {
	if onlyPolls {
		return pollReserve(s.local.calls) + 1
	}
	return 1
}

// localAt returns when the first call gets a slot of the local window.
func (s *windowQueue) localAt(now time.Time) time.Time {
	waiting := s.queue.counts()
	return earlier(s.local.free(s.place(waiting.onlyPolls()), now), s.since.Add(LongestWait))
}

// admit admits the first call. It takes the slot.
func (s *windowQueue) admit(granted slot, now time.Time) {
	w := s.first
	w.slot, w.admitted = granted, now
	s.queue.markAdmitted(w)
	s.recordCall(granted, now)
	w.ended <- nil
}

// confirmsCanWait reports that no confirm misses the end of its approval if a call of a later class goes first.
func (s *windowQueue) confirmsCanWait(now time.Time) bool {
	if s.local == nil {
		return !s.pressed(now)
	}
	ahead := len(s.queue.waiting[Refreshes])
	for i, confirm := range s.queue.waiting[Confirms] {
		latest := confirm.closes.Add(-roomToConfirm)
		inTime := confirm.closes.IsZero() || !s.local.free(ahead+i+1, now).After(latest)
		if inTime && !confirm.closes.IsZero() && s.local.free(ahead+i+2, now).After(latest) {
			return false
		}
	}
	return true
}

// leave removes a call that gives up. If it has a slot, another call gets the slot.
func (s *windowQueue) leave(w *waiter) {
	switch {
	case w.admitted.IsZero():
		s.queue.drop(w)
	case s.local != nil && w.slot.local == s.local:
		s.local.slots.remove(w.slot.mark)
		s.forgetCall(w)
	case s.forgetCall(w):
		s.store.slots = slices.Insert(s.store.slots, 0, w.slot)
	}
	s.serve(time.Now())
}

// refuse ends the wait of a call.
func (s *windowQueue) refuse(w *waiter, err error) {
	s.queue.drop(w)
	w.ended <- err
}

// refuseClosed refuses the confirms whose approval expired while they waited. While there may be room, the service
// decides whether an approval has expired.
func (s *windowQueue) refuseClosed(now time.Time) {
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
func (s *windowQueue) free(k int, now time.Time) time.Time {
	if s.local != nil {
		return s.local.free(k, now)
	}
	return s.store.known.free(k, s.calls, s.span)
}

// tooLate refuses a call whose slot comes too late, by what is known now. Later calls may still go first, and calls
// that wait may give up.
func (s *windowQueue) tooLate(w *waiter, now time.Time) error {
	if w.deadline.IsZero() && w.closes.IsZero() {
		return nil
	}
	at := s.admissionTime(w, now)
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

// admissionTime returns when a call is admitted if none before it gives up. That is when there is room, or when the
// call has been first for [LongestWait].
func (s *windowQueue) admissionTime(w *waiter, now time.Time) time.Time {
	ahead, granted := s.queue.ahead(w, s.elsewhere(w.rank)), s.grantedSlots()
	if ahead < len(granted) {
		return later(now, granted[ahead].at)
	}
	k := ahead - len(granted) + 1
	if s.span <= LongestWait {
		return later(now, s.free(k, now))
	}
	at, since := now, now
	if s.first != nil {
		since = s.since
	}
	for i := range k {
		at = earlier(s.free(i+1, now), since.Add(LongestWait))
		since = later(since, at)
	}
	return later(now, at)
}

// setTimer sets the timer for when the queue has something to do.
func (s *windowQueue) setTimer(now time.Time) {
	next := s.storeAt(now)
	if s.first != nil {
		if s.local != nil {
			next = sooner(next, s.localAt(now))
		}
		for _, w := range s.queue.waiting[Confirms] {
			if w.closes.After(now) {
				next = sooner(next, w.closes)
			}
		}
	}
	switch {
	case next.IsZero(): // a timer without anything to do changes nothing
	case s.timer == nil:
		s.timer = time.AfterFunc(next.Sub(now), s.alarm)
	default:
		s.timer.Reset(next.Sub(now))
	}
}

func (s *windowQueue) alarm() {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	s.serve(time.Now())
}

// idle reports that nobody waits and no call counts any more.
func (s *windowQueue) idle(now time.Time) bool {
	if s.store != nil {
		return s.queue.empty() && s.store.idle(now, s.span)
	}
	return s.queue.empty() && !s.local.free(s.local.calls, now).After(now)
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
