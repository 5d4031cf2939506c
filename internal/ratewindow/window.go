package ratewindow

import (
	"cmp"
	"crypto/rand"
	"maps"
	"slices"
	"time"
)

// Ask is a question of one process about a window that several processes share. See fleet.Request.
type Ask struct {
	Key     string
	Process string
	Calls   int
	Held    time.Duration
	Ahead   time.Duration
	Waiting [Ranks]int
	Pressed bool
	Overdue bool
	Unused  []int64
	Log     string
	Past    []time.Duration
}

// Answer is what a process may do now. See fleet.Reservation.
type Answer struct {
	Log    string
	Slots  []Slot
	Next   time.Duration
	Free   []time.Duration
	Others [Ranks]int
}

// Slot is room for one call. See fleet.Slot.
type Slot struct {
	Mark int64
	In   time.Duration
}

// Log is the state of a window that several processes share. All times are microseconds of the clock of the one who
// counts. The script of fleet/redis and the function of payments/postgres/fleetpostgres do the same, step by step.
type Log struct {
	name    string
	slots   slots
	heard   int64 // the last question
	settled int64 // nothing is given out before
	over    counts
	waiting map[string]demand
	left    int64 // since when slots are left for processes that do not come for them; 0 if there are none
}

// demand is what a process waits for.
type demand struct {
	calls   counts
	pressed bool
	since   int64 // its last slot, or its first question
	comes   int64 // when it asks again; it is forgotten some time after that
}

const (
	settleShare = 30 // a log settles for the 30th part of its window
	lookShare   = 2  // while calls wait, ask at least so often in a window: slots may have come back
	leftFor     = 2  // how many times Ahead a slot is left for a process that does not come for it
)

// Take does what a question asks for. A log that was lost, or that was away, gives out nothing for a while: all
// processes can then say what they did without it.
func (l *Log) Take(now int64, ask *Ask) Answer {
	held, ahead := ask.Held.Microseconds(), ask.Ahead.Microseconds()
	if l.name == "" {
		l.name = rand.Text()
		if ask.Log != "" {
			l.settled = now + held/settleShare
		}
	}
	if len(ask.Past) > 0 && now-l.heard > held/settleShare {
		l.settled = now + held/settleShare
	}
	l.heard = now
	if ask.Log != "" && ask.Log != l.name {
		return Answer{Log: l.name}
	}
	l.count(now, held, ahead, ask)
	l.settled = min(l.settled, now+held/settleShare)
	maps.DeleteFunc(l.waiting, func(_ string, d demand) bool {
		return d.comes+leftFor*ahead <= now || d.comes > now+held+ahead
	})
	me, known := l.waiting[ask.Process]
	if !known {
		me.since = now
	}
	delete(l.waiting, ask.Process)
	me.calls, me.pressed = ask.Waiting, ask.Pressed

	answer := Answer{Log: l.name}
	if ask.Overdue {
		l.force(now, held, ask.Calls, &me, &answer)
	}
	turn := l.share(now, ahead, ask, &me)
	switch {
	case turn.claimed == 0:
		l.left = 0
	case l.left == 0:
		l.left = now
	}
	l.grant(now, held, ask.Calls, turn, &answer)
	l.passOver(&me, turn)
	left := 0
	for r := range Ranks {
		me.calls[r] -= turn.mine[r]
		left += me.calls[r]
	}
	if left > 0 {
		if turn.granted > 0 {
			me.since = now
		}
		next := l.next(now, held, ahead, ask, &me, turn)
		me.comes = now + next
		if l.waiting == nil {
			l.waiting = map[string]demand{}
		}
		l.waiting[ask.Process] = me
		answer.Next = time.Duration(next) * time.Microsecond
	}
	for k := 1; k <= ask.Calls; k *= 2 {
		answer.Free = append(answer.Free, time.Duration(l.slots.free(k, ask.Calls, held, now)-now)*time.Microsecond)
	}
	answer.Others = turn.others
	return answer
}

// count brings the log up to date: what counts no more goes, what was not used comes back, what was made without the
// log is added. A call that seems to count for too long was made before somebody set the clock back.
func (l *Log) count(now, held, ahead int64, ask *Ask) {
	l.slots.expire(now)
	for i := range l.slots {
		l.slots[i] = min(l.slots[i], now+held+ahead)
	}
	for _, mark := range ask.Unused {
		if l.slots.remove(mark) && mark-held > now {
			l.slots.add(mark-held, ask.Calls)
		}
	}
	for _, age := range ask.Past {
		if age < ask.Held {
			l.slots.add(now+held-max(age.Microseconds(), 0), ask.Calls)
		}
	}
}

