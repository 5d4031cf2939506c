package fleet

import (
	"math/bits"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// view is what this process last heard of the window. The zero view knows nothing.
type view struct {
	at     time.Time
	room   []time.Duration // see Answer.Free
	others [ranks]int
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

// tooLate refuses a call whose turn comes too late, as the line looks now. Other calls may still go first, and calls in
// line may give up.
func (s *line) tooLate(w *transport.Waiter, p *place, now time.Time) error {
	if p.deadline.IsZero() && w.Closes.IsZero() {
		return nil
	}
	at := s.turn(w, now)
	switch {
	case !at.After(now):
		return nil
	case !p.deadline.IsZero() && !at.Before(p.deadline):
		return &moneymovement.NoRoom{Window: s.window, Until: at}
	case !w.Closes.IsZero() && !at.Before(w.Closes):
		return &moneymovement.NoRoom{Window: s.window, Until: at, Closed: true}
	}
	return nil
}

// turn returns when a call is admitted, as the line looks now, or a time before now if that is at once.
func (s *line) turn(w *transport.Waiter, now time.Time) time.Time {
	elsewhere := 0
	for r := range int(w.Rank) {
		elsewhere += s.known.others[r]
	}
	ahead := s.queue.Ahead(w, elsewhere)
	if ahead < len(s.slots) {
		return s.slots[ahead].at
	}
	at := s.known.free(ahead-len(s.slots)+1, s.calls, s.held)
	if s.held > transport.LongestTurn { // the first call does not wait longer than that
		since := now
		if s.first != nil {
			since = s.since
		}
		if bound := since.Add(time.Duration(ahead+1) * transport.LongestTurn); at.After(bound) {
			at = bound
		}
	}
	return at
}

// refuseLate refuses the calls that come too late by what was just heard.
func (s *line) refuseLate(now time.Time) {
	for w, p := range s.wait {
		if err := s.tooLate(w, p, now); err != nil {
			s.refuse(w, err)
		}
	}
}
