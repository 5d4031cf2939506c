package transport

import (
	"context"
	"fmt"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Pace bounds the pauses between two reads of something that is waited for: Least at first, half as much again each
// time, Most in the end.
type Pace struct{ Least, Most time.Duration }

// DefaultPace finds quick things quickly and burdens nobody for long ones.
//
// Source: Events (polling should back off).
func DefaultPace() Pace { return Pace{Least: 500 * time.Millisecond, Most: 15 * time.Second} }

// The bounds keep a wait from spinning, and its arithmetic from overflowing.
const (
	shortestPause = time.Millisecond
	longestPause  = 24 * time.Hour
)

// Pace refuses pauses that a wait cannot keep.
func (c *Check) Pace(field string, least, most time.Duration) {
	switch {
	case least < shortestPause || most > longestPause:
		c.Refuse(field, "out_of_range", "must be between 1 ms and 24 h")
	case least > most:
		c.Refuse(field, "out_of_range", "must not have a least pause that is longer than the most")
	}
}

// NewPace keeps what the caller says within 1 ms and 24 h.
func NewPace(least, most time.Duration) Pace {
	least = min(max(least, shortestPause), longestPause)
	return Pace{least, min(max(most, least), longestPause)}
}

// patience is how many reads in a row may fail before a wait does: an outage of a minute does not end a wait of days.
const patience = 10

// Poll reads until read is done or fails for good, and returns the context's error if that ends first. A failure that
// time may mend is followed by the next read as if nothing new had been seen, not before the service said, up to
// [patience] of them in a row. Pauses are drawn at random from the upper half, so that many waits do not read in step.
// A service that wants to be left alone for longer than a call would wait ends the wait with its refusal, which says
// when to come again.
func (c *Client) Poll(ctx context.Context, p Pace, read func(context.Context) (done bool, err error)) error {
	failed := 0
	for pause := p.Least; ; pause = min(pause*3/2, p.Most) {
		done, err := read(ctx)
		switch {
		case err == nil && done:
			return nil
		case err == nil:
			failed = 0
		case failed+1 == patience || !mends(ctx, err, c.retry.WaitMax):
			return err
		default:
			failed++
		}
		if ended := Pause(ctx, max(jittered(pause), time.Until(retryAt(err)))); ended != nil {
			if err == nil {
				return ended
			}
			return fmt.Errorf("%w; the last read failed: %w", ended, err)
		}
	}
}

// mends reports a failure that may be over by a later read, for which ctx leaves the time, and which is not further
// away than longest.
func mends(ctx context.Context, err error, longest time.Duration) bool {
	failure, ok := errors.AsType[errors.Failure](err)
	if !ok || !failure.Retryable() || ctx.Err() != nil {
		return false
	}
	if time.Until(retryAt(err)) > longest {
		return false
	}
	deadline, bounded := ctx.Deadline()
	return !bounded || retryAt(err).Before(deadline)
}

// Pause lets time pass, or returns the context's error if that ends first or has ended.
func Pause(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