// force gives out a slot that the window may not have.
func (l *Log) force(now, held int64, calls int, me *demand, answer *Answer) {
	if r := me.calls.top(); r < Ranks {
		me.calls[r]--
		l.slots.add(now+held, calls)
		answer.Slots = append(answer.Slots, Slot{Mark: now + held})
	}
}

// turn is what one question gets.
type turn struct {
	mine    counts // slots for calls of the process
	others  counts // calls of other processes that wait
	granted int    // the sum of mine
	claimed int    // slots that are left for others
	alone   int    // how many slots are for polls while nothing else waits
}

// share divides the slots that can be given out now: between the classes in their order, and within a class between the
// processes in the order of their last slots. It counts the processes that are about to come.
func (l *Log) share(now, ahead int64, ask *Ask, me *demand) (t turn) {
	total, pressed := me.calls, me.pressed
	for _, d := range l.waiting {
		pressed = pressed || d.pressed
		for r := range Ranks {
			t.others[r] += d.calls[r]
			if d.comes <= now+ahead {
				total[r] += d.calls[r]
			}
		}
	}
	if now < l.settled {
		return t
	}
	over := l.over
	var class counts
	for k := 1; total.top() < Ranks; k++ {
		place := k
		if total.onlyPolls() {
			place += kept(ask.Calls)
		}
		if place > ask.Calls || l.slots.free(place, ask.Calls, 0, now) > now+ahead {
			break
		}
		t.alone += min(place-k, 1)
		r := total.pick(over, func() bool { return !pressed })
		class[r]++
		total[r]--
		over.passed(total, r, 1)
	}
	lapsed := l.left != 0 && now-l.left >= leftFor*ahead
	for r := range Ranks {
		t.mine[r] = l.part(r, class[r], now+ahead, ask.Process, me)
		if lapsed {
			t.mine[r] = min(me.calls[r], class[r])
		}
		t.granted += t.mine[r]
		t.claimed += class[r] - t.mine[r]
	}
	return t
}

func (l *Log) passOver(me *demand, t turn) {
	var waiting counts
	for r := range Ranks {
		if waiting[r] = me.calls[r] + t.others[r]; waiting[r] == 0 {
			l.over[r] = 0
		}
	}
	for r := range Ranks {
		if t.mine[r] > 0 {
			l.over.passed(waiting, r, t.mine[r])
		}
	}
}

// part returns how many of a class's slots the process gets: they go round, to the one first that has waited longest.
func (l *Log) part(r, slots int, soon int64, process string, me *demand) int {
	mine := 0
	left := []int{}
	before := []bool{} // goes before the process
	for name, d := range l.waiting {
		if d.calls[r] > 0 && d.comes <= soon {
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
	return cmp.Or(cmp.Compare(d.since, me.since), cmp.Compare(name, process)) < 0
}

// grant takes the slots out of the log: the calls that count longest ago give up theirs.
func (l *Log) grant(now, held int64, calls int, t turn, answer *Answer) {
	var at []int64
	for k := range t.granted {
		place := k + 1
		if k >= t.granted-min(t.mine[Polls], t.alone) {
			place += kept(calls)
		}
		at = append(at, l.slots.free(place, calls, held, now))
	}
	first := max(len(l.slots)-calls, 0) // more than the window allows count: those stay
	gone := max(t.granted+len(l.slots)-calls-first, 0)
	l.slots = slices.Delete(l.slots, first, first+gone)
	var mark int64
	for _, t := range at {
		mark = max(t+held, mark+1) // a slot that comes back twice must not take another one along
		l.slots.add(mark, calls)
		answer.Slots = append(answer.Slots, Slot{Mark: mark, In: time.Duration(t-now) * time.Microsecond})
	}
}

// next returns after which time the process asks again: shortly before the first slot for which no other process of its
// class, or of an earlier one, comes. So each slot has one process that asks for it.
func (l *Log) next(now, held, ahead int64, ask *Ask, me *demand, t turn) int64 {
	place := t.claimed + 1
	if me.calls.onlyPolls() && t.others.onlyPolls() {
		place += kept(ask.Calls)
	}
	var next int64
	for ; ; place++ {
		next = l.slots.free(place, ask.Calls, held, now) - ahead
		come := 0
		for _, d := range l.waiting {
			if d.comes <= next && d.calls.top() <= me.calls.top() {
				come++
			}
		}
		if come < place {
			break
		}
	}
	next -= now
	if now < l.settled {
		next = min(next, l.settled-now)
	}
	if t.claimed > 0 {
		next = min(next, l.left+leftFor*ahead-now)
	}
	return min(max(next, ahead/4), held/lookShare)
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
func (s slots) free(k, calls int, held, now int64) int64 {
	whole := int64((k-1)/calls) * held
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
