package ratewindow

import (
	"testing"
	"time"
)

// A window keeps the calls that count in it, and no room for more: a client of many scopes has many windows.
func TestSlotsGrowOnDemand(t *testing.T) {
	const calls, held = 600, int64(61 * time.Second)
	var s slots
	for made := range int64(2 * calls) {
		now := made * held / calls // one comes when one goes
		s.expire(now)
		s.add(now+held, calls)
		if count := int(min(made+1, calls)); len(s) != count || cap(s) > min(2*count+4, calls) {
			t.Fatalf("after %d calls there are %d, and room for %d", made+1, len(s), cap(s))
		}
	}
	last := (2*calls - 1) * held / calls
	if got, want := s.free(1, calls, held, last), calls*held/calls+held; got != want {
		t.Errorf("there is room at %v, not at %v", got, want)
	}
	if got, want := s.free(1+2*calls, calls, held, last), calls*held/calls+3*held; got != want {
		t.Errorf("after two windows there is room at %v, not at %v", got, want)
	}
	s.add(last+held, calls) // without room
	if got, want := s.free(1, calls, held, last), (calls+1)*held/calls+held; got != want {
		t.Errorf("with one too many there is room at %v, not at %v", got, want)
	}
	for i, want := range []bool{true, true, false} { // two calls count until then
		if got := s.remove(last + held); got != want {
			t.Errorf("removal %d: %t", i, got)
		}
	}
	if len(s) != calls-1 || s.free(1, calls, held, last) != last {
		t.Error("a call that was not made keeps its slot")
	}
}

// A window lives as long as the program, and somebody may set the clock meanwhile. Approvals end by the clock as it is
// now, so slots are free by the same clock. Of a clock that was set, a test can only set the zone.
func TestAWindowIsByTheClockOfNow(t *testing.T) {
	began := time.Now()
	o := own{calls: 1, held: 61 * time.Second, base: began}
	o.take(began)
	now := began.Add(time.Second).In(time.FixedZone("set", 3600))
	if got := o.free(1, now); !got.Equal(began.Add(o.held)) || got.Location() != now.Location() {
		t.Errorf("there is room at %v, not at %v", got, began.Add(o.held).In(now.Location()))
	}
}
