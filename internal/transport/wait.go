package transport

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

// Awaited says what a wait reads, and when it is done.
type Awaited[T any] struct {
	Client       *Client
	Operation    *Operation   // of Read
	Check        func(*Check) // of the other arguments of the wait; may be nil
	Resource, ID string
	Read         func(context.Context) (*T, error)
	Status       func(*T) string
	Done         func(*T) bool
	Never        func(*T) error // why it will never be done, nil if it can be; may be nil
	Known        func(*T) bool  // whether this version knows the status; may be nil
}

// Wait reads until done. It returns the last value that it read. A permanent error ends it at once. See [Client.Poll].
func (a Awaited[T]) Wait(ctx context.Context, options []moneymovement.WaitOption) (last *T, err error) {
	if ctx == nil || a.Client == nil {
		return a.Read(ctx) // which refuses the call under its own name
	}
	settings := moneymovement.WaitSettingsOf(options...)
	err = Validate(a.Operation.ID, func(c *Check) {
		c.Options(settings.Invalid)
		if a.Check != nil {
			a.Check(c)
		}
	})
	if err != nil {
		return nil, err
	}
	started := time.Now()
	progress := moneymovement.Progress{Resource: a.Resource, ID: a.ID, Status: "unread"}
	var why error // the wait ends, although it is not done
	stopReason := a.stopReason()
	err = a.Client.Poll(ctx, a.Client.Polling(settings.Polling), func(ctx context.Context) (bool, error) {
		value, err := a.Read(ctx)
		if err != nil {
			return false, err
		}
		last = value
		progress.Status, progress.Waited = a.Status(value), time.Since(started)
		progress.Reads++
		if settings.Progress != nil {
			settings.Progress(progress)
		}
		if a.Done(value) {
			return true, nil
		}
		why = stopReason(value)
		return why != nil, nil
	})
	switch {
	case waitEnded(ctx, err):
		progress.Waited, why = time.Since(started), err
	case err != nil:
		return last, err
	}
	if why != nil {
		return last, &moneymovement.StillPending{Progress: progress, Err: why}
	}
	return last, nil
}

// unknownLasts is how long a resource must have a status that this version does not know before a wait ends.
const unknownLasts = 30 * time.Minute

// stopReason returns a function that returns why a wait ends before it is done, or nil.
func (a Awaited[T]) stopReason() func(*T) error {
	var unknown time.Time // since when the status is one that is not known
	return func(value *T) error {
		if a.Never != nil {
			if err := a.Never(value); err != nil {
				return err
			}
		}
		switch {
		case a.Known == nil || a.Known(value):
			unknown = time.Time{}
		case unknown.IsZero():
			unknown = time.Now()
		case time.Since(unknown) >= unknownLasts:
			return fmt.Errorf("this version of the SDK does not know the status %q, and it has not passed for %s: "+
				"read the %s yourself, and update the SDK", a.Status(value), unknownLasts, a.Resource)
		}
		return nil
	}
}

// Polling returns pace, or the client's if pace is zero.
func (c *Client) Polling(pace moneymovement.Pace) moneymovement.Pace {
	return cmp.Or(pace, c.polling, DefaultPace)
}

// waitEnded reports that the caller's context ended the wait, or that the rate window has no room before its deadline.
func waitEnded(ctx context.Context, err error) bool {
	if ended := ctx.Err(); ended != nil {
		return errors.Is(err, ended)
	}
	_, late := errors.AsType[*moneymovement.WindowFull](err)
	return late
}

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
		case failed+1 == maxFailedReads || !mayRecover(ctx, err, c.retry.WaitMax):
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

// mayRecover reports an error after which Poll reads again: it is temporary, ctx leaves time for another read, and the
// pause is at most longest.
func mayRecover(ctx context.Context, err error, longest time.Duration) bool {
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

// Trail remembers the steps of a walk over a list, such as its cursors, by their hashes. When it is full, it starts
// again empty. So it notices every loop that is shorter than its size.
type Trail struct {
	seed maphash.Seed
	seen map[uint64]struct{}
}

const longestTrail = 1 << 16

// NewTrail starts a trail with the first step of a walk.
func NewTrail(first string) *Trail {
	t := &Trail{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
	t.Again(first)
	return t
}

// Again adds a step, and reports whether the trail has it already.
func (t *Trail) Again(step string) bool {
	if len(t.seen) == longestTrail {
		clear(t.seen)
	}
	before := len(t.seen)
	t.seen[maphash.String(t.seed, step)] = struct{}{}
	return len(t.seen) == before
}
