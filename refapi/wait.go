package refapi

import (
	"context"
	"fmt"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// WaitOption is an option of [Quotes.Wait]: [PollEvery], [OnProgress] or [Until]. An invalid option fails with
// *errors.InvalidInput, and nothing is sent.
type WaitOption func(*waiting)

// Progress is what a wait has read so far.
type Progress struct {
	QuoteID string
	Status  string        // the status as last read; "unread" before the first read
	Reads   int           // how many times it was read
	Waited  time.Duration // the time since the wait began
}

// OnProgress calls f after each read, in the goroutine that waits. f must not be nil.
func OnProgress(f func(Progress)) WaitOption {
	return func(w *waiting) {
		w.progress = f
		w.requireSet("OnProgress", f != nil)
	}
}

// PollEvery sets the pauses between two reads. The first pause is least, each further pause is 1.5 times as long, and
// no pause is longer than most. The default is that of the client, see [moneymovement.WithPolling]. A random part of up
// to half is taken off each pause, so that many waits do not read at the same moment.
//
// least must be at least 1 ms. most must not be less than least or more than 24 h.
func PollEvery(least, most time.Duration) WaitOption {
	return func(w *waiting) {
		w.pace = transport.Pace{Least: least, Most: most}
		w.checks = append(w.checks, func(c *transport.Check) { c.Pace("PollEvery", least, most) })
	}
}

// Until ends the wait when done returns true, in place of [Settled]. done must not be nil.
func Until(done func(*model.UniversalTransactionStatus) bool) WaitOption {
	return func(w *waiting) {
		w.done = done
		w.requireSet("Until", done != nil)
	}
}

// StillPending is the error of a wait that ended before the payment did. It wraps the context's error, and the error of
// the last read if that failed.
type StillPending struct {
	Progress
	Err error
}

func (e *StillPending) Error() string {
	return fmt.Sprintf("quote %s is still %s after %s and %d reads: %v - wait again to go on", e.QuoteID, e.Status,
		e.Waited.Round(time.Millisecond), e.Reads, e.Err)
}

// Retryable returns true: you can wait again.
func (e *StillPending) Retryable() bool { return true }

// MovedByCall returns errors.MaybeMoved, because the payment had not ended.
func (e *StillPending) MovedByCall() errors.Movement { return errors.MaybeMoved }

// Unwrap returns Err.
func (e *StillPending) Unwrap() error { return e.Err }

type waiting struct {
	pace     transport.Pace
	progress func(Progress)
	done     func(*model.UniversalTransactionStatus) bool
	checks   []func(*transport.Check) // of the options' arguments
}

func (w *waiting) requireSet(option string, set bool) {
	if !set {
		w.checks = append(w.checks, func(c *transport.Check) {
			c.Refuse(option, errors.FieldMissing, "must not be nil; leave the option out")
		})
	}
}

// wait reads until done. An error that does not pass with time ends it at once.
func (c lowLevel) wait(ctx context.Context, quoteID string, options []WaitOption,
	read func(context.Context) (*model.UniversalTransactionStatus, error),
) (*model.UniversalTransactionStatus, error) {
	w := waiting{progress: func(Progress) {}, done: Settled}
	transport.Apply(&w, options)
	if err := transport.Validate(opGetTransactionStatus.ID, func(c *transport.Check) {
		for _, check := range w.checks {
			check(c)
		}
	}); err != nil {
		return nil, err
	}
	progress := func(seen transport.Seen) Progress { return Progress{quoteID, seen.Status, seen.Reads, seen.Waited} }
	return transport.Wait(ctx, c.transport, w.pace, transport.Awaited[model.UniversalTransactionStatus]{
		Read: read, Status: func(s *model.UniversalTransactionStatus) string { return s.Status }, Done: w.done,
		Progress: func(seen transport.Seen) { w.progress(progress(seen)) },
		Still: func(seen transport.Seen, err error) error {
			return &StillPending{Progress: progress(seen), Err: err}
		},
	})
}

// asPoll lets other reads pass first in a rate limiter of the caller.
func asPoll(c *transport.Call) { c.Class = transport.ClassPoll }
