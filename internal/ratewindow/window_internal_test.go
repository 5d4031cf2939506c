package ratewindow

import (
	"slices"
	"testing"
	"time"
)

// A window keeps the calls that count in it, and no room for more: a client of many scopes has many windows.
func TestSlotsGrowOnDemand(t *testing.T) {
	const calls, span = 600, int64(61 * time.Second)
	var s slots
	for made := range int64(2 * calls) {
		now := made * span / calls // one comes when one goes
		s.expire(now)
		s.add(now+span, calls)
		if count := int(min(made+1, calls)); len(s) != count || cap(s) > min(2*count+4, calls) {
			t.Fatalf("after %d calls there are %d, and room for %d", made+1, len(s), cap(s))
		}
	}
	last := (2*calls - 1) * span / calls
	if got, want := s.free(1, calls, span, last), calls*span/calls+span; got != want {
		t.Errorf("there is room at %v, not at %v", got, want)
	}
	if got, want := s.free(1+2*calls, calls, span, last), calls*span/calls+3*span; got != want {
		t.Errorf("after two windows there is room at %v, not at %v", got, want)
	}
	s.add(last+span, calls) // without room
	if got, want := s.free(1, calls, span, last), (calls+1)*span/calls+span; got != want {
		t.Errorf("with one too many there is room at %v, not at %v", got, want)
	}
	for i, want := range []bool{true, true, false} { // two calls count until then
		if got := s.remove(last + span); got != want {
			t.Errorf("removal %d: %t", i, got)
		}
	}
	if len(s) != calls-1 || s.free(1, calls, span, last) != last {
		t.Error("a call that was not made keeps its slot")
	}
}

// Calls that are heard of late come between the others.
func TestSlotsStayInOrder(t *testing.T) {
	var s slots
	for _, until := range []int64{30, 10, 20, 40, 20} {
		s.add(until, 4)
	}
	if want := (slots{10, 20, 20, 30, 40}); !slices.Equal(s, want) {
		t.Errorf("they are %v, not %v", s, want)
	}
	s.expire(20)
	if want := (slots{30, 40}); !slices.Equal(s, want) {
		t.Errorf("%v are left, not %v", s, want)
	}
}

// Of a window that others count, the room for the first call, the second, the fourth and so on is known. A call has
// room no sooner than the last one before it of which it is known.
func TestAViewOfAnotherWindow(t *testing.T) {
	at := time.Now()
	v := view{at: at, freeAfter: []time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second}} // of 5 calls
	for k, after := range map[int]int{1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 61 + 1, 7: 61 + 2, 10: 61 + 4, 11: 122 + 1} {
		if got, want := v.free(k, 5, 61*time.Second), at.Add(time.Duration(after)*time.Second); !got.Equal(want) {
			t.Errorf("call %d has room after %v, not %v", k, got.Sub(at), want.Sub(at))
		}
	}
	few := view{at: at, freeAfter: []time.Duration{1 * time.Second}} // of a store that says too little
	if got, want := few.free(4, 5, 61*time.Second), at.Add(time.Second); !got.Equal(want) {
		t.Errorf("call 4 has room after %v, not %v", got.Sub(at), want.Sub(at))
	}
	if unknown := (view{}); !unknown.free(3, 5, time.Second).IsZero() {
		t.Error("nothing is known of a window that was not heard of")
	}
}

// A window lives as long as the program, and somebody may set the clock meanwhile. Approvals end by the clock as it is
// now, so slots are free by the same clock. Of a clock that was set, a test can only set the zone.
func TestAWindowIsByTheClockOfNow(t *testing.T) {
	began := time.Now()
	o := localWindow{calls: 1, span: 61 * time.Second, base: began}
	o.take(began)
	now := began.Add(time.Second).In(time.FixedZone("set", 3600))
	if got := o.free(1, now); !got.Equal(began.Add(o.span)) || got.Location() != now.Location() {
		t.Errorf("there is room at %v, not at %v", got, began.Add(o.span).In(now.Location()))
	}
}
