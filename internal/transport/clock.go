package transport

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"
)

// serviceClock is the difference between the service's clock and this machine's, in whole seconds, by the Date of the
// responses. A single response can be wrong, for example from a proxy. An offset is used when two responses in a row
// agree on it, and if it is not farther than allowed.
type serviceClock struct {
	allowed time.Duration              // zero for allowedDifference
	offsets atomic.Pointer[offsets]    // nil for none
	parsed  atomic.Pointer[parsedDate] // the last Date: it is the same for all responses of a second
}

// offsets are how far the service's clock is ahead of this machine's. They never change: another pair replaces them.
type offsets struct {
	used time.Duration
	last time.Duration // of the last response: used, or another offset that no second response has confirmed
}

type parsedDate struct {
	text string
	time time.Time
}

// dateTolerance is how much two offsets may differ and still count as equal: Date has no fractions, and responses take
// time to arrive.
const dateTolerance = 2 * time.Second

const (
	// allowedDifference is how far the service's clock may differ if the caller allows no other difference. Everything
	// that is dated with the service's clock would move with it: the end of an approval, and the age of a key.
	allowedDifference = 10 * 24 * time.Hour
	// worthAWarning is a difference that no clock has that is set by the network.
	worthAWarning = 5 * time.Minute
	// farthestAhead is shown for all dates beyond it, because a duration overflows there.
	farthestAhead = 100 * 365 * 24 * time.Hour
)

// observe notes the Date of a response.
func (c *serviceClock) observe(h http.Header, now time.Time) {
	date, ok := c.date(h)
	if !ok {
		return
	}
	ahead := date.Sub(now).Round(time.Second)
	ahead = max(-farthestAhead, min(ahead, farthestAhead))
	if ahead.Abs() < dateTolerance {
		ahead = 0
	}
	for {
		before := c.offsets.Load()
		known := before.value()
		next := offsets{known.used, ahead}
		if !c.tooFar(ahead) {
			next = known.after(ahead)
		}
		if next == known || c.offsets.CompareAndSwap(before, &offsets{next.used, next.last}) {
			return
		}
	}
}

func (c *serviceClock) tooFar(ahead time.Duration) bool {
	return ahead.Abs() > cmp.Or(c.allowed, allowedDifference)
}

// date returns the Date of a response, if it has one.
func (c *serviceClock) date(h http.Header) (time.Time, bool) {
	texts := h["Date"]
	if len(texts) == 0 || texts[0] == "" {
		return time.Time{}, false
	}
	if known := c.parsed.Load(); known != nil && known.text == texts[0] {
		return known.time, true
	}
	date, err := http.ParseTime(texts[0])
	if err != nil {
		return time.Time{}, false
	}
	c.parsed.Store(&parsedDate{texts[0], date})
	return date, true
}

// after returns the offsets after a response with the given offset.
func (o offsets) after(ahead time.Duration) offsets {
	switch {
	case (ahead - o.used).Abs() < dateTolerance:
		return offsets{o.used, o.used}
	case (ahead - o.last).Abs() < dateTolerance:
		return offsets{ahead, ahead}
	}
	return offsets{o.used, ahead}
}

func (o *offsets) value() offsets {
	if o == nil {
		return offsets{}
	}
	return *o
}

// ServiceNow returns the time by the service's clock, or by this machine's clock until responses have shown the
// difference. On a machine whose clock is wrong by minutes, every approval would otherwise seem expired.
func (c *Client) ServiceNow() time.Time {
	now, _ := c.ServiceTimes()
	return now
}

// ServiceTimes returns [Client.ServiceNow], and the time by the last response alone. They differ while the last
// response contradicts the earlier ones, and it is not known yet which is right. A Date that is farther away than
// allowed does not count.
func (c *Client) ServiceTimes() (now, byLastResponse time.Time) {
	here, ahead := time.Now(), c.clock.offsets.Load().value()
	if c.clock.tooFar(ahead.last) {
		ahead.last = ahead.used
	}
	return here.Add(ahead.used), here.Add(ahead.last)
}

// ClockDiffers returns both clocks, and how far they may differ, if the Date of the last response is farther away.
func (c *Client) ClockDiffers() (here, service time.Time, allowed time.Duration, differs bool) {
	here, ahead := time.Now(), c.clock.offsets.Load().value()
	return here, here.Add(ahead.last), cmp.Or(c.clock.allowed, allowedDifference), c.clock.tooFar(ahead.last)
}

// clockPlace is where the service's clock is reported, once.
const clockPlace = "the service's clock"

// watchClock notes the Date of a response, and warns once if the clocks differ by minutes.
func (c *Client) watchClock(ctx context.Context, h http.Header, now time.Time) {
	c.clock.observe(h, now)
	ahead := c.clock.offsets.Load().value().last
	if c.logger != nil && ahead.Abs() > worthAWarning && c.firstReport(clockPlace) {
		c.logger.LogAttrs(ctx, slog.LevelWarn, "moneymovement: the clocks of the service and this machine differ",
			slog.Time("service", now.Add(ahead)), slog.Time("here", now), Milliseconds("ahead", ahead))
	}
}

// localTime converts a time of the service's clock to this machine's. Zero stays zero.
func (c *Client) localTime(service time.Time) time.Time {
	if service.IsZero() {
		return service
	}
	return service.Add(time.Since(c.ServiceNow()))
}
