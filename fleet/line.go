package fleet

import (
	"context"
	"slices"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// line holds the calls of this process that wait for room in one window, and the slots that the store has given for
// them. A slot is for whichever call goes next when its time comes. The limiter's mutex guards the line.
type line struct {
	of     *Limiter
	key    string
	window moneymovement.Window
	calls  int
	held   time.Duration
	slack  time.Duration // how much longer a call counts here than at the service
	queue  transport.Queue
	wait   map[*transport.Waiter]*place // of the calls in the queue

	slots   []slot
	recent  []made // calls that still count
	unused  []int64
	store   store
	known   view
	heardAt time.Time // when the store answered last

	first *transport.Waiter // the call whose turn is next
	since time.Time         // since when it is first
	timer *time.Timer
}

// place is what else is known of a call in line.
type place struct {
	deadline time.Time // zero without a deadline
	slot     slot      // of an admitted call
	admitted time.Time // zero before
}

// slot is room for one call at a time of this machine's clock.
type slot struct {
	at   time.Time
	mark int64 // 0 if it is of this process's own share
}

// made is a call that was admitted, and whether the log of the store has it.
type made struct {
	at     time.Time
	mark   int64
	logged bool
}

func newLine(l *Limiter, call moneymovement.RateCall, allowance moneymovement.Allowance) *line {
	return &line{
		of: l, key: l.key(call), window: call.Window, calls: allowance.Calls, held: allowance.Held(),
		slack: allowance.Held() - allowance.Per, wait: map[*transport.Waiter]*place{},
	}
}

// join puts a call in line. It returns an error if its turn comes too late, as far as is known now.
func (s *line) join(ctx context.Context, call moneymovement.RateCall) (*transport.Waiter, *place, error) {
	now := time.Now()
	w := s.queue.Come(call)
	w.Admitted = make(chan error, 1)
	p := new(place)
	if deadline, limited := ctx.Deadline(); limited {
		p.deadline = deadline
	}
	if err := s.tooLate(&w, p, now); err != nil {
		return nil, nil, err
	}
	s.queue.Add(&w)
	s.wait[&w] = p
	s.serve(now)
	return &w, p, nil
}

// serve admits the calls whose slots have come, asks for slots for the others, and sets the alarm.
func (s *line) serve(now time.Time) {
	s.refuseClosed(now)
	s.admitAll(now)
	s.takeShare(now)
	s.ask(now)
	s.failWhileAway(now)
	s.setTimer(now)
}

func (s *line) admitAll(now time.Time) {
	for len(s.slots) > 0 && !s.slots[0].at.After(now) {
		due := s.slots[0]
		s.slots = s.slots[1:]
		w := s.next(now)
		if w == nil || now.Sub(due.at) > s.slack/2 { // too old: the service would count it later than the store
			s.giveBack(due)
			continue
		}
		p := s.wait[w]
		p.slot, p.admitted = due, now
		delete(s.wait, w)
		s.queue.Went(w)
		s.recent = append(s.recent, made{now, due.mark, due.mark != 0})
		w.Admitted <- nil
	}
	for len(s.slots) > len(s.wait) { // calls gave up
		last := len(s.slots) - 1
		s.giveBack(s.slots[last])
		s.slots = s.slots[:last]
	}
	s.recent = slices.DeleteFunc(s.recent, func(m made) bool { return now.Sub(m.at) >= s.held })
	if w := s.next(now); w != s.first {
		s.first, s.since = w, now
	}
}

func (s *line) next(now time.Time) *transport.Waiter {
	return s.queue.Next(func() bool { return !s.pressed(now) })
}

// pressed reports that a confirm may be too late if calls of a later class go first.
func (s *line) pressed(now time.Time) bool {
	for _, confirm := range s.queue.Waiting(transport.ConfirmRank) {
		if !confirm.Closes.IsZero() {
			return confirm.Closes.Before(now.Add(s.held + transport.RoomToConfirm))
		}
	}
	return false
}

func (s *line) giveBack(unused slot) {
	if unused.mark != 0 {
		s.unused = append(s.unused, unused.mark)
	}
}

// leave takes a call out of the line that gives up, or gives its slot to another call.
func (s *line) leave(w *transport.Waiter, p *place) {
	if p.admitted.IsZero() {
		s.queue.Drop(w)
		delete(s.wait, w)
	} else if i := slices.IndexFunc(s.recent, p.made); i >= 0 {
		s.recent = slices.Delete(s.recent, i, i+1)
		s.slots = slices.Insert(s.slots, 0, p.slot)
	}
	s.serve(time.Now())
}

func (p *place) made(m made) bool { return m.mark == p.slot.mark && m.at.Equal(p.admitted) }

// refuse ends the wait of a call.
func (s *line) refuse(w *transport.Waiter, err error) {
	s.queue.Drop(w)
	delete(s.wait, w)
	w.Admitted <- err
}

// refuseClosed refuses the confirms whose approval expired while they waited. While there may be room, the service
// decides whether an approval has expired.
func (s *line) refuseClosed(now time.Time) {
	if !now.Before(s.known.free(1, s.calls, s.held)) {
		return
	}
	for _, w := range slices.Clone(s.queue.Waiting(transport.ConfirmRank)) {
		if !w.Closes.IsZero() && !now.Before(w.Closes) {
			s.refuse(w, &moneymovement.NoRoom{Window: s.window, Until: now, Closed: true})
		}
	}
}

func (s *line) idle(now time.Time) bool {
	return len(s.wait) == 0 && len(s.slots) == 0 && len(s.unused) == 0 && !s.store.busy &&
		(len(s.recent) == 0 || now.Sub(s.recent[len(s.recent)-1].at) >= s.held)
}
