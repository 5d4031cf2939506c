package ratewindow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

// counter is a window by a clock that a test sets. Its times are since the beginning.
type counter struct {
	ratewindow.SharedWindow
	calls int
}

const (
	beginning = int64(1_800_000_000_000_000)
	ahead     = 250 * time.Millisecond
	settled   = minute / 30 / 1000 * 1000 // how long a window that was lost grants nothing
	soonest   = ahead / 4                 // a process does not ask again sooner
)

// grant is what a process gets.
type grant struct {
	at    []time.Duration // its slots
	marks []time.Duration // when their calls stop counting
	next  time.Duration
}

type asking func(*ratewindow.Request)

func (c *counter) ask(at time.Duration, process string, waiting [ratewindow.Ranks]int, more ...asking) (
	grant, ratewindow.Reservation,
) {
	request := ratewindow.Request{Process: process, Calls: c.calls, Span: minute, Ahead: ahead, Waiting: waiting}
	for _, set := range more {
		set(&request)
	}
	reservation := c.Reserve(beginning+at.Microseconds(), &request)
	got := grant{next: reservation.Next}
	for _, slot := range reservation.Slots {
		got.at = append(got.at, at+slot.In)
		got.marks = append(got.marks, time.Duration(slot.Mark-beginning)*time.Microsecond)
	}
	return got, reservation
}

// gets is ask, of which only the slots count.
func (c *counter) gets(
	at time.Duration, process string, waiting [ratewindow.Ranks]int, more ...asking,
) []time.Duration {
	got, _ := c.ask(at, process, waiting, more...)
	return got.at
}

func calls(refreshes, confirms, usual, polls int) [ratewindow.Ranks]int {
	return [ratewindow.Ranks]int{refreshes, confirms, usual, polls}
}

func unused(marks ...time.Duration) asking {
	return func(request *ratewindow.Request) {
		for _, mark := range marks {
			request.Unused = append(request.Unused, beginning+mark.Microseconds())
		}
	}
}

func past(ages ...time.Duration) asking {
	return func(request *ratewindow.Request) { request.Past = ages }
}
func ofLog(name string) asking            { return func(request *ratewindow.Request) { request.WindowID = name } }
func pressed(request *ratewindow.Request) { request.Pressed = true }
func overdue(request *ratewindow.Request) { request.Overdue = true }

// A window grants the slots that are free, and says when there is room for the first call, the second and the fourth.
func TestWindowGrantsItsSlots(t *testing.T) {
	c := &counter{calls: 5}
	got, reservation := c.ask(0, "p", calls(0, 0, 3, 0))
	assert.NotEmpty(t, reservation.WindowID)
	const one = time.Microsecond // a mark names one slot
	want := grant{at: []time.Duration{0, 0, 0}, marks: []time.Duration{minute, minute + one, minute + 2*one}}
	assert.Equal(t, want, got)
	assert.Equal(t, []time.Duration{0, 0, minute + one}, reservation.Free)
	assert.Zero(t, reservation.Others)

	got, again := c.ask(10*time.Second, "p", calls(0, 0, 4, 0))
	assert.Equal(t, reservation.WindowID, again.WindowID)
	assert.Equal(t, []time.Duration{10 * time.Second, 10 * time.Second}, got.at)
	assert.Equal(t, []time.Duration{51 * time.Second, 51*time.Second + one, 61 * time.Second}, again.Free)
	assert.Equal(t, minute/2, got.next, "at least twice in a window")
	got, _ = c.ask(40*time.Second, "p", calls(0, 0, 2, 0))
	assert.Empty(t, got.at)
	assert.Equal(t, 21*time.Second-ahead, got.next)
	got, _ = c.ask(minute-ahead-one, "p", calls(0, 0, 2, 0))
	assert.Empty(t, got.at)
	assert.Equal(t, soonest, got.next)
	got, _ = c.ask(minute-ahead, "p", calls(0, 0, 2, 0))
	assert.Equal(t, []time.Duration{minute}, got.at)
	assert.Equal(t, []time.Duration{2 * minute}, got.marks)
}

