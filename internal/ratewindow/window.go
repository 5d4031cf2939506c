package ratewindow

import (
	"cmp"
	"crypto/rand"
	"maps"
	"slices"
	"time"
)

// Request is what one process asks of a window that several processes share. See fleet.Request.
type Request struct {
	Key      string
	Process  string
	Calls    int
	Span     time.Duration
	Ahead    time.Duration
	Waiting  [Ranks]int
	Pressed  bool
	Overdue  bool
	Unused   []int64
	WindowID string
	Past     []time.Duration
}

// Reservation is what a process may do now. See fleet.Reservation.
type Reservation struct {
	WindowID string
	Slots    []Slot
	Next     time.Duration
	Free     []time.Duration
	Others   [Ranks]int
}

// Slot is room for one call. See fleet.Slot.
type Slot struct {
	Mark int64
	In   time.Duration
}

// SharedWindow is the state of a window that several processes share. Times are microseconds by the clock of the store.
// The script of fleet/redis and the function of payments/postgres/fleetpostgres do the same, step by step.
type SharedWindow struct {
	name        string
	slots       slots
	lastRequest int64 // when the last request came
	quietUntil  int64 // no slot is granted before
	passedOver  counts
	waiting     map[string]demand
	unclaimed   int64 // since when slots are left for processes that do not come for them; 0 without such slots
}

// demand is what a process waits for.
type demand struct {
	calls       counts
	pressed     bool
	lastGrant   int64 // its last slot, or its first request
	nextRequest int64 // when it asks again; it is forgotten some time after that
}

const (
	quietShare   = 30 // a window that was lost grants nothing for the 30th part of its span
	recheckShare = 2  // while calls wait, a process asks at least so often in a span: slots may have been returned
	claimPeriods = 2  // how many times Ahead a slot is kept for a process that does not claim it
)

// Reserve grants slots to a process. A window that was lost, or that no process could reach, grants nothing for a
// while, so that all processes can report the calls that they made meanwhile.
func (w *SharedWindow) Reserve(now int64, request *Request) Reservation {
	span, ahead := request.Span.Microseconds(), request.Ahead.Microseconds()
	if w.name == "" {
		w.name = rand.Text()
		if request.WindowID != "" {
			w.quietUntil = now + span/quietShare
		}
	}
	if len(request.Past) > 0 && now-w.lastRequest > span/quietShare {
		w.quietUntil = now + span/quietShare
	}
	w.lastRequest = now
	if request.WindowID != "" && request.WindowID != w.name {
		return Reservation{WindowID: w.name}
	}
	w.count(now, span, ahead, request)
	w.quietUntil = min(w.quietUntil, now+span/quietShare)
	maps.DeleteFunc(w.waiting, func(_ string, d demand) bool {
		return d.nextRequest+claimPeriods*ahead <= now || d.nextRequest > now+span+ahead
	})
	me, known := w.waiting[request.Process]
	if !known {
		me.lastGrant = now
	}
	delete(w.waiting, request.Process)
	me.calls, me.pressed = request.Waiting, request.Pressed

	reservation := Reservation{WindowID: w.name}
	if request.Overdue {
		w.grantOverdue(now, span, request.Calls, &me, &reservation)
	}
	share := w.allot(now, ahead, request, &me)
	switch {
	case share.claimed == 0:
		w.unclaimed = 0
	case w.unclaimed == 0:
		w.unclaimed = now
	}
	w.grant(now, span, request.Calls, share, &reservation)
	w.passOver(&me, share)
	left := 0
	for r := range Ranks {
		me.calls[r] -= share.mine[r]
		left += me.calls[r]
	}
	if left > 0 {
		if share.granted > 0 {
			me.lastGrant = now
		}
		next := w.next(now, span, ahead, request, &me, share)
		me.nextRequest = now + next
		if w.waiting == nil {
			w.waiting = map[string]demand{}
		}
		w.waiting[request.Process] = me
		reservation.Next = time.Duration(next) * time.Microsecond
	}
	for k := 1; k <= request.Calls; k *= 2 {
		after := w.slots.free(k, request.Calls, span, now) - now
		reservation.Free = append(reservation.Free, time.Duration(after)*time.Microsecond)
	}
	reservation.Others = share.others
	return reservation
}

