package ratewindow

import (
	"context"
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"
)

// store is what a line knows of the store of its window.
type store struct {
	key   string
	slack time.Duration // how much longer a call counts here than at the service

	slots  []slot  // that the store has given: each is for whichever call goes next when its time comes
	recent []made  // calls that still count
	unused []int64 // marks of slots to give back
	known  view
	heard  time.Time // when the store answered last

	busy  bool      // a question is under way
	askAt time.Time // not before this time
	top   int       // the first class that the store knows to wait
	log   string    // the log that has the calls of recent

	slow  int       // how often in a row its answer came too late to be of use
	away  time.Time // since when the store cannot be used; zero if it can
	err   error     // why
	fails int       // how often in a row
}

// made is a call that was admitted, and whether the log of the store has it.
type made struct {
	at     time.Time
	mark   int64
	logged bool
}

const (
	// askTimeout bounds a question. A store that needs longer is of no use.
	askTimeout = 2 * time.Second
	// aheadMost is how long before its time a slot is asked for. The more, the later a confirm of another process may
	// find that the slot is given.
	aheadMost = 250 * time.Millisecond
	// A store that is away is asked again after pauses that grow.
	awayFirst = 50 * time.Millisecond
	// mostSlow is how many answers may come too late in a row. A machine under load needs some time now and then.
	mostSlow = 10
)

var errSlow = errors.New("it responds too slowly")

// view is what this process last heard of the window. The zero view knows nothing.
type view struct {
	at     time.Time
	room   []time.Duration // see Answer.Free
	others counts
}

// free returns when the k-th next call finds room, or a time before that.
func (v *view) free(k, calls int, held time.Duration) time.Time {
	if len(v.room) == 0 {
		return v.at
	}
	place := (k - 1) % calls
	known := min(bits.Len(uint(place+1))-1, len(v.room)-1)
	return v.at.Add(v.room[known] + time.Duration((k-1)/calls)*held)
}

// given returns the slots that the store has given.
func (s *line) given() []slot {
	if s.store == nil {
		return nil
	}
	return s.store.slots
}

// elsewhere returns how many calls of classes before a rank wait in other processes.
func (s *line) elsewhere(rank int) (calls int) {
	if s.own != nil {
		return 0
	}
	for r := range rank {
		calls += s.store.known.others[r]
	}
	return calls
}

// made notes a call that was admitted, for the store.
func (s *line) made(given slot, now time.Time) {
	if s.store != nil {
		s.store.recent = append(s.store.recent, made{now, given.mark, given.of == nil})
	}
}

// unmade forgets a call that was admitted, and was not made. It returns false if the store knows nothing of it.
func (s *line) unmade(w *waiter) bool {
	if s.store == nil {
		return false
	}
	i := slices.IndexFunc(s.store.recent, func(m made) bool { return m.mark == w.slot.mark && m.at.Equal(w.admitted) })
	if i >= 0 {
		s.store.recent = slices.Delete(s.store.recent, i, i+1)
	}
	return i >= 0
}

// admitGiven admits the calls whose slots of the store have come.
func (s *line) admitGiven(now time.Time) {
	st := s.store
	for len(st.slots) > 0 && !st.slots[0].at.After(now) {
		due := st.slots[0]
		st.slots = st.slots[1:]
		if s.next(now) == nil || now.Sub(due.at) > st.slack/2 { // too old: the service would count it later
			st.giveBack(due)
			continue
		}
		s.admit(due, now)
	}
	waiting := s.queue.counts()
	for len(st.slots) > waiting.sum() { // calls gave up
		last := len(st.slots) - 1
		st.giveBack(st.slots[last])
		st.slots = st.slots[:last]
	}
	st.recent = slices.DeleteFunc(st.recent, func(m made) bool { return now.Sub(m.at) >= s.held })
}

func (s *store) giveBack(unused slot) {
	if unused.of == nil {
		s.unused = append(s.unused, unused.mark)
	}
}

