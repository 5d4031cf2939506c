package transport

import (
	"testing"
	"time"
)

// A window keeps the times of the calls that count in it, and no room for more: a client of many scopes has many
// windows.
func TestHistoryGrowsOnDemand(t *testing.T) {
	h := history{most: 600, held: 61 * time.Second}
	at := time.Now()
	for made := range 2 * h.most {
		h.add(at.Add(time.Duration(made) * time.Second))
		if count := min(made+1, h.most); len(h.at) != count || cap(h.at) > min(2*count+4, h.most) {
			t.Fatalf("after %d calls the history has %d, and room for %d", made+1, len(h.at), cap(h.at))
		}
	}
	if got, want := h.latest(), at.Add(1199*time.Second); !got.Equal(want) {
		t.Errorf("the last call is of %v, not %v", got, want)
	}
	if got, want := h.free(0, at), at.Add(600*time.Second+h.held); !got.Equal(want) {
		t.Errorf("there is room at %v, not at %v", got, want)
	}
	h.remove(at.Add(700 * time.Second))
	if len(h.at) != h.most-1 || !h.free(0, at).Equal(at) {
		t.Error("a call that was not made keeps its slot")
	}
}

// A window lives as long as the program, and somebody may set the clock meanwhile. Approvals end by the clock as it is
// now, so slots are free by the same clock. Of a clock that was set, a test can only set the zone.
func TestHistoryIsByTheClockOfNow(t *testing.T) {
	h := history{most: 1, held: 61 * time.Second}
	began := time.Now()
	h.add(began)
	now := began.Add(time.Second).In(time.FixedZone("set", 3600))
	if got := h.free(0, now); !got.Equal(began.Add(h.held)) || got.Location() != now.Location() {
		t.Errorf("there is room at %v, not at %v", got, began.Add(h.held).In(now.Location()))
	}
}
