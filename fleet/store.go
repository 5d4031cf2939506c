package fleet

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// store is what a line knows of the store of its window.
type store struct {
	busy  bool      // a question is under way
	askAt time.Time // not before this time
	top   int       // the first class that the store knows to wait
	log   string    // the log that has the calls of recent

	slow  int       // how often in a row its answer came too late to be of use
	away  time.Time // since when the store cannot be used; zero if it can
	err   error     // why
	fails int       // how often in a row

	share   *log // this process's part of the window while the store is away
	shareAt time.Time
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

// ahead returns how long before its time a slot is asked for.
func (s *line) ahead() time.Duration { return min(s.held/60, aheadMost) }

// demand returns how many calls of each class wait for a slot.
func (s *line) demand() (calls [ranks]int, all int) {
	given := len(s.slots)
	for r := range calls {
		waiting := len(s.queue.Waiting(transport.Rank(r)))
		served := min(given, waiting)
		given -= served
		calls[r] = waiting - served
		all += calls[r]
	}
	return calls, all
}

// ask asks the store, if there is something to ask, and its time has come.
func (s *line) ask(now time.Time) {
	calls, all := s.demand()
	overdue := s.overdue(now)
	due := !now.Before(s.store.askAt)
	if s.store.away.IsZero() {
		due = due || overdue || demand{calls: calls}.top() < s.store.top
	}
	idle := all == 0 && s.store.share == nil && (len(s.unused) == 0 || !s.store.away.IsZero())
	if s.store.busy || !due || idle {
		return
	}
	ask := Ask{
		Key: s.key, Process: s.of.process, Calls: s.calls, Held: s.held, Ahead: s.ahead(), Waiting: calls,
		Pressed: s.pressed(now), Overdue: overdue && all > 0, Unused: s.unused,
	}
	if now.Sub(s.heardAt) < s.held { // the log still exists, unless it was lost
		ask.Log = s.store.log
	}
	for i := range s.recent {
		if !s.recent[i].logged {
			ask.Past = append(ask.Past, now.Sub(s.recent[i].at))
		}
	}
	s.unused, s.store.busy = nil, true
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		answer, err := s.of.windows.Ask(ctx, ask)
		s.of.mu.Lock()
		defer s.of.mu.Unlock()
		s.heard(&ask, now, answer, err)
		s.serve(time.Now())
	}()
}

// overdue reports that the first call has waited for so long that it goes in any case. This is for windows that are
// longer than a program should stop for; see transport.LongestTurn.
func (s *line) overdue(now time.Time) bool {
	return s.held > transport.LongestTurn && s.first != nil && now.Sub(s.since) >= transport.LongestTurn
}

// heard takes in what the store answered.
func (s *line) heard(ask *Ask, asked time.Time, answer Answer, err error) {
	now := time.Now()
	s.store.busy = false
	if err == nil && now.Sub(asked) > s.slack/2 && len(answer.Slots) > 0 {
		s.giveBackAll(answer.Slots) // they may be older than they seem
		if s.store.slow++; s.store.slow < mostSlow {
			s.store.askAt = now.Add(upTo(s.ahead()))
			return
		}
		err = errSlow
	}
	if err != nil {
		s.lose(now, err) // what was to come back may have come back: it stays away until it counts no more
		return
	}
	s.regain()
	s.store.slow, s.heardAt = 0, now
	if answer.Log != s.store.log {
		s.changeLog(answer.Log)
	}
	if answer.Log != ask.Log && ask.Log != "" {
		s.store.askAt = now.Add(upTo(s.ahead() / 2)) // with the calls that the new log does not have
		return
	}
	s.logged(asked)
	for _, given := range answer.Slots {
		s.slots = append(s.slots, slot{now.Add(given.In), given.Mark})
	}
	slices.SortStableFunc(s.slots, func(a, b slot) int { return a.at.Compare(b.at) })
	s.known = view{at: now, room: answer.Free, others: answer.Others}
	s.store.top = left(ask.Waiting, len(answer.Slots))
	s.store.askAt = time.Time{}
	if answer.Next > 0 {
		s.store.askAt = now.Add(answer.Next + upTo(s.ahead()/2))
	}
	s.refuseLate(now)
}

func (s *line) giveBackAll(slots []Slot) {
	for _, given := range slots {
		s.unused = append(s.unused, given.Mark)
	}
}

// left returns the first class that still waits after so many slots.
func left(waiting [ranks]int, slots int) int {
	for r, calls := range waiting {
		if calls > slots {
			return r
		}
		slots -= calls
	}
	return ranks
}

// logged notes that the log has the calls up to a time.
func (s *line) logged(upTo time.Time) {
	for i := range s.recent {
		s.recent[i].logged = s.recent[i].logged || !s.recent[i].at.After(upTo)
	}
}

// changeLog forgets the slots of a log that was lost.
func (s *line) changeLog(name string) {
	s.slots = slices.DeleteFunc(s.slots, func(given slot) bool { return given.mark != 0 })
	for i := range s.recent {
		s.recent[i].logged = false
	}
	s.unused, s.store.log = nil, name
}

func (s *line) setTimer(now time.Time) {
	var next time.Time
	at := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	if len(s.slots) > 0 {
		at(s.slots[0].at)
	}
	if len(s.wait) > 0 {
		if !s.store.busy {
			if _, all := s.demand(); all > 0 {
				at(s.store.askAt)
			}
		}
		if s.held > transport.LongestTurn && s.first != nil && !s.store.busy && s.store.away.IsZero() {
			at(s.since.Add(transport.LongestTurn))
		}
		if s.store.share != nil {
			at(s.store.shareAt)
		}
		if s.failsAt().After(now) {
			at(s.failsAt())
		}
		for _, w := range s.queue.Waiting(transport.ConfirmRank) {
			if w.Closes.After(now) {
				at(w.Closes)
				break
			}
		}
	}
	switch {
	case next.IsZero() && s.timer != nil:
		s.timer.Stop()
	case next.IsZero():
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