// Slots of a class go round between the processes, to the one first that has waited longest.
func TestSlotsRotateBetweenProcesses(t *testing.T) {
	for first, want := range map[int][]int{7: {3, 1, 3}, 8: {4, 1, 3}, 9: {4, 1, 4}, 2: {1, 1, 0}, 20: {5, 1, 5}} {
		c := &counter{calls: 20}
		c.gets(0, "full", calls(0, 0, first, 0))
		c.gets(10*time.Second, "other", calls(0, 0, 20-first, 0))
		processes := []string{"c", "b", "a"}
		waiting := []int{5, 1, 5}
		for i, process := range processes {
			assert.Empty(t, c.gets(time.Duration(i+11)*time.Second, process, calls(0, 0, waiting[i], 0)))
		}
		// each asks at the time at which it is to come, when some slots have come back
		for i, process := range processes {
			at := minute/2 + time.Duration(i+11)*time.Second
			assert.Empty(t, c.gets(at, process, calls(0, 0, waiting[i], 0)))
		}
		var back []time.Duration
		for i := range first {
			back = append(back, minute+time.Duration(i)*time.Microsecond)
		}
		c.gets(minute-ahead, "full", calls(0, 0, 0, 0), unused(back...))
		for i, process := range processes {
			got := c.gets(minute-ahead, process, calls(0, 0, waiting[i], 0))
			assert.Len(t, got, want[i], "%s of %d", process, first)
		}
	}
}

// A process that has got a slot has waited only since then.
func TestWaitingTimeCountsFromTheLastSlot(t *testing.T) {
	c := &counter{calls: 4}
	for i := range 4 {
		c.gets(time.Duration(i)*10*time.Second, "full", calls(0, 0, 1, 0))
	}
	comes := map[string]time.Duration{"a": 40 * time.Second, "b": 41 * time.Second}
	order := ""
	for len(order) < 4 {
		process := "a"
		if comes["b"] < comes["a"] {
			process = "b"
		}
		got, _ := c.ask(comes[process], process, calls(0, 0, 3, 0))
		if len(got.at) > 0 {
			order += process
		}
		comes[process] += got.next
	}
	assert.Equal(t, "abab", order)
}

// A slot is left for a process that is about to come for it, for half a second.
func TestASlotIsLeftForAnotherProcess(t *testing.T) {
	begin := func() *counter {
		c := &counter{calls: 1}
		c.gets(0, "full", calls(0, 0, 1, 0))
		got, _ := c.ask(time.Second, "first", calls(0, 0, 1, 0))
		assert.Equal(t, minute/2, got.next) // it comes after 31.5 seconds
		return c
	}
	const comes, back = time.Second + minute/2, time.Second + minute/2 - ahead
	for name, tc := range map[string]struct {
		at   time.Duration // when the slot comes back, and another process asks
		left bool
	}{"it comes soon": {back, true}, "it comes later": {back - time.Microsecond, false},
		"it has come late": {comes + 2*ahead - time.Microsecond, true}, "it is gone": {comes + 2*ahead, false}} {
		t.Run(name, func(t *testing.T) {
			c := begin()
			got, reservation := c.ask(tc.at, "second", calls(0, 0, 1, 0), unused(minute))
			if !tc.left {
				assert.Equal(t, []time.Duration{tc.at}, got.at)
				return
			}
			assert.Empty(t, got.at)
			assert.Equal(t, calls(0, 0, 1, 0), reservation.Others)
			assert.Equal(t, 2*ahead, got.next)
		})
	}
	t.Run("it does not come", func(t *testing.T) {
		c := begin()
		assert.Empty(t, c.gets(back, "second", calls(0, 0, 1, 0), unused(minute)))
		got, _ := c.ask(back+2*ahead-time.Microsecond, "second", calls(0, 0, 1, 0))
		assert.Empty(t, got.at)
		assert.Equal(t, soonest, got.next)
		assert.Equal(t, []time.Duration{back + 2*ahead}, c.gets(back+2*ahead, "second", calls(0, 0, 1, 0)))
	})
	t.Run("it comes", func(t *testing.T) {
		c := begin()
		assert.Empty(t, c.gets(back, "second", calls(0, 0, 1, 0), unused(minute)))
		assert.Equal(t, []time.Duration{comes}, c.gets(comes, "first", calls(0, 0, 1, 0)))
		got, _ := c.ask(comes+ahead, "second", calls(0, 0, 1, 0), unused(comes+minute))
		assert.Equal(t, []time.Duration{comes + ahead}, got.at, "the slot that came back is not left for long")
	})
}

