package transport

import (
	"cmp"
	"slices"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// Rank is the place of a class in the order. The lowest goes first.
type Rank int

// The ranks. Writes, reads and unknown classes have the usual one.
const (
	FirstRank Rank = iota // refreshes
	ConfirmRank
	UsualRank
	PollRank
	Ranks // how many there are
)

// rankOf returns the rank of a class.
func rankOf(class moneymovement.RateClass) Rank {
	switch class {
	case moneymovement.ClassRefresh:
		return FirstRank
	case moneymovement.ClassConfirm:
		return ConfirmRank
	case moneymovement.ClassPoll:
		return PollRank
	default:
		return UsualRank
	}
}

const (
	// PassedOver is how many calls of other classes may go before a call of a waiting class. Together with that call
	// they are ten, so the class gets a tenth.
	PassedOver = 9
	// RoomToConfirm is the time that a confirm needs between its slot and the end of its approval: it must be signed
	// and arrive.
	RoomToConfirm = 5 * time.Second
)

// Waiter is a call in a Queue.
type Waiter struct {
	Rank     Rank
	Closes   time.Time // of a confirm: when its approval expires
	Admitted chan error
	number   uint64    // in the order of arrival
	passed   time.Time // when it was admitted; zero before
}

// before compares two calls of one class. A confirm without a known expiry comes after those with one.
func (w *Waiter) before(other *Waiter) int {
	switch {
	case w.Closes.Equal(other.Closes):
	case w.Closes.IsZero():
		return 1
	case other.Closes.IsZero():
		return -1
	default:
		return w.Closes.Compare(other.Closes)
	}
	return cmp.Compare(w.number, other.number)
}

// Queue holds the calls that wait for room in one window, each class in its order. A mutex of its owner guards it.
type Queue struct {
	waiting [Ranks][]*Waiter
	over    [Ranks]int // for each waiting class, how many calls of other classes went since its last turn
	came    uint64     // how many calls have come
}

// Come returns a Waiter for a call, which is not in the queue yet.
func (q *Queue) Come(call moneymovement.RateCall) Waiter {
	w := q.like(call)
	q.came++
	return w
}

// like returns a Waiter as it would come.
func (q *Queue) like(call moneymovement.RateCall) Waiter {
	w := Waiter{Rank: rankOf(call.Class), number: q.came}
	if w.Rank == ConfirmRank {
		w.Closes = call.Closes
	}
	return w
}

// Add puts a call in the queue.
func (q *Queue) Add(w *Waiter) {
	place := q.place(w)
	q.waiting[w.Rank] = slices.Insert(q.waiting[w.Rank], place, w)
}

// place returns how many calls of its class go before a call.
func (q *Queue) place(w *Waiter) int {
	place, _ := slices.BinarySearchFunc(q.waiting[w.Rank], w, (*Waiter).before)
	return place
}

// Ahead returns how many calls go before a call, if so many calls of earlier classes wait elsewhere.
func (q *Queue) Ahead(w *Waiter, elsewhere int) int {
	own := q.place(w)
	before := own + elsewhere
	for _, others := range q.waiting[:w.Rank] {
		before += len(others)
	}
	return min(before, (own+1)*(PassedOver+1)-1) // the class gets its tenth
}

// Waiting returns the calls of a rank, the next one first. Do not change it.
func (q *Queue) Waiting(r Rank) []*Waiter { return q.waiting[r] }

// Next returns the call that goes next, or nil. That is a call of a class that was passed over often enough, or else a
// call of the first class. spares reports that no confirm misses the end of its approval if another class goes first.
func (q *Queue) Next(spares func() bool) *Waiter {
	var next *Waiter
	for r, class := range q.waiting {
		switch {
		case len(class) == 0:
		case next == nil:
			next = class[0]
		case Rank(r) > ConfirmRank && q.over[r] >= PassedOver && spares():
			return class[0]
		}
	}
	return next
}

// Drop removes a call from the queue, if it is there.
func (q *Queue) Drop(w *Waiter) {
	class := q.waiting[w.Rank]
	if place, found := slices.BinarySearchFunc(class, w, (*Waiter).before); found {
		q.waiting[w.Rank] = slices.Delete(class, place, place+1)
	}
}

// Went removes a call that was admitted, and counts it for the classes that still wait.
func (q *Queue) Went(w *Waiter) {
	q.Drop(w)
	for r := range q.waiting {
		if len(q.waiting[r]) > 0 {
			q.over[r]++
		}
	}
	q.over[w.Rank] = 0
}