// pressed reports that a confirm may be too late if calls of a later class go first, whatever other processes do.
func (s *line) pressed(now time.Time) bool {
	for _, confirm := range s.queue.waiting[Confirms] {
		if !confirm.closes.IsZero() {
			return confirm.closes.Before(now.Add(s.held + roomToConfirm))
		}
	}
	return false
}

// ahead returns how long before its time a slot is asked for.
func (s *line) ahead() time.Duration { return min(s.held/60, aheadMost) }

// demand returns how many calls of each class wait for a slot.
func (s *line) demand() counts {
	return s.queue.counts().without(len(s.store.slots))
}

// ask asks the store, if there is something to ask, and its time has come.
func (s *line) ask(now time.Time) {
	st, calls := s.store, s.demand()
	overdue := s.overdue(now)
	due := !now.Before(st.askAt)
	if st.away.IsZero() {
		due = due || overdue || calls.top() < st.top
	}
	idle := calls.sum() == 0 && s.own == nil && (len(st.unused) == 0 || !st.away.IsZero())
	if st.busy || !due || idle {
		return
	}
	ask := Ask{
		Key: st.key, Process: s.of.sharing.Process, Calls: s.calls, Held: s.held, Ahead: s.ahead(), Waiting: calls,
		Pressed: s.pressed(now), Overdue: overdue, Unused: st.unused,
	}
	if now.Sub(st.heard) < s.held { // the log still exists, unless it was lost
		ask.Log = st.log
	}
	for i := range st.recent {
		if !st.recent[i].logged {
			ask.Past = append(ask.Past, now.Sub(st.recent[i].at))
		}
	}
	st.unused, st.busy = nil, true
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		answer, err := s.of.sharing.Store.Ask(ctx, ask)
		s.of.mu.Lock()
		defer s.of.mu.Unlock()
		s.hear(&ask, now, answer, err)
		s.serve(time.Now())
	}()
}

// overdue reports that the first call has waited for so long that it goes in any case. This is for windows that are
// longer than a program should stop for; see [LongestTurn].
func (s *line) overdue(now time.Time) bool {
	return s.held > LongestTurn && s.first != nil && now.Sub(s.since) >= LongestTurn
}

// hear takes in what the store answered.
func (s *line) hear(ask *Ask, asked time.Time, answer Answer, err error) {
	now, st := time.Now(), s.store
	st.busy = false
	if err == nil && now.Sub(asked) > st.slack/2 && len(answer.Slots) > 0 { // they may be older than they seem
		for _, given := range answer.Slots {
			st.unused = append(st.unused, given.Mark)
		}
		if st.slow++; st.slow < mostSlow {
			st.askAt = now.Add(upTo(s.ahead()))
			return
		}
		err = errSlow
	}
	if err != nil {
		s.lose(now, err) // what was to come back may have come back: it stays away until it counts no more
		return
	}
	s.own, st.away, st.err, st.fails = nil, time.Time{}, nil, 0 // the store learns which calls were made without it
	st.slow, st.heard = 0, now
	if answer.Log != st.log {
		st.changeLog(answer.Log)
	}
	if answer.Log != ask.Log && ask.Log != "" {
		st.askAt = now.Add(upTo(s.ahead() / 2)) // with the calls that the new log does not have
		return
	}
	for i := range st.recent {
		st.recent[i].logged = st.recent[i].logged || !st.recent[i].at.After(asked)
	}
	for _, given := range answer.Slots {
		st.slots = append(st.slots, slot{at: now.Add(given.In), mark: given.Mark})
	}
	slices.SortStableFunc(st.slots, func(a, b slot) int { return a.at.Compare(b.at) })
	st.known = view{at: now, room: answer.Free, others: answer.Others}
	still := counts(ask.Waiting).without(len(answer.Slots))
	st.top = still.top()
	st.askAt = time.Time{}
	if answer.Next > 0 {
		st.askAt = now.Add(answer.Next + upTo(s.ahead()/2))
	}
	s.refuseLate(now)
}