// Each slot has one process that asks for it: the one behind comes for the next one.
func TestEachSlotHasAProcess(t *testing.T) {
	c := &counter{calls: 2}
	c.gets(0, "full", calls(0, 0, 1, 0))
	c.gets(10*time.Second, "full", calls(0, 0, 1, 0))
	next := func(at time.Duration, process string, waiting [ratewindow.Ranks]int) time.Duration {
		got, _ := c.ask(at, process, waiting)
		assert.Empty(t, got.at)
		return at + got.next
	}
	assert.Equal(t, minute-ahead, next(50*time.Second, "first", calls(0, 0, 1, 0)))
	assert.Equal(t, minute+10*time.Second-ahead, next(50*time.Second, "second", calls(0, 0, 1, 0)))
	assert.Equal(t, minute-ahead, next(50*time.Second, "earlier", calls(0, 1, 0, 0)), "its class goes first")
	assert.Equal(t, 50*time.Second+minute/2, next(50*time.Second, "poll", calls(0, 0, 0, 1)), "in the next window")
}

// Earlier classes go first, also those of other processes that are about to come. A class that waits has a tenth,
// unless a confirm would then be too late.
func TestClassesOfAWindow(t *testing.T) {
	for name, tc := range map[string]struct {
		before  int // confirms that went while the read waited
		waiting [ratewindow.Ranks]int
		more    asking
		want    int
	}{
		"refreshes":               {0, calls(10, 0, 0, 0), ofLog(""), 9},
		"tight confirms":          {0, calls(0, 10, 0, 0), pressed, 10},
		"confirms":                {0, calls(0, 10, 0, 0), ofLog(""), 9},
		"a confirm after eight":   {8, calls(0, 1, 0, 0), ofLog(""), 1},
		"a confirm after nine":    {9, calls(0, 1, 0, 0), ofLog(""), 0},
		"a confirm that is tight": {9, calls(0, 1, 0, 0), pressed, 1},
		"others' tight confirm":   {0, calls(0, 10, 0, 0), ofLog(""), 10},
		"polls":                   {0, calls(0, 0, 0, 10), ofLog(""), 7},
	} {
		t.Run(name, func(t *testing.T) {
			c := &counter{calls: 20}
			full := c.gets(0, "full", calls(0, 0, 20, 0))
			assert.Len(t, full, 20)
			c.gets(time.Second, "read", calls(0, 0, 1, 0))
			var back []time.Duration
			for i := range 20 {
				back = append(back, minute+time.Duration(i)*time.Microsecond)
			}
			if tc.before > 0 {
				got := c.gets(2*time.Second, "confirms", calls(0, tc.before, 0, 0), unused(back[:tc.before]...))
				assert.Len(t, got, tc.before, "the read does not come soon")
			}
			soon := time.Second + minute/2 - ahead
			if name == "others' tight confirm" {
				c.gets(2*time.Second, "tight", calls(0, 1, 0, 0), pressed)
			}
			got := c.gets(soon, "asks", tc.waiting, unused(back[tc.before:10]...), tc.more)
			assert.Len(t, got, min(tc.want, 10-tc.before))
		})
	}
}

