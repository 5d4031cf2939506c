package ratewindow

import (
	"context"
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"
)

// store is what a queue knows of the store of its window.
type store struct {
	key   string
	slack time.Duration // how much longer a call counts here than at the service

	slots        []slot     // that the store has granted: each is for whichever call goes next when its time comes
	recent       []sentCall // calls that still count
	unused       []int64    // marks of slots to give back
	known        view
	lastResponse time.Time

	pending   bool      // a request is under way
	requestAt time.Time // not before this time
	top       int       // the first class that the store knows to wait
	windowID  string    // the instance of the window that has the calls of recent

	slow        int       // how often in a row its response came too late to be of use
	unavailable time.Time // since when the store cannot be used; zero if it can
	err         error     // why
	fails       int       // how often in a row
}

// sentCall is a call that was admitted, and whether the store counts it.
type sentCall struct {
	at       time.Time
	mark     int64
	reported bool
}

const (
	// requestTimeout bounds a request. A store that needs longer is of no use.
	requestTimeout = 2 * time.Second
	// maxAhead is how long before its time a slot is requested. The more, the later a confirm of another process may
	// find that the slot is taken.
	maxAhead = 250 * time.Millisecond
	// An unavailable store is asked again after pauses that grow.
	firstPause = 50 * time.Millisecond
	// maxSlow is how many reservations may come too late in a row. A machine under load needs some time now and then.
	maxSlow = 10
)

var errSlow = errors.New("it responds too slowly")

// view is what this process last heard of the window. The zero view knows nothing.
type view struct {
	at        time.Time
	freeAfter []time.Duration // see Reservation.Free
	others    counts
}

// free returns when the k-th next call finds room, or a time before that.
func (v *view) free(k, calls int, span time.Duration) time.Time {
	if len(v.freeAfter) == 0 {
		return v.at
	}
	place := (k - 1) % calls
	known := min(bits.Len(uint(place+1))-1, len(v.freeAfter)-1)
	return v.at.Add(v.freeAfter[known] + time.Duration((k-1)/calls)*span)
}

// grantedSlots returns the slots that the store has granted.
func (s *windowQueue) grantedSlots() []slot {
	if s.store == nil {
		return nil
	}
	return s.store.slots
}

// elsewhere returns how many calls of classes before a rank wait in other processes.
func (s *windowQueue) elsewhere(rank int) (calls int) {
	if s.local != nil {
		return 0
	}
	for r := range rank {
		calls += s.store.known.others[r]
	}
	return calls
}

// recordCall notes a call that was admitted, for the store.
func (s *windowQueue) recordCall(granted slot, now time.Time) {
	if s.store != nil {
		s.store.recent = append(s.store.recent, sentCall{now, granted.mark, granted.local == nil})
	}
}

// forgetCall forgets a call that was admitted, and was not made. It returns false if the store knows nothing of it.
func (s *windowQueue) forgetCall(w *waiter) bool {
	if s.store == nil {
		return false
	}
	i := slices.IndexFunc(s.store.recent, func(m sentCall) bool {
		return m.mark == w.slot.mark && m.at.Equal(w.admitted)
	})
	if i >= 0 {
		s.store.recent = slices.Delete(s.store.recent, i, i+1)
	}
	return i >= 0
}

// admitGranted admits the calls whose slots of the store have come.
func (s *windowQueue) admitGranted(now time.Time) {
	st := s.store
	for len(st.slots) > 0 && !st.slots[0].at.After(now) {
		due := st.slots[0]
		st.slots = st.slots[1:]
		if s.next(now) == nil || now.Sub(due.at) > st.slack/2 { // too old: the service would count it later
			st.returnSlot(due)
			continue
		}
		s.admit(due, now)
	}
	waiting := s.queue.counts()
	for len(st.slots) > waiting.sum() { // calls gave up
		last := len(st.slots) - 1
		st.returnSlot(st.slots[last])
		st.slots = st.slots[:last]
	}
	st.recent = slices.DeleteFunc(st.recent, func(m sentCall) bool { return now.Sub(m.at) >= s.span })
}

