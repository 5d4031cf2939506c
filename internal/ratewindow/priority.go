package ratewindow

import (
	"cmp"
	"slices"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// The places of the classes in the order of a window. The lowest goes first.
const (
	Refreshes = iota
	Confirms
	Usual // writes, reads and unknown classes
	Polls
	Ranks // how many there are
)

func rankOf(class moneymovement.RateClass) int {
	switch class {
	case moneymovement.ClassRefresh:
		return Refreshes
	case moneymovement.ClassConfirm:
		return Confirms
	case moneymovement.ClassPoll:
		return Polls
	default:
		return Usual
	}
}

// maxPassedOver is how many calls of other classes may go before a call of a class that waits. Together with that call
// they are ten, so the class gets a tenth.
const maxPassedOver = 9

// pollReserve returns how many slots of a window polls leave free while nothing else waits.
func pollReserve(calls int) int { return calls / (maxPassedOver + 1) }

// counts has a number of calls for each class.
type counts [Ranks]int

// top returns the first class that waits, or Ranks.
func (c *counts) top() int {
	for r, calls := range c {
		if calls > 0 {
			return r
		}
	}
	return Ranks
}

func (c *counts) sum() (all int) {
	for _, calls := range c {
		all += calls
	}
	return all
}

// without returns what still waits after so many slots.
func (c counts) without(slots int) counts {
	for r, calls := range c {
		served := min(slots, calls)
		slots -= served
		c[r] -= served
	}
	return c
}

// onlyPolls reports that nothing but polls waits.
func (c *counts) onlyPolls() bool { return c[Refreshes]+c[Confirms]+c[Usual] == 0 }

// pick returns the class that goes next: one that was passed over often enough, or else the first one. over says how
// many calls of other classes went since the last call of each class. confirmsCanWait reports that no confirm is too
// late if another class goes first.
func (c *counts) pick(over counts, confirmsCanWait func() bool) int {
	for r := Usual; r < Ranks; r++ {
		if c[r] > 0 && over[r] >= maxPassedOver && confirmsCanWait() {
			return r
		}
	}
	return c.top()
}

// addPassedOver counts calls of a class that went, for the classes that still wait.
func (c *counts) addPassedOver(waiting counts, went, calls int) {
	for r := Usual; r < Ranks; r++ {
		switch {
		case r == went:
			c[r] = max(c[r]-calls*maxPassedOver, 0)
		case waiting[r] > 0:
			c[r] += calls
		}
	}
}

// waiter is a call that waits for its share.
type waiter struct {
	rank     int
	closes   time.Time // of a confirm: when its approval expires
	deadline time.Time // zero without a deadline
	number   uint64    // in the order of arrival
	ended    chan error
	slot     slot      // of an admitted call
	admitted time.Time // zero before
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

// priorityQueue holds the calls that wait for room in one window, each class in its order.
type priorityQueue struct {
	waiting    [Ranks][]*waiter
	passedOver counts
	arrivals   uint64 // how many calls have come
}

// counts returns how many calls of each class wait.
func (q *priorityQueue) counts() (c counts) {
	for r, class := range q.waiting {
		c[r] = len(class)
	}
	return c
}

func (q *priorityQueue) empty() bool { return q.counts() == counts{} }

func (q *priorityQueue) add(w *waiter) {
	if len(q.waiting[w.rank]) == 0 {
		q.passedOver[w.rank] = 0 // what went before it waited does not count
	}
	q.waiting[w.rank] = slices.Insert(q.waiting[w.rank], q.place(w), w)
}

// place returns how many calls of its class go before a call.
func (q *priorityQueue) place(w *waiter) int {
	place, _ := slices.BinarySearchFunc(q.waiting[w.rank], w, (*waiter).before)
	return place
}

// ahead returns how many calls go before a call, if so many calls of earlier classes wait elsewhere.
func (q *priorityQueue) ahead(w *waiter, elsewhere int) int {
	own := q.place(w)
	before := own + elsewhere
	for _, others := range q.waiting[:w.rank] {
		before += len(others)
	}
	return min(before, (own+1)*(maxPassedOver+1)-1) // the class gets its tenth
}

// next returns the call that goes next, or nil.
func (q *priorityQueue) next(confirmsCanWait func() bool) *waiter {
	waiting := q.counts()
	if r := waiting.pick(q.passedOver, confirmsCanWait); r < Ranks {
		return q.waiting[r][0]
	}
	return nil
}

// drop removes a call from the queue, if it is there.
func (q *priorityQueue) drop(w *waiter) {
	class := q.waiting[w.rank]
	if place, found := slices.BinarySearchFunc(class, w, (*waiter).before); found {
		q.waiting[w.rank] = slices.Delete(class, place, place+1)
	}
}

// markAdmitted removes a call that was admitted, and counts it for the classes that still wait.
func (q *priorityQueue) markAdmitted(w *waiter) {
	q.drop(w)
	q.passedOver.addPassedOver(q.counts(), w.rank, 1)
}

// all returns the calls that wait.
func (q *priorityQueue) all() []*waiter { return slices.Concat(q.waiting[:]...) }
