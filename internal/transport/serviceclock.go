package transport

import (
	"net/http"
	"sync"
	"time"
)

// serviceClock is the difference between the service's clock and this machine's, in whole seconds, by the Date of the
// responses. A single response can be wrong, for example from a proxy. An offset is used when two responses in a row
// agree on it.
type serviceClock struct {
	mu    sync.Mutex
	ahead time.Duration // in use
	last  time.Duration // of the last response: ahead, or another offset that no second response has confirmed
}

// dateTolerance is how much two offsets may differ and still count as equal: Date has no fractions, and responses take
// time to arrive.
const dateTolerance = 2 * time.Second

// farthestAhead is more than any clock differs. Beyond it a duration overflows, and two different dates would seem
// equal.
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

// ServiceNow returns the time by the service's clock, or by this machine's clock until responses have shown the
// difference. On a machine whose clock is wrong by minutes, every approval would otherwise seem expired.
func (c *Client) ServiceNow() time.Time {
	now, _ := c.ServiceTimes()
	return now
}

// ServiceTimes returns [Client.ServiceNow], and the time by the last response alone. They differ while the last
// response contradicts the earlier ones, and it is not known yet which is right.
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