func (s *store) returnSlot(unused slot) {
	if unused.local == nil {
		s.unused = append(s.unused, unused.mark)
	}
}

// pressed reports that a confirm may be too late if calls of a later class go first, whatever other processes do.
func (s *windowQueue) pressed(now time.Time) bool {
	for _, confirm := range s.queue.waiting[Confirms] {
		if !confirm.closes.IsZero() {
			return confirm.closes.Before(now.Add(s.span + roomToConfirm))
		}
	}
	return false
}

// ahead returns how long before its time a slot is requested.
func (s *windowQueue) ahead() time.Duration { return min(s.span/60, maxAhead) }

// demand returns how many calls of each class wait for a slot.
func (s *windowQueue) demand() counts {
	return s.queue.counts().without(len(s.store.slots))
}

// request asks the store for slots, if calls wait for them and its time has come.
func (s *windowQueue) request(now time.Time) {
	st, calls := s.store, s.demand()
	overdue := s.overdue(now)
	due := !now.Before(st.requestAt)
	if st.unavailable.IsZero() {
		due = due || overdue || calls.top() < st.top
	}
	idle := calls.sum() == 0 && s.local == nil && (len(st.unused) == 0 || !st.unavailable.IsZero())
	if st.pending || !due || idle {
		return
	}
	request := Request{
		Key: st.key, Process: s.limiter.sharing.Process, Calls: s.calls, Span: s.span, Ahead: s.ahead(), Waiting: calls,
		Pressed: s.pressed(now), Overdue: overdue, Unused: st.unused,
	}
	if now.Sub(st.lastResponse) < s.span { // the window still exists, unless it was lost
		request.WindowID = st.windowID
	}
	for i := range st.recent {
		if !st.recent[i].reported {
			request.Past = append(request.Past, now.Sub(st.recent[i].at))
		}
	}
	st.unused, st.pending = nil, true
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
		defer cancel()
		reservation, err := s.limiter.sharing.Store.Reserve(ctx, request)
		s.limiter.mu.Lock()
		defer s.limiter.mu.Unlock()
		s.receive(&request, now, reservation, err)
		s.serve(time.Now())
	}()
}

// overdue reports that the first call has waited for so long that it goes in any case. This is for windows that are
// longer than a program should stop for; see [LongestWait].
func (s *windowQueue) overdue(now time.Time) bool {
	return s.span > LongestWait && s.first != nil && now.Sub(s.since) >= LongestWait
}

// receive takes in what the store returned.
func (s *windowQueue) receive(request *Request, asked time.Time, reservation Reservation, err error) {
	now, st := time.Now(), s.store
	st.pending = false
	if err == nil && now.Sub(asked) > st.slack/2 && len(reservation.Slots) > 0 { // they may be older than they seem
		for _, granted := range reservation.Slots {
			st.unused = append(st.unused, granted.Mark)
		}
		if st.slow++; st.slow < maxSlow {
			st.requestAt = now.Add(jitter(s.ahead()))
			return
		}
		err = errSlow
	}
	if err != nil {
		s.markUnavailable(now, err) // unused slots may have been returned already, so they are not returned again
		return
	}
	// The next request reports to the store which calls were made without it.
	s.local, st.unavailable, st.err, st.fails = nil, time.Time{}, nil, 0
	st.slow, st.lastResponse = 0, now
	if reservation.WindowID != st.windowID {
		st.changeWindow(reservation.WindowID)
	}
	if reservation.WindowID != request.WindowID && request.WindowID != "" {
		st.requestAt = now.Add(jitter(s.ahead() / 2)) // with the calls that the new window does not have
		return
	}
	for i := range st.recent {
		st.recent[i].reported = st.recent[i].reported || !st.recent[i].at.After(asked)
	}
	for _, granted := range reservation.Slots {
		st.slots = append(st.slots, slot{at: now.Add(granted.In), mark: granted.Mark})
	}
	slices.SortStableFunc(st.slots, func(a, b slot) int { return a.at.Compare(b.at) })
	st.known = view{at: now, freeAfter: reservation.Free, others: reservation.Others}
	still := counts(request.Waiting).without(len(reservation.Slots))
	st.top = still.top()
	st.requestAt = time.Time{}
	if reservation.Next > 0 {
		st.requestAt = now.Add(reservation.Next + jitter(s.ahead()/2))
	}
	s.refuseLate(now)
}