// count brings the window up to date: it drops calls that no longer count, takes back unused slots, and adds the calls
// that were made without the store. A call that seems to count for too long was made before the clock was set back.
func (w *SharedWindow) count(now, span, ahead int64, request *Request) {
	w.slots.expire(now)
	for i := range w.slots {
		w.slots[i] = min(w.slots[i], now+span+ahead)
	}
	for _, mark := range request.Unused {
		if w.slots.remove(mark) && mark-span > now {
			w.slots.add(mark-span, request.Calls)
		}
	}
	for _, age := range request.Past {
		if age < request.Span {
			w.slots.add(now+span-max(age.Microseconds(), 0), request.Calls)
		}
	}
}

// grantOverdue grants a slot even if the window is full.
func (w *SharedWindow) grantOverdue(now, span int64, calls int, me *demand, reservation *Reservation) {
	if r := me.calls.top(); r < Ranks {
		me.calls[r]--
		w.slots.add(now+span, calls)
		reservation.Slots = append(reservation.Slots, Slot{Mark: now + span})
	}
}

// allotment is what one request gets.
type allotment struct {
	mine    counts // slots for calls of the process
	others  counts // calls of other processes that wait
	granted int    // the sum of mine
	claimed int    // slots that are left for others
	alone   int    // how many slots are for polls while nothing else waits
}

// allot divides the slots that can be given out now: between the classes in their order, and within a class between the
// processes in the order of their last slots. It counts the processes that are about to come.
func (w *SharedWindow) allot(now, ahead int64, request *Request, me *demand) (t allotment) {
	total, pressed := me.calls, me.pressed
	for _, d := range w.waiting {
		pressed = pressed || d.pressed
		for r := range Ranks {
			t.others[r] += d.calls[r]
			if d.nextRequest <= now+ahead {
				total[r] += d.calls[r]
			}
		}
	}
	if now < w.quietUntil {
		return t
	}
	over := w.passedOver
	var class counts
	for k := 1; total.top() < Ranks; k++ {
		place := k
		if total.onlyPolls() {
			place += pollReserve(request.Calls)
		}
		if place > request.Calls || w.slots.free(place, request.Calls, 0, now) > now+ahead {
			break
		}
		t.alone += min(place-k, 1)
		r := total.pick(over, func() bool { return !pressed })
		class[r]++
		total[r]--
		over.addPassedOver(total, r, 1)
	}
	lapsed := w.unclaimed != 0 && now-w.unclaimed >= claimPeriods*ahead
	for r := range Ranks {
		t.mine[r] = w.roundRobin(r, class[r], now+ahead, request.Process, me)
		if lapsed {
			t.mine[r] = min(me.calls[r], class[r])
		}
		t.granted += t.mine[r]
		t.claimed += class[r] - t.mine[r]
	}
	return t
}

func (w *SharedWindow) passOver(me *demand, t allotment) {
	var waiting counts
	for r := range Ranks {
		if waiting[r] = me.calls[r] + t.others[r]; waiting[r] == 0 {
			w.passedOver[r] = 0
		}
	}
	for r := range Ranks {
		if t.mine[r] > 0 {
			w.passedOver.addPassedOver(waiting, r, t.mine[r])
		}
	}
}

