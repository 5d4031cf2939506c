// Package clock is the host's time: the machine's time, plus the time by which a test has advanced it. Every lifetime
// of the description uses it, so that sixty days pass in one call. The stated rate windows count on it as well.
package clock

import (
	"math"
	"sync/atomic"
	"time"
)

// Clock is the host's clock. It only moves forward. The zero Clock follows the
// machine's time. It is safe for concurrent use.
type Clock struct {
	base   func() time.Time
	offset atomic.Int64
}

// New returns a clock that follows base; nil means time.Now. If base always returns the same time, the clock moves only
// when it is advanced.
func New(base func() time.Time) *Clock {
	return &Clock{base: base}
}

// Now returns the host's time, in UTC.
func (c *Clock) Now() time.Time {
	base := c.base
	if base == nil {
		base = time.Now
	}
	return base().Add(time.Duration(c.offset.Load())).UTC()
}

// Advance moves the clock forward by d and returns the new time. A negative d has no effect: records in the future
// would break every lifetime. All advances together are at most some 292 years, the longest time.Duration.
func (c *Clock) Advance(d time.Duration) time.Time {
	for d > 0 {
		offset := c.offset.Load()
		if c.offset.CompareAndSwap(offset, offset+min(int64(d), math.MaxInt64-offset)) {
			break
		}
	}
	return c.Now()
}

// Advanced returns the time by which the clock was moved.
func (c *Clock) Advanced() time.Duration { return time.Duration(c.offset.Load()) }

// Reset undoes every Advance.
func (c *Clock) Reset() { c.offset.Store(0) }
