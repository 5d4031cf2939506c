package transport

import (
	"net/http"
	"sync"
	"time"
)

// serviceClock is how far the service's clock differs from this machine's, in whole seconds, by the Date of its
// responses. A single response can be wrong, such as one from a proxy. An offset is used once two responses in a row
// agree on it.
type serviceClock struct {
	mu    sync.Mutex
	ahead time.Duration // in use
	last  time.Duration // of the last answer: ahead, or another one that no second answer agreed with yet
}

// dateTolerance is how much two offsets may differ and still count as equal: Date has no fractions, and a response
// takes some time.
const dateTolerance = 2 * time.Second

// farthestAhead is more than any clock differs. Beyond it a duration overflows, and two dates that differ would seem to
// agree.
const farthestAhead = 100 * 365 * 24 * time.Hour

// observe notes the Date of a response.
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

// ServiceNow returns the time by the service's clock as its responses show it, or by this machine's until they do. A
// machine whose clock is off by minutes would otherwise take every approval for expired.
func (c *Client) ServiceNow() time.Time {
	now, _ := c.ServiceTimes()
	return now
}

// ServiceTimes returns [Client.ServiceNow], and the time by the last response alone. They differ while a response
// contradicts the earlier ones, and none has shown yet which is right.
func (c *Client) ServiceTimes() (now, byLastAnswer time.Time) {
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	here := time.Now()
	return here.Add(c.clock.ahead), here.Add(c.clock.last)
}

// localTime converts a time of the service's clock to this machine's. Zero stays zero.
func (c *Client) localTime(service time.Time) time.Time {
	if service.IsZero() {
		return service
	}
	return service.Add(time.Since(c.ServiceNow()))
}