// roundRobin returns how many slots of a class the process gets. The processes take turns; the one that has waited
// longest is first.
func (w *SharedWindow) roundRobin(r, slots int, soon int64, process string, me *demand) int {
	mine := 0
	left := []int{}
	before := []bool{} // goes before the process
	for name, d := range w.waiting {
		if d.calls[r] > 0 && d.nextRequest <= soon {
			left, before = append(left, d.calls[r]), append(before, d.before(me, name, process))
		}
	}
	for slots > 0 && me.calls[r] > mine {
		active, ahead, least := 1, 0, me.calls[r]-mine
		for i, n := range left {
			if n > 0 {
				active++
				least = min(least, n)
				if before[i] {
					ahead++
				}
			}
		}
		if slots < active {
			if ahead < slots {
				mine++
			}
			break
		}
		rounds := min(least, slots/active)
		slots -= rounds * active
		mine += rounds
		for i := range left {
			left[i] = max(left[i]-rounds, 0)
		}
	}
	return mine
}

func (d demand) before(me *demand, name, process string) bool {
	return cmp.Or(cmp.Compare(d.lastGrant, me.lastGrant), cmp.Compare(name, process)) < 0
}

// grant takes the slots. Those that become free first are taken first.
func (w *SharedWindow) grant(now, span int64, calls int, t allotment, reservation *Reservation) {
	var at []int64
	for k := range t.granted {
		place := k + 1
		if k >= t.granted-min(t.mine[Polls], t.alone) {
			place += pollReserve(calls)
		}
		at = append(at, w.slots.free(place, calls, span, now))
	}
	first := max(len(w.slots)-calls, 0) // more than the window allows count: those stay
	gone := max(t.granted+len(w.slots)-calls-first, 0)
	w.slots = slices.Delete(w.slots, first, first+gone)
	var mark int64
	for _, t := range at {
		mark = max(t+span, mark+1) // a slot that comes back twice must not take another one along
		w.slots.add(mark, calls)
		reservation.Slots = append(reservation.Slots, Slot{Mark: mark, In: time.Duration(t-now) * time.Microsecond})
	}
}

// next returns after which time the process asks again. That is shortly before the first slot that no other process of
// its class, or of a higher one, will claim. So each slot has one process that asks for it.
func (w *SharedWindow) next(now, span, ahead int64, request *Request, me *demand, t allotment) int64 {
	place := t.claimed + 1
	if me.calls.onlyPolls() && t.others.onlyPolls() {
		place += pollReserve(request.Calls)
	}
	var next int64
	for ; ; place++ {
		next = w.slots.free(place, request.Calls, span, now) - ahead
		come := 0
		for _, d := range w.waiting {
			if d.nextRequest <= next && d.calls.top() <= me.calls.top() {
				come++
			}
		}
		if come < place {
			break
		}
	}
	next -= now
	if now < w.quietUntil {
		next = min(next, w.quietUntil-now)
	}
	if t.claimed > 0 {
		next = min(next, w.unclaimed+claimPeriods*ahead-now)
	}
	return min(max(next, ahead/4), span/recheckShare)
}

// slots holds when each call of a window stops counting, in order. The unit of time is that of whoever counts. In each
// method, calls is how many the window allows. There can be more: some go without room, and others are heard of late.
type slots []int64

// expire removes what counts no more.
func (s *slots) expire(now int64) {
	gone := 0
	for gone < len(*s) && (*s)[gone] <= now {
		gone++
	}
	*s = slices.Delete(*s, 0, gone)
}

// free returns when the k-th next call finds room.
func (s slots) free(k, calls int, span, now int64) int64 {
	whole := int64((k-1)/calls) * span
	if i := (k-1)%calls + 1 + len(s) - calls; i > 0 {
		return s[i-1] + whole
	}
	return now + whole
}

// add adds a call. There is no room for more calls than there are, because a client of many scopes has many windows.
func (s *slots) add(until int64, calls int) {
	if len(*s) == cap(*s) {
		grown := make(slots, len(*s), max(min(2*len(*s)+4, calls), len(*s)+1))
		copy(grown, *s)
		*s = grown
	}
	place, _ := slices.BinarySearch(*s, until)
	*s = slices.Insert(*s, place, until)
}

// remove removes a call that was not made.
func (s *slots) remove(until int64) (found bool) {
	place, found := slices.BinarySearch(*s, until)
	if found {
		*s = slices.Delete(*s, place, place+1)
	}
	return found
}
