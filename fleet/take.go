package fleet

import (
	"cmp"
	"crypto/rand"
	"maps"
	"slices"
	"time"
)

// log is the state of one window. All times are microseconds of the clock of the one who counts. The script of
// fleet/redis and the function of fleet/postgres do the same, step by step.
type log struct {
	name    string
	slots   []int64 // when each call that counts stops counting, in order
	heard   int64   // the last question
	settled int64   // nothing is given out before
	over    [ranks]int
	waiting map[string]demand
	left    int64 // since when slots are left for processes that do not come for them; 0 if there are none
}

// demand is what a process waits for.
type demand struct {
	calls   [ranks]int
	pressed bool
	since   int64 // its last slot, or its first question
	comes   int64 // when it asks again; it is forgotten some time after that
}

const (
	passedOver  = 9  // calls of other classes before one of a class that waits: together they are ten
	settleShare = 30 // a log settles for the 30th part of its window
	lookShare   = 2  // while calls wait, ask at least so often in a window: slots may have come back
	leftFor     = 2  // how many times Ahead a slot is left for a process that does not come for it
)

// take does what a question asks for. A log that was lost, or that was away, gives out nothing for a while: all
// processes can then say what they did without it.
func (l *log) take(now int64, ask *Ask) Answer {
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
		l.force(now, held, &me, &answer)
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
	for r := range ranks {
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
		answer.Free = append(answer.Free, time.Duration(l.free(k, ask.Calls, now)-now)*time.Microsecond)
	}
	answer.Others = turn.others
	return answer
}

// count brings the log up to date: what counts no more goes, what was not used comes back, what was made without the
// log is added. A call that seems to count for too long was made before somebody set the clock back.
func (l *log) count(now, held, ahead int64, ask *Ask) {
	l.slots = slices.DeleteFunc(l.slots, func(until int64) bool { return until <= now })
	for i := range l.slots {
		l.slots[i] = min(l.slots[i], now+held+ahead)
	}
	for _, mark := range ask.Unused {
		if i := slices.Index(l.slots, mark); i >= 0 {
			l.slots = slices.Delete(l.slots, i, i+1)
			if mark-held > now {
				l.slots = append(l.slots, mark-held)
			}
		}
	}
	for _, age := range ask.Past {
		if age < ask.Held {
			l.slots = append(l.slots, now+held-max(age.Microseconds(), 0))
		}
	}
	slices.Sort(l.slots)
}

// force gives out a slot that the window may not have.
func (l *log) force(now, held int64, me *demand, answer *Answer) {
	for r := range ranks {
		if me.calls[r] > 0 {
			me.calls[r]--
			l.slots = append(l.slots, now+held)
			slices.Sort(l.slots)
			answer.Slots = append(answer.Slots, Slot{Mark: now + held})
			return
		}
	}
}

// free returns when the k-th next call finds room.
func (l *log) free(k, calls int, now int64) int64 {
	if i := k + len(l.slots) - calls; i > 0 {
		return l.slots[i-1]
	}
	return now
}

// turn is what one question gets.
type turn struct {
	mine    [ranks]int // slots for calls of the process
	others  [ranks]int // calls of other processes that wait
	granted int        // the sum of mine
	claimed int        // slots that are left for others
	alone   int        // how many slots are for polls while nothing else waits
	kept    int        // how many slots polls then leave free
}

