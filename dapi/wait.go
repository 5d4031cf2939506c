package dapi

import (
	"context"
	"fmt"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorpage"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// WaitOption is an option of the methods that wait: [OnProgress] or [PollEvery]. If an option is invalid, the wait
// fails with *errors.InvalidInput and sends nothing.
type WaitOption func(*waiting)

// Progress reports what a wait has read so far.
type Progress struct {
	Resource string        // what is waited for, such as "payout"
	ID       string        // the resource's id
	Status   string        // the status as last read
	Reads    int           // how many times it was read
	Waited   time.Duration // the time since the wait began
}

// OnProgress calls f after each read, in the goroutine that waits. If f is nil, the wait fails with
// *errors.InvalidInput.
func OnProgress(f func(Progress)) WaitOption {
	return func(w *waiting) {
		w.progress = f
		w.invalid.NotNil("OnProgress", f != nil)
	}
}

// PollEvery sets the pauses between two reads. The first pause is shortest. Each further pause is 1.5 times as long as
// the one before, up to longest. The default is the client's, see [moneymovement.WithPolling]. To spread the reads of
// many waits, each pause is shortened at random, to half of its length at least.
//
// shortest must be at least 1 ms. longest must be at least shortest and at most 24 h. Otherwise the wait fails with
// *errors.InvalidInput.
func PollEvery(shortest, longest time.Duration) WaitOption {
	return func(w *waiting) {
		w.pace = moneymovement.Pace{Least: shortest, Most: longest}
		w.invalid.Pace("PollEvery", shortest, longest)
	}
}

type waiting struct {
	pace     moneymovement.Pace
	progress func(Progress)
	invalid  transport.InvalidOptions
}

// StillPending says that a wait ended before its resource reached the status: its context ended, or had no time left
// for another read. It wraps the error of the context and, if the last read failed, the error of that read. To
// continue, wait again. A wait also ends so if the resource has ended in another status, or has been for 30 minutes in
// one that this version of the SDK does not know: Err then says so.
type StillPending struct {
	Progress
	Err error
}

// Error returns one line: what was waited for, its last status, and why the wait ended.
func (e *StillPending) Error() string {
	return errorpage.Textf(e, "%s %s is still %s after %s and %d reads: %v", e.Resource, e.ID, e.Status,
		e.Waited.Round(time.Millisecond), e.Reads, e.Err)
}

// Retryable returns true: you can wait again.
func (e *StillPending) Retryable() bool { return true }

// MovedByCall returns errors.MaybeMoved for a payin, a payout and a deal, which can still move money, and
// errors.NotMoved for a client, a rail and a verification.
func (e *StillPending) MovedByCall() errors.Movement {
	switch e.Resource {
	case "client", "rail", "verification":
		return errors.NotMoved
	}
	return errors.MaybeMoved
}

// Unwrap returns Err.
func (e *StillPending) Unwrap() error { return e.Err }

// poll describes a wait for one kind of resource.
type poll[T any] struct {
	low          lowLevel
	operation    *transport.Operation   // of read
	check        func(*transport.Check) // of other arguments of the wait, may be nil
	resource, id string
	read         func(context.Context) (*T, error)
	status       func(*T) string
	done         func(*T) bool
	never        func(*T) error // why it will never be done, nil if it can be; may be nil
	known        func(*T) bool  // whether this version knows the status; may be nil
}

// unknownLasts is how long a status must stay that this version does not know, until a wait ends. It can be the last
// one, for which nothing waits.
const unknownLasts = 30 * time.Minute

// hopeless returns a function that says why a wait for a resource ends, although it is not done.
func (p *poll[T]) hopeless() func(*T) error {
	var unknown time.Time // since when the status is one that is not known
	return func(value *T) error {
		if p.never != nil {
			if err := p.never(value); err != nil {
				return err
			}
		}
		switch {
		case p.known == nil || p.known(value):
			unknown = time.Time{}
		case unknown.IsZero():
			unknown = time.Now()
		case time.Since(unknown) >= unknownLasts:
			return fmt.Errorf("this version of the SDK does not know the status %q, and it has not passed for %s: "+
				"read the %s yourself, and update the SDK", p.status(value), unknownLasts, p.resource)
		}
		return nil
	}
}

// wait reads until done returns true. A permanent error ends it at once.
func wait[T any](ctx context.Context, options []WaitOption, p poll[T]) (*T, error) {
	w := waiting{progress: func(Progress) {}}
	transport.Apply(&w, options)
	err := transport.Validate(p.operation.ID, func(c *transport.Check) {
		c.Options(w.invalid)
		if p.check != nil {
			p.check(c)
		}
	})
	if err != nil {
		return nil, err
	}
	progress := func(seen transport.Seen) Progress {
		return Progress{p.resource, p.id, seen.Status, seen.Reads, seen.Waited}
	}
	var last Progress
	var ended error
	hopeless := p.hopeless()
	value, err := transport.Wait(ctx, p.low.transport, w.pace, transport.Awaited[T]{
		Read: p.read, Status: p.status,
		Done: func(value *T) bool {
			if p.done(value) {
				return true
			}
			if why := hopeless(value); why != nil {
				ended = &StillPending{Progress: last, Err: why}
			}
			return ended != nil
		},
		Progress: func(seen transport.Seen) { last = progress(seen); w.progress(last) },
		Still: func(seen transport.Seen, err error) error {
			return &StillPending{Progress: progress(seen), Err: err}
		},
	})
	if err == nil {
		err = ended
	}
	return value, err
}