// While only polls wait, they leave a tenth of the window. Their slots are those after it.
func TestPollsOfAWindowLeaveATenth(t *testing.T) {
	c := &counter{calls: 10}
	got, _ := c.ask(0, "p", calls(0, 0, 0, 5))
	assert.Len(t, got.at, 5)
	got, _ = c.ask(10*time.Second, "p", calls(0, 0, 0, 5))
	assert.Len(t, got.at, 4)
	assert.Equal(t, minute/2, got.next)
	assert.Equal(t, []time.Duration{11 * time.Second}, c.gets(11*time.Second, "q", calls(0, 0, 1, 0)))

	got, _ = c.ask(40*time.Second, "p", calls(0, 0, 0, 1))
	assert.Empty(t, got.at)
	assert.Equal(t, minute+time.Microsecond-ahead-40*time.Second, got.next, "the second slot that is free")
	got, _ = c.ask(minute+time.Microsecond-ahead, "p", calls(0, 0, 0, 1))
	assert.Equal(t, []time.Duration{minute + time.Microsecond}, got.at)
	// A read that comes takes the first one, and the poll leaves the second.
	got, _ = c.ask(minute+3*time.Microsecond-ahead, "q", calls(0, 0, 1, 1))
	assert.Equal(t, []time.Duration{minute + time.Microsecond, minute + 3*time.Microsecond}, got.at)
}

// What was not used comes back. The place of a slot whose time has not come stays until then.
func TestReturnedSlotsOfAWindow(t *testing.T) {
	c := &counter{calls: 1}
	c.gets(0, "a", calls(0, 0, 1, 0))
	got, _ := c.ask(minute-ahead, "a", calls(0, 0, 1, 0))
	assert.Equal(t, []time.Duration{2 * minute}, got.marks)
	got, reservation := c.ask(minute-ahead/2, "b", calls(0, 0, 0, 0), unused(2*minute))
	assert.Empty(t, got.at)
	assert.Equal(t, []time.Duration{ahead / 2}, reservation.Free)
	assert.Equal(t, []time.Duration{minute}, c.gets(minute-ahead/2, "b", calls(0, 0, 1, 0)))
	assert.Equal(t, []time.Duration{minute}, c.gets(minute, "c", calls(0, 0, 1, 0), unused(2*minute)),
		"its time is now")
	assert.Empty(t, c.gets(minute, "d", calls(0, 0, 1, 0), unused(5*time.Second)), "that is not a slot")
}

// Calls that were made without the store count as long as others.
func TestCallsReportedLate(t *testing.T) {
	c := &counter{calls: 4}
	_, reservation := c.ask(0, "p", calls(0, 0, 0, 0))
	got, reservation := c.ask(settled, "p", calls(0, 0, 1, 0), ofLog(reservation.WindowID),
		past(-time.Second, time.Second, minute-time.Microsecond, minute))
	assert.Equal(t, []time.Duration{settled}, got.at, "it was heard of a moment ago")
	assert.Equal(t, []time.Duration{time.Microsecond, minute - time.Second, minute}, reservation.Free)
}

// A window that was lost, or that no process could reach, grants nothing until all processes have reported their calls.
func TestLostWindowGrantsNothingUntilCallsAreReported(t *testing.T) {
	nothingUntil := func(t *testing.T, c *counter, from time.Duration) {
		t.Helper()
		got, _ := c.ask(from+settled-time.Microsecond, "q", calls(0, 0, 1, 0))
		assert.Empty(t, got.at)
		assert.Equal(t, soonest, got.next)
		assert.Equal(t, []time.Duration{from + settled}, c.gets(from+settled, "q", calls(0, 0, 1, 0)))
	}
	t.Run("lost", func(t *testing.T) {
		c := &counter{calls: 4}
		got, reservation := c.ask(0, "p", calls(0, 0, 1, 0), ofLog("another"))
		assert.Zero(t, got)
		assert.Equal(t, ratewindow.Reservation{WindowID: reservation.WindowID}, reservation)
		assert.NotEqual(t, "another", reservation.WindowID)
		got, _ = c.ask(time.Second, "p", calls(0, 0, 1, 0), ofLog(reservation.WindowID), past(time.Second))
		assert.Empty(t, got.at)
		assert.Equal(t, soonest, got.next)
		nothingUntil(t, c, 0)
	})
	t.Run("lost, and full", func(t *testing.T) {
		c := &counter{calls: 1}
		c.gets(0, "p", calls(0, 0, 1, 0), ofLog("another"))
		got, _ := c.ask(time.Second, "p", calls(0, 0, 1, 0), past(time.Second))
		assert.Equal(t, settled-time.Second, got.next)
		got, _ = c.ask(settled, "p", calls(0, 0, 4, 0))
		assert.Equal(t, minute/2, got.next, "it has settled")
	})
	t.Run("away", func(t *testing.T) {
		c := &counter{calls: 4}
		c.gets(0, "p", calls(0, 0, 1, 0))
		at := settled + time.Microsecond
		assert.Empty(t, c.gets(at, "p", calls(0, 0, 1, 0), past(time.Second)))
		nothingUntil(t, c, at)
	})
	t.Run("not asked for long", func(t *testing.T) {
		c := &counter{calls: 4}
		c.gets(0, "p", calls(0, 0, 1, 0))
		assert.Len(t, c.gets(30*time.Second, "p", calls(0, 0, 1, 0)), 1, "nothing was done without it")
	})
	t.Run("its clock is set back", func(t *testing.T) {
		c := &counter{calls: 4}
		c.gets(0, "p", calls(0, 0, 1, 0), ofLog("another"))
		assert.Empty(t, c.gets(-time.Hour, "p", calls(0, 0, 1, 0)))
		nothingUntil(t, c, -time.Hour)
	})
}

