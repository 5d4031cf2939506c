package transport

import (
	"net/http"
	"sync/atomic"
	"time"
)

// serviceClock is how far the service's clock is from this machine's, as the answers' Date tells it, in whole seconds.
type serviceClock struct{ ahead atomic.Int64 }

// observe takes note of an answer. Less than two seconds is nothing: Date has no fractions, and an answer takes its time.
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
	if ahead.Abs() < 2*time.Second {
		ahead = 0
	}
	c.ahead.Store(int64(ahead))
}

// ServiceNow is the time by the service's clock, as far as its answers told it; by this machine's before the first one. A machine whose
// clock is off by minutes would otherwise take every approval for too late.
func (c *Client) ServiceNow() time.Time { return time.Now().Add(time.Duration(c.clock.ahead.Load())) }

// localTime is a time of the service's clock by this machine's, zero for none.
func (c *Client) localTime(service time.Time) time.Time {
	if service.IsZero() {
		return service
	}
	return service.Add(-time.Duration(c.clock.ahead.Load()))
}
