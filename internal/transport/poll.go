package transport

import (
	"context"
	"fmt"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Pace bounds the pauses between two reads of a wait: Least at first, half as much again each time, Most in the end.
type Pace struct{ Least, Most time.Duration }

// DefaultPace notices quick changes quickly, and reads seldom in long waits.
func DefaultPace() Pace { return Pace{Least: 500 * time.Millisecond, Most: 15 * time.Second} }

// The bounds keep a wait from spinning, and its arithmetic from overflowing.
const (
	shortestPause = time.Millisecond
	longestPause  = 24 * time.Hour
)

// Pace refuses pauses outside the bounds.
func (c *Check) Pace(field string, least, most time.Duration) {
	switch {
	case least < shortestPause || most > longestPause:
		c.Refuse(field, "out_of_range", "must be between 1 ms and 24 h")
	case least > most:
		c.Refuse(field, "out_of_range", "the least pause must not be longer than the most")
	}
}

// maxFailedReads is how many reads in a row may fail before the wait fails. An outage of a minute does not end a wait
// of days.
const maxFailedReads = 10

// Poll reads until read is done, fails for good, or ctx ends. After a failure that may pass, it reads again, at the
// time that the service asked for, up to maxFailedReads times in a row. Pauses are random in their upper half, so that
// many waits do not read at the same time. If the service asks for a longer pause than a call would wait, Poll returns
// the refusal, which says when to try again.
func (c *Client) Poll(ctx context.Context, p Pace, read func(context.Context) (done bool, err error)) error {
	failed := 0
	for pause := p.Least; ; pause = min(pause*3/2, p.Most) {
		done, err := read(ctx)
		switch {
		case err == nil && done:
			return nil
		case err == nil:
			failed = 0
		case failed+1 == maxFailedReads || !mends(ctx, err, c.retry.WaitMax):
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

// mends reports a failure that may have passed by a later read, if ctx leaves time for it and it is not further away
// than longest.
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

// Pause waits for d. It returns the context's error if that ends before.
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