// After somebody has set the clock back, no call counts for longer than a window, and no process is waited for.
func TestWindowClockIsSetBack(t *testing.T) {
	c := &counter{calls: 1}
	c.gets(0, "p", calls(0, 0, 1, 0))
	c.gets(0, "q", calls(0, 0, 1, 0))
	got, reservation := c.ask(-time.Hour, "r", calls(0, 0, 1, 0))
	assert.Empty(t, got.at)
	assert.Equal(t, []time.Duration{minute + ahead}, reservation.Free)
	assert.Zero(t, reservation.Others)

	for back, others := range map[time.Duration]int{minute/2 + ahead: 1, minute/2 + ahead + time.Microsecond: 0} {
		c := &counter{calls: 1}
		c.gets(0, "p", calls(0, 0, 1, 0))
		c.gets(0, "q", calls(0, 0, 1, 0)) // comes after half a window
		_, reservation := c.ask(-back, "r", calls(0, 0, 0, 0))
		assert.Equal(t, calls(0, 0, others, 0), reservation.Others)
		assert.Equal(t, []time.Duration{min(minute+back, minute+ahead)}, reservation.Free)
	}
}

// A call that is overdue gets a slot without room, and the others wait for longer.
func TestOverdueCallsAreGranted(t *testing.T) {
	c := &counter{calls: 1}
	c.gets(0, "p", calls(0, 0, 1, 0))
	got, reservation := c.ask(10*time.Second, "p", calls(0, 0, 2, 0), overdue)
	assert.Equal(t, []time.Duration{10 * time.Second}, got.at)
	assert.Equal(t, []time.Duration{minute + 10*time.Second}, got.marks)
	assert.Equal(t, minute/2, got.next, "for the second call")
	assert.Equal(t, []time.Duration{minute}, reservation.Free)
	got, reservation = c.ask(20*time.Second, "p", calls(0, 0, 0, 0), overdue)
	assert.Empty(t, got)
	assert.Equal(t, []time.Duration{51 * time.Second}, reservation.Free, "there was nothing to give")
}

// A process that does not come any more is forgotten, with its place.
func TestAProcessThatDoesNotComeIsForgotten(t *testing.T) {
	const comes = minute / 2
	for after, others := range map[time.Duration]int{2*ahead - time.Microsecond: 1, 2 * ahead: 0} {
		c := &counter{calls: 1}
		c.gets(0, "p", calls(0, 0, 1, 0))
		c.gets(0, "q", calls(0, 0, 1, 0))
		_, reservation := c.ask(comes+after, "r", calls(0, 0, 0, 0))
		assert.Equal(t, calls(0, 0, others, 0), reservation.Others)
	}
}

