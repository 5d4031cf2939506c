package transport

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// observe shows the clock a response whose service is so far ahead.
func observe(clock *serviceClock, now time.Time, ahead time.Duration) {
	clock.observe(http.Header{"Date": {now.Add(ahead).UTC().Format(http.TimeFormat)}}, now)
}

// The clock does what it does one response after the other with two plain variables.
func TestServiceClockIsThatOfItsRule(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	near := func(a, b time.Duration) bool { return (a - b).Abs() < dateTolerance }
	rapid.Check(t, func(t *rapid.T) {
		var clock serviceClock
		var used, last time.Duration
		for range rapid.IntRange(1, 20).Draw(t, "responses") {
			ahead := time.Duration(rapid.IntRange(-9, 9).Draw(t, "ahead")) * time.Second
			observe(&clock, now, ahead)
			if near(ahead, 0) {
				ahead = 0
			}
			switch {
			case near(ahead, used):
				last = used
			case near(ahead, last):
				used, last = ahead, ahead
			default:
				last = ahead
			}
			if got := clock.offsets.Load().value(); got != (offsets{used, last}) {
				t.Fatalf("after %v: %v, not %v and %v", ahead, got, used, last)
			}
		}
	})
}

// Responses arrive on many connections at once. Wrong ones, of which no two agree, never set the clock.
func TestServiceClockOfManyResponsesAtOnce(t *testing.T) {
	const right = time.Hour
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var clock serviceClock
	var all sync.WaitGroup
	for caller := range 32 {
		all.Go(func() {
			for i := range 100 {
				wrong := time.Duration(1+caller*100+i) * time.Minute * 7
				observe(&clock, now, -wrong)
				observe(&clock, now, right)
				if used := clock.offsets.Load().value().used; used != 0 && used != right {
					t.Errorf("the clock is %v ahead", used)
				}
			}
		})
	}
	all.Wait()
	observe(&clock, now, right)
	observe(&clock, now, right)
	if got := clock.offsets.Load().value(); got != (offsets{right, right}) {
		t.Errorf("the clock is %v", got)
	}
}
