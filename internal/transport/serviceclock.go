package transport

import (
	"net/http"
	"sync"
	"time"
)

// serviceClock is how far the service's clock is from this machine's, as the answers' Date tells it, in whole seconds.
// One answer alone can be wrong, as from a proxy whose own clock is: an offset is used once two answers in a row agree
// on it.
type serviceClock struct {
	mu    sync.Mutex
	ahead time.Duration // in use
	last  time.Duration // of the last answer: ahead, or another one that no second answer agreed with yet
}

// dateTolerance is what two offsets may differ by and still be the same: Date has no fractions, and an answer takes its
// time.
const dateTolerance = 2 * time.Second

// farthestAhead is more than any clock is off. Beyond it a duration overflows, and two dates that contradict each other
// seem to agree.
const farthestAhead = 100 * 365 * 24 * time.Hour

// observe takes note of an answer.
func (c *serviceClock) observe(h http.Header, now time.Time) {
	text := h.Get("Date")
	if text == "" {
		return
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return
	}
	ahead := date.Sub(now).Round(time.Second)
	switch off := ahead.Abs(); {
	case off > farthestAhead:
		return
	case off < dateTolerance:
		ahead = 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case (ahead - c.ahead).Abs() < dateTolerance:
		c.last = c.ahead
	case (ahead - c.last).Abs() < dateTolerance:
		c.ahead, c.last = ahead, ahead
	default:
		c.last = ahead
	}
}

// ServiceNow is the time by the service's clock, as far as its answers told it; by this machine's until they do. A
// machine whose clock is off by minutes would otherwise take every approval for too late.
func (c *Client) ServiceNow() time.Time {
	now, _ := c.ServiceTimes()
	return now
}

// ServiceTimes is [Client.ServiceNow], and beside it the time by the last answer alone. The two differ while an answer
// contradicts those before it, and none has said yet which is right.
func (c *Client) ServiceTimes() (now, byLastAnswer time.Time) {
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	here := time.Now()
	return here.Add(c.clock.ahead), here.Add(c.clock.last)
}

// localTime is a time of the service's clock by this machine's, zero for none.
func (c *Client) localTime(service time.Time) time.Time {
	if service.IsZero() {
		return service
	}
	return service.Add(time.Since(c.ServiceNow()))
}
