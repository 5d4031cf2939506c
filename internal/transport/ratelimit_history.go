package transport

import (
	"slices"
	"time"
)

// history holds the times at which the last calls of a window were admitted, oldest first. It holds at most as many
// times as the window allows calls, and needs no more memory than the calls that it holds.
type history struct {
	most  int
	held  time.Duration   // how long a call counts
	began time.Time       // the first call
	at    []time.Duration // since began; a ring buffer when it is full
	first int             // index of the oldest
}

func (h *history) add(at time.Time) {
	if h.began.IsZero() {
		h.began = at
	}
	since := at.Sub(h.began)
	if len(h.at) < h.most {
		if len(h.at) == cap(h.at) {
			grown := make([]time.Duration, len(h.at), min(2*len(h.at)+4, h.most)) // append would go beyond most
			copy(grown, h.at)
			h.at = grown
		}
		h.at = append(h.at, since)
		return
	}
	h.at[h.first] = since
	h.first = (h.first + 1) % h.most
}

// remove removes a call that was not made.
func (h *history) remove(at time.Time) {
	ordered := append(slices.Clone(h.at[h.first:]), h.at[:h.first]...)
	if i := slices.Index(ordered, at.Sub(h.began)); i >= 0 {
		h.at, h.first = slices.Delete(ordered, i, i+1), 0
	}
}

// free returns when there is room for one more call, if as many calls as before says go first. It counts from now:
// began shows another time of day if somebody has set the clock since.
func (h *history) free(before int, now time.Time) time.Time {
	at := now
	if place := before%h.most - (h.most - len(h.at)); place >= 0 { // else that place is still free
		at = now.Add(max(h.at[(h.first+place)%len(h.at)]+h.held-now.Sub(h.began), 0))
	}
	return at.Add(time.Duration(before/h.most) * h.held)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// latest returns when the last call was admitted, or zero if there was no call.
func (h *history) latest() time.Time {
	if len(h.at) == 0 {
		return time.Time{}
	}
	return h.began.Add(h.at[(h.first+len(h.at)-1)%len(h.at)])
}
