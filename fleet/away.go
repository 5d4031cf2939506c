package fleet

import (
	"math/rand/v2"
	"slices"
	"time"
)

// lose notes that the store cannot be used, and when to ask it again. Every process waits for a time of its own, so
// that a store that comes back is not asked by all at once.
func (s *line) lose(now time.Time, err error) {
	if s.store.away.IsZero() {
		s.store.away = now
		if s.of.settings.share > 0 {
			s.store.share = s.ownShare(now)
			s.store.shareAt = time.Time{}
		}
	}
	pause := min(awayFirst<<min(s.store.fails, 10), s.held/settleShare/2)
	s.store.fails++
	s.store.err = err
	s.store.askAt = now.Add(pause/2 + upTo(pause))
}

// upTo returns a random time, so that processes do not ask at the same time.
func upTo(most time.Duration) time.Duration {
	return rand.N(most + 1) //gosec:disable G404 -- spreads processes, and hides nothing
}

// regain notes that the store can be used. The slots of the own share end: the store learns which calls were made.
func (s *line) regain() {
	if s.store.away.IsZero() {
		return
	}
	s.store.away, s.store.err, s.store.fails, s.store.share = time.Time{}, nil, 0, nil
	s.slots = slices.DeleteFunc(s.slots, func(given slot) bool { return given.mark == 0 })
}

// failsAt returns when the calls in line fail because the store is away, or zero if they do not.
func (s *line) failsAt() time.Time {
	if s.store.away.IsZero() || s.store.share != nil {
		return time.Time{}
	}
	return s.store.away.Add(s.of.settings.patience)
}

// failWhileAway ends the wait of all calls if the store was away for too long. While a question is under way, it may
// just come back.
func (s *line) failWhileAway(now time.Time) {
	at := s.failsAt()
	if at.IsZero() || now.Before(at) || s.store.busy {
		return
	}
	for w := range s.wait {
		s.refuse(w, &StoreAway{Window: s.window, Err: s.store.err})
	}
}

// ownShare returns a log of this process's part of the window. It has the calls that this process made, and counts the
// calls of the others as they were when the store was last heard: of each n free places, one is for this process.
func (s *line) ownShare(now time.Time) *log {
	n := s.of.settings.share
	calls := max(s.calls/n, 1)
	share := new(log)
	for i := range calls {
		share.slots = append(share.slots, s.known.free((i+1)*n, s.calls, s.held).UnixMicro())
	}
	for i, m := range slices.Backward(s.recent) {
		place := calls - (len(s.recent) - i)
		until := m.at.Add(s.held).UnixMicro()
		if place < 0 {
			share.slots = append(share.slots, until)
			continue
		}
		share.slots[place] = max(share.slots[place], until)
	}
	slices.Sort(share.slots)
	share.slots = slices.DeleteFunc(share.slots, func(until int64) bool { return until <= now.UnixMicro() })
	return share
}

// takeShare takes slots of this process's part of the window while the store is away.
func (s *line) takeShare(now time.Time) {
	calls, all := s.demand()
	if s.store.share == nil || all == 0 || now.Before(s.store.shareAt) && (demand{calls: calls}).top() >= s.store.top {
		return
	}
	ask := Ask{
		Process: s.of.process, Calls: max(s.calls/s.of.settings.share, 1), Held: s.held, Ahead: s.ahead(),
		Waiting: calls, Pressed: s.pressed(now), Overdue: s.overdue(now),
	}
	answer := s.store.share.take(now.UnixMicro(), &ask)
	for _, given := range answer.Slots {
		s.slots = append(s.slots, slot{at: now.Add(given.In)})
	}
	slices.SortStableFunc(s.slots, func(a, b slot) int { return a.at.Compare(b.at) })
	s.known = view{at: now, room: answer.Free}
	s.store.top = left(calls, len(answer.Slots))
	s.store.shareAt = now.Add(answer.Next)
	s.refuseLate(now)
	s.admitAll(now)
}