// share divides the slots that can be given out now: between the classes in their order, and within a class between the
// processes in the order of their last slots. It counts the processes that are about to come.
func (l *log) share(now, ahead int64, ask *Ask, me *demand) (t turn) {
	total, pressed := me.calls, me.pressed
	for _, d := range l.waiting {
		pressed = pressed || d.pressed
		for r := range ranks {
			t.others[r] += d.calls[r]
			if d.comes <= now+ahead {
				total[r] += d.calls[r]
			}
		}
	}
	t.kept = ask.Calls / (passedOver + 1)
	if now < l.settled {
		return t
	}
	over := l.over
	var class [ranks]int
	for k := 1; total != [ranks]int{}; k++ {
		place := k
		if onlyPolls(total) {
			place += t.kept
		}
		if place > ask.Calls || l.free(place, ask.Calls, now) > now+ahead {
			break
		}
		t.alone += min(place-k, 1)
		r := pick(total, over, pressed)
		class[r]++
		total[r]--
		passed(&over, total, r, 1)
	}
	lapsed := l.left != 0 && now-l.left >= leftFor*ahead
	for r := range ranks {
		t.mine[r] = l.part(r, class[r], now+ahead, ask.Process, me)
		if lapsed {
			t.mine[r] = min(me.calls[r], class[r])
		}
		t.granted += t.mine[r]
		t.claimed += class[r] - t.mine[r]
	}
	return t
}

func onlyPolls(waiting [ranks]int) bool {
	return waiting[Refreshes]+waiting[Confirms]+waiting[Usual] == 0
}

// pick returns the class that goes next: one that was passed over often enough, or else the first one.
func pick(total, over [ranks]int, pressed bool) int {
	for r := Usual; r < ranks; r++ {
		if total[r] > 0 && over[r] >= passedOver && !pressed {
			return r
		}
	}
	r := Refreshes
	for r < Polls && total[r] == 0 {
		r++
	}
	return r
}

// passed counts calls of a class for the classes that wait.
func passed(over *[ranks]int, waiting [ranks]int, went, calls int) {
	for r := Usual; r < ranks; r++ {
		switch {
		case r == went:
			over[r] = max(over[r]-calls*passedOver, 0)
		case waiting[r] > 0:
			over[r] += calls
		}
	}
}

func (l *log) passOver(me *demand, t turn) {
	var waiting [ranks]int
	for r := range ranks {
		if waiting[r] = me.calls[r] + t.others[r]; waiting[r] == 0 {
			l.over[r] = 0
		}
	}
	for r := range ranks {
		if t.mine[r] > 0 {
			passed(&l.over, waiting, r, t.mine[r])
		}
	}
}

// part returns how many of a class's slots the process gets: they go round, to the one first that has waited longest.
func (l *log) part(r, slots int, soon int64, process string, me *demand) int {
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
func (l *log) grant(now, held int64, calls int, t turn, answer *Answer) {
	if t.granted == 0 {
		return
	}
	var at []int64
	for k := range t.granted {
		place := k + 1
		if k >= t.granted-min(t.mine[Polls], t.alone) {
			place += t.kept
		}
		at = append(at, l.free(place, calls, now))
	}
	first := max(len(l.slots)-calls, 0) // more than the window allows count: those stay
	gone := max(t.granted+len(l.slots)-calls-first, 0)
	l.slots = slices.Delete(l.slots, first, first+gone)
	var mark int64
	for _, t := range at {
		mark = max(t+held, mark+1) // a slot that comes back twice must not take another one along
		l.slots = append(l.slots, mark)
		answer.Slots = append(answer.Slots, Slot{Mark: mark, In: time.Duration(t-now) * time.Microsecond})
	}
	slices.Sort(l.slots)
}

// next returns after which time the process asks again: shortly before the first slot for which no other process of its
// class, or of an earlier one, comes. So each slot has one process that asks for it.
func (l *log) next(now, held, ahead int64, ask *Ask, me *demand, t turn) int64 {
	place := t.claimed + 1
	if onlyPolls(me.calls) && onlyPolls(t.others) {
		place += t.kept
	}
	var next int64
	for ; ; place++ {
		next = l.free((place-1)%ask.Calls+1, ask.Calls, now) + int64((place-1)/ask.Calls)*held - ahead
		come := 0
		for _, d := range l.waiting {
			if d.comes <= next && d.top() <= me.top() {
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
		next = min(next, max(l.left+leftFor*ahead-now, 0))
	}
	return min(max(next, ahead/4), held/lookShare)
}

func (d demand) top() int {
	for r := range ranks {
		if d.calls[r] > 0 {
			return r
		}
	}
	return ranks
}
