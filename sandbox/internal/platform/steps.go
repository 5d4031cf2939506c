package platform

import (
	"time"
)

// steps are payouts with a step to come, in the order in which they were added.
type steps struct {
	payouts []*payout
	next    time.Time // no step is due before
}

// add adds a payout with its step.
func (s *steps) add(p *payout, due time.Time) {
	if len(s.payouts) == 0 || due.Before(s.next) {
		s.next = due
	}
	s.payouts = append(s.payouts, p)
}

// run calls step for every payout if a step may be due. step makes what is due, and returns when the payout's next step
// is due, or zero without one. Every request runs the steps, so that most calls must not look at the payouts.
func (s *steps) run(now time.Time, step func(*payout) time.Time) {
	if len(s.payouts) == 0 || now.Before(s.next) {
		return
	}
	waiting := s.payouts
	s.payouts = s.payouts[:0]
	for _, p := range waiting {
		if due := step(p); !due.IsZero() {
			s.add(p, due)
		}
	}
	clear(waiting[len(s.payouts):])
}
