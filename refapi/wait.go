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

// PollEvery bounds the pause between two reads: least at first, half as much again each time, most in the end. The default is
// 500 ms to 15 s, and no pause is shorter than 1 ms or longer than 24 h. Pauses are drawn at random from the upper half, so that many
// waits do not read in step.
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
	return fmt.Sprintf("quote %s is still %s after %s and %d reads: %v", e.QuoteID, e.Status, e.Waited.Round(time.Millisecond), e.Reads, e.Err)
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

func newWaiting(options []WaitOption) *waiting {
	w := &waiting{pace: transport.DefaultPace(), progress: func(Progress) {}, done: Settled}
	for _, option := range options {
		if option != nil {
			option(w)
		}
	}
	return w
}

// wait reads until done. An error that time does not mend ends it at once.
func (w *waiting) wait(ctx context.Context, low lowLevel, quoteID string,
	read func(context.Context) (*model.UniversalTransactionStatus, error),
) (last *model.UniversalTransactionStatus, err error) {
	if ctx == nil || low.transport == nil {
		return read(ctx) // which is refused, under its own name
	}
	started := time.Now()
	seen := Progress{QuoteID: quoteID, Status: "unread"}
	err = low.transport.Poll(ctx, w.pace, func(ctx context.Context) (bool, error) {
		status, err := read(ctx)
		if err != nil {
			return false, err
		}
		last = status
		seen.Status, seen.Reads, seen.Waited = status.Status, seen.Reads+1, time.Since(started)
		w.progress(seen)
		return w.done(status), nil
	})
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		seen.Waited = time.Since(started)
		return last, &StillPending{Progress: seen, Err: err}
	}
	return last, err
}

// asPoll lets other reads go first in a caller's rate limiter.
func asPoll(c *transport.Call) { c.Class = transport.ClassPoll }