// changeWindow forgets the slots of a window that was lost.
func (s *store) changeWindow(name string) {
	s.slots = slices.DeleteFunc(s.slots, func(granted slot) bool { return granted.local == nil })
	for i := range s.recent {
		s.recent[i].reported = false
	}
	s.unused, s.windowID = nil, name
}

// refuseLate refuses the calls that come too late by what is known now.
func (s *windowQueue) refuseLate(now time.Time) {
	for _, w := range s.queue.all() {
		if err := s.tooLate(w, now); err != nil {
			s.refuse(w, err)
		}
	}
}

// markUnavailable notes that the store cannot be used, and when to ask it again. Every process waits for a time of its
// own, so that not all ask at once when the store is back.
func (s *windowQueue) markUnavailable(now time.Time, err error) {
	st := s.store
	if st.unavailable.IsZero() {
		st.unavailable = now
		if s.limiter.sharing.Share > 0 {
			s.local = s.localShare(now)
			s.refuseLate(now)
		}
	}
	pause := min(firstPause<<min(st.fails, 10), s.span/quietShare/2)
	st.fails++
	st.err = err
	st.requestAt = now.Add(pause/2 + jitter(pause))
}

// jitter returns a random time up to most, so that processes do not ask at the same time.
func jitter(most time.Duration) time.Duration {
	return rand.N(most + 1) //gosec:disable G404 -- spreads processes, and hides nothing
}

// localShare returns this process's part of the window. It has the calls that this process made, and counts the calls
// of the others as they were when the store was last heard: of each n free places, one is for this process.
func (s *windowQueue) localShare(now time.Time) *localWindow {
	n, recent := s.limiter.sharing.Share, s.store.recent
	share := &localWindow{calls: max(s.calls/n, 1), span: s.span, base: now}
	var until []time.Time
	for i := range share.calls {
		until = append(until, s.store.known.free((i+1)*n, s.calls, s.span))
	}
	for i, m := range recent {
		if place := share.calls - len(recent) + i; place >= 0 {
			until[place] = later(until[place], m.at.Add(s.span))
		}
	}
	for _, at := range until {
		if at.After(now) {
			share.slots.add(share.time(at), share.calls)
		}
	}
	return share
}

// failsAt returns when the calls that wait fail because the store is unavailable, or zero if they do not.
func (s *windowQueue) failsAt() time.Time {
	if s.store.unavailable.IsZero() || s.local != nil {
		return time.Time{}
	}
	return s.store.unavailable.Add(s.limiter.sharing.Patience)
}

// failWhileUnavailable ends the wait of all calls if the store was unavailable for too long. While a request is under
// way, it may just come back.
func (s *windowQueue) failWhileUnavailable(now time.Time) {
	at := s.failsAt()
	if at.IsZero() || now.Before(at) || s.store.pending {
		return
	}
	for _, w := range s.queue.all() {
		s.refuse(w, s.limiter.sharing.Unavailable(s.window, s.store.err))
	}
}

// storeAt returns when there is something to do about the store, or zero if there is nothing.
func (s *windowQueue) storeAt(now time.Time) (next time.Time) {
	st := s.store
	if st == nil {
		return next
	}
	if len(st.slots) > 0 {
		next = st.slots[0].at
	}
	if waiting := s.demand(); !st.pending && waiting.sum() > 0 {
		next = sooner(next, st.requestAt)
	}
	if s.span > LongestWait && s.first != nil && !st.pending && st.unavailable.IsZero() {
		next = sooner(next, s.since.Add(LongestWait))
	}
	if at := s.failsAt(); at.After(now) {
		next = sooner(next, at)
	}
	return next
}

func (s *store) idle(now time.Time, span time.Duration) bool {
	return len(s.unused) == 0 && !s.pending &&
		(len(s.recent) == 0 || now.Sub(s.recent[len(s.recent)-1].at) >= span)
}
