package dapi

import (
	"context"
	"fmt"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// WaitOption sets up a wait.
type WaitOption func(*waiting)

// Progress is what a wait has seen so far.
type Progress struct {
	Resource string        // such as "payout"
	ID       string        // of the resource
	Status   string        // as last read
	Reads    int           // how many times it was read
	Waited   time.Duration // since the wait began
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

type waiting struct {
	pace     transport.Pace
	progress func(Progress)
}

// StillPending says that a wait ended before its resource came to an end: its context ended, or leaves no time for
// another read. It wraps the context's error, and that of the last read if it failed.
type StillPending struct {
	Progress
	Err error
}

func (e *StillPending) Error() string {
	return fmt.Sprintf("%s %s is still %s after %s and %d reads: %v", e.Resource, e.ID, e.Status,
		e.Waited.Round(time.Millisecond), e.Reads, e.Err)
}

// Retryable is true: the same wait may be made again.
func (e *StillPending) Retryable() bool { return true }

// MovedByCall is errors.MaybeMoved for what moves money in the end, and errors.NotMoved for the other resources.
func (e *StillPending) MovedByCall() errors.Movement {
	switch e.Resource {
	case "client", "rail", "verification":
		return errors.NotMoved
	}
	return errors.MaybeMoved
}

// Unwrap gives Err.
func (e *StillPending) Unwrap() error { return e.Err }

// poll says how one kind of resource is waited for.
type poll[T any] struct {
	low          lowLevel
	resource, id string
	read         func(context.Context) (*T, error)
	status       func(*T) string
	done         func(*T) bool
}

// wait reads until done. An error that time does not mend ends it at once.
func wait[T any](ctx context.Context, options []WaitOption, p poll[T]) (*T, error) {
	w := waiting{progress: func(Progress) {}}
	transport.Apply(&w, options)
	progress := func(seen transport.Seen) Progress {
		return Progress{p.resource, p.id, seen.Status, seen.Reads, seen.Waited}
	}
	return transport.Wait(ctx, p.low.transport, w.pace, transport.Awaited[T]{
		Read: p.read, Status: p.status, Done: p.done,
		Progress: func(seen transport.Seen) { w.progress(progress(seen)) },
		Still: func(seen transport.Seen, err error) error {
			return &StillPending{Progress: progress(seen), Err: err}
		},
	})
}
