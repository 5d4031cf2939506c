package refapi

import (
	"context"
	"fmt"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// WaitOption sets up a wait.
type WaitOption func(*waiting)

// Progress is what a wait has seen so far.
type Progress struct {
	QuoteID string
	Status  string        // as last read; "unread" before
	Reads   int           // how many times it was read
	Waited  time.Duration // since the wait began
}

// OnProgress calls f after each read, in the waiting goroutine.
func OnProgress(f func(Progress)) WaitOption {
	return func(w *waiting) {
		if f != nil {
			w.progress = f
		}
	}
}

// PollEvery bounds the pause between two reads: least at first, half as much again each time, most in the end. The
// default is the client's, see [moneymovement.WithPolling]. No pause is shorter than 1 ms or longer than 24 h. Pauses are drawn at random from the
// upper half, so that many waits do not read in step.
func PollEvery(least, most time.Duration) WaitOption {
	return func(w *waiting) { w.pace = transport.NewPace(least, most) }
}

// Until waits for what the caller says, in place of [Settled].
func Until(done func(*model.UniversalTransactionStatus) bool) WaitOption {
	return func(w *waiting) {
		if done != nil {
			w.done = done
		}
	}
}

// StillPending says that a wait ended before its payment did. It wraps the context's error, and that of
// the last read if it failed.
type StillPending struct {
	Progress
	Err error
}

func (e *StillPending) Error() string {
	return fmt.Sprintf("quote %s is still %s after %s and %d reads: %v", e.QuoteID, e.Status,
		e.Waited.Round(time.Millisecond), e.Reads, e.Err)
}

// Retryable is true: the same wait may be made again.
func (e *StillPending) Retryable() bool { return true }

// MovedByCall is errors.MaybeMoved: the payment had not come to its end.
func (e *StillPending) MovedByCall() errors.Movement { return errors.MaybeMoved }

// Unwrap gives Err.
func (e *StillPending) Unwrap() error { return e.Err }

type waiting struct {
	pace     transport.Pace
	progress func(Progress)
	done     func(*model.UniversalTransactionStatus) bool
}

// wait reads until done. An error that time does not mend ends it at once.
func (c lowLevel) wait(ctx context.Context, quoteID string, options []WaitOption,
	read func(context.Context) (*model.UniversalTransactionStatus, error),
) (*model.UniversalTransactionStatus, error) {
	w := waiting{progress: func(Progress) {}, done: Settled}
	transport.Apply(&w, options)
	progress := func(seen transport.Seen) Progress { return Progress{quoteID, seen.Status, seen.Reads, seen.Waited} }
	return transport.Wait(ctx, c.transport, w.pace, transport.Awaited[model.UniversalTransactionStatus]{
		Read: read, Status: func(s *model.UniversalTransactionStatus) string { return s.Status }, Done: w.done,
		Progress: func(seen transport.Seen) { w.progress(progress(seen)) },
		Still: func(seen transport.Seen, err error) error {
			return &StillPending{Progress: progress(seen), Err: err}
		},
	})
}

// asPoll lets other reads go first in a caller's rate limiter.
func asPoll(c *transport.Call) { c.Class = transport.ClassPoll }