// changeLog forgets the slots of a log that was lost.
func (s *store) changeLog(name string) {
	s.slots = slices.DeleteFunc(s.slots, func(given slot) bool { return given.of == nil })
	for i := range s.recent {
		s.recent[i].logged = false
	}
	s.unused, s.log = nil, name
}

// refuseLate refuses the calls that come too late by what is known now.
func (s *line) refuseLate(now time.Time) {
	for _, w := range s.queue.all() {
		if err := s.tooLate(w, now); err != nil {
			s.refuse(w, err)
		}
	}
}

// lose notes that the store cannot be used, and when to ask it again. Every process waits for a time of its own, so
// that a store that comes back is not asked by all at once.
func (s *line) lose(now time.Time, err error) {
	st := s.store
	if st.away.IsZero() {
		st.away = now
		if s.of.sharing.Share > 0 {
			s.own = s.ownShare(now)
			s.refuseLate(now)
		}
	}
	pause := min(awayFirst<<min(st.fails, 10), s.held/settleShare/2)
	st.fails++
	st.err = err
	st.askAt = now.Add(pause/2 + upTo(pause))
}

// upTo returns a random time, so that processes do not ask at the same time.
func upTo(most time.Duration) time.Duration {
	return rand.N(most + 1) //gosec:disable G404 -- spreads processes, and hides nothing
}

// ownShare returns this process's part of the window. It has the calls that this process made, and counts the calls of
// the others as they were when the store was last heard: of each n free places, one is for this process.
func (s *line) ownShare(now time.Time) *own {
	n, recent := s.of.sharing.Share, s.store.recent
	share := &own{calls: max(s.calls/n, 1), held: s.held, base: now}
	var until []time.Time
	for i := range share.calls {
		until = append(until, s.store.known.free((i+1)*n, s.calls, s.held))
	}
	for i, m := range recent {
		if place := share.calls - len(recent) + i; place >= 0 {
			until[place] = later(until[place], m.at.Add(s.held))
		}
	}
	for _, at := range until {
		if at.After(now) {
			share.slots.add(share.time(at), share.calls)
		}
	}
	return share
}

// failsAt returns when the calls in line fail because the store is away, or zero if they do not.
func (s *line) failsAt() time.Time {
	if s.store.away.IsZero() || s.own != nil {
		return time.Time{}
	}
	return s.store.away.Add(s.of.sharing.Patience)
}

// failWhileAway ends the wait of all calls if the store was away for too long. While a question is under way, it may
// just come back.
func (s *line) failWhileAway(now time.Time) {
	at := s.failsAt()
	if at.IsZero() || now.Before(at) || s.store.busy {
		return
	}
	for _, w := range s.queue.all() {
		s.refuse(w, s.of.sharing.Away(s.window, s.store.err))
	}
}

// storeAt returns when there is something to do about the store, or zero if there is nothing.
func (s *line) storeAt(now time.Time) (next time.Time) {
	st := s.store
	if st == nil {
		return next
	}
	if len(st.slots) > 0 {
		next = st.slots[0].at
	}
	if waiting := s.demand(); !st.busy && waiting.sum() > 0 {
		next = sooner(next, st.askAt)
	}
	if s.held > LongestTurn && s.first != nil && !st.busy && st.away.IsZero() {
		next = sooner(next, s.since.Add(LongestTurn))
	}
	if at := s.failsAt(); at.After(now) {
		next = sooner(next, at)
	}
	return next
}

func (s *store) idle(now time.Time, held time.Duration) bool {
	return len(s.unused) == 0 && !s.busy &&
		(len(s.recent) == 0 || now.Sub(s.recent[len(s.recent)-1].at) >= held)
}
