package ratewindow

import "slices"

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
