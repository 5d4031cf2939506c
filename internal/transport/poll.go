package transport

import (
	"context"
	"fmt"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

// DefaultPace notices quick changes early, and reads seldom in long waits.
var DefaultPace = moneymovement.Pace{Least: 500 * time.Millisecond, Most: 15 * time.Second}

// maxFailedReads is how many reads in a row may fail before the wait fails. An outage of a minute does not end a wait
// of days.
const maxFailedReads = 10

// Poll reads until read reports done, an error is permanent, or ctx ends. After a temporary error it reads again, at
// the time that the service asked for, up to maxFailedReads times in a row. The second half of each pause is random, so
// that many waits do not read at the same time. If the service asks for a longer pause than a call would wait, Poll
// returns the refusal, which says when to try again.
func (c *Client) Poll(ctx context.Context, p moneymovement.Pace,
	read func(context.Context) (done bool, err error)) error {
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
		if ended := Pause(ctx, max(c.jittered(ctx, pause), time.Until(retryAt(err)))); ended != nil {
			if err == nil {
				return ended
			}
			return fmt.Errorf("%w; the last read failed: %w", ended, err)
		}
	}
}

// mends reports an error that may be gone at a later read, if ctx leaves time for that read and the pause is not longer
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

// Pause waits for d. If ctx ends first, it returns the context's error.
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