// A process that has just got a slot comes after one that has waited for longer, also if it waits on.
func TestProcessThatHasWaitedLongerGetsTheSlot(t *testing.T) {
	c := &counter{calls: 4}
	c.gets(0, "full", calls(0, 0, 4, 0))
	for i, process := range []string{"a", "b"} {
		c.gets(time.Duration(11+i)*time.Second, process, calls(0, 0, 3, 0))
	}
	for i, process := range []string{"a", "b"} {
		c.gets(minute/2+time.Duration(11+i)*time.Second, process, calls(0, 0, 3, 0))
	}
	const now = minute - ahead
	c.gets(now, "full", calls(0, 0, 0, 0), unused(minute))
	assert.Empty(t, c.gets(now, "b", calls(0, 0, 3, 0)))
	assert.Len(t, c.gets(now, "a", calls(0, 0, 3, 0)), 1)
	c.gets(now, "full", calls(0, 0, 0, 0), unused(minute+time.Microsecond))
	assert.Len(t, c.gets(now, "b", calls(0, 0, 3, 0)), 1)
}

// The time for which a slot is left begins anew for each slot.
func TestASecondSlotIsLeftAsLong(t *testing.T) {
	c := &counter{calls: 1}
	c.gets(0, "full", calls(0, 0, 1, 0))
	c.gets(time.Second, "first", calls(0, 0, 1, 0))
	const comes = time.Second + minute/2
	assert.Empty(t, c.gets(comes-ahead, "second", calls(0, 0, 1, 0), unused(minute)))
	assert.Len(t, c.gets(comes, "first", calls(0, 0, 1, 0)), 1)
	c.gets(comes+time.Second, "refreshes", calls(1, 0, 0, 0))
	got, _ := c.ask(comes+time.Second+minute/2-ahead, "second", calls(0, 0, 1, 0), unused(comes+minute))
	assert.Empty(t, got.at)
	assert.Equal(t, 2*ahead, got.next)
}

// Calls that go one by one are counted for those that wait. Whoever waits anew has not been passed over.
func TestPassedOverCallsAreCounted(t *testing.T) {
	for again, want := range map[bool]int{false: 0, true: 1} {
		c := &counter{calls: 20}
		c.gets(0, "full", calls(0, 0, 20, 0))
		c.gets(time.Second, "read", calls(0, 0, 1, 0))
		mark := func(i int) time.Duration { return minute + time.Duration(i)*time.Microsecond }
		for i := range 9 {
			assert.Len(t, c.gets(2*time.Second, "confirms", calls(0, 1, 0, 0), unused(mark(i))), 1)
		}
		if again {
			c.gets(3*time.Second, "read", calls(0, 0, 0, 0))
			c.gets(3*time.Second, "other", calls(0, 0, 0, 0))
			c.gets(3*time.Second, "read", calls(0, 0, 1, 0))
		}
		soon := 3*time.Second + minute/2 - ahead
		if !again {
			soon -= 2 * time.Second
		}
		next := 9
		for again && next < 17 {
			assert.Len(t, c.gets(4*time.Second, "confirms", calls(0, 1, 0, 0), unused(mark(next))), 1)
			next++
		}
		assert.Len(t, c.gets(soon, "confirms", calls(0, 1, 0, 0), unused(mark(next))), want)
	}
}

// No process gets more than it asks for, whatever the others ask for.
func TestNoProcessGetsMoreThanItAsksFor(t *testing.T) {
	c := &counter{calls: 20}
	c.gets(0, "full", calls(0, 0, 20, 0))
	var back []time.Duration
	for i := range 20 {
		back = append(back, minute+time.Duration(i)*time.Microsecond)
	}
	for i, process := range []string{"a", "b", "c"} {
		assert.Empty(t, c.gets(time.Second, process, calls(0, 0, []int{1, 5, 3}[i], 0)))
	}
	assert.Len(t, c.gets(time.Second+minute/2, "c", calls(0, 0, 3, 0), unused(back...)), 3)
}

// Of the polls behind reads, one has the tenth of its class, and goes as early as a read. The others leave a tenth.
func TestPollsBehindReadsOfAWindow(t *testing.T) {
	c := &counter{calls: 20}
	c.gets(0, "full", calls(0, 0, 20, 0))
	const last = 19 * time.Microsecond
	var want []time.Duration
	for _, place := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14} {
		want = append(want, minute+time.Duration(place)*time.Microsecond)
	}
	assert.Equal(t, want, c.gets(minute+last-ahead, "p", calls(0, 0, 10, 3)))
}
