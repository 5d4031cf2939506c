package transport

import (
	"cmp"
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

// Awaited says what a wait reads, and when it is done.
type Awaited[T any] struct {
	Read     func(context.Context) (*T, error)
	Status   func(*T) string
	Done     func(*T) bool
	Progress func(Seen)              // is called after each read
	Still    func(Seen, error) error // returns the error of a wait that ended too early
}

// Seen is what a wait has seen so far.
type Seen struct {
	Status string        // of the last read; "unread" before the first
	Reads  int           // how many reads there were
	Waited time.Duration // time since the wait began
}

// Wait reads until done, at the given pace, or at the client's if pace is zero. It returns the last value that it read.
// A permanent error ends it at once. See [Client.Poll].
func Wait[T any](ctx context.Context, c *Client, pace moneymovement.Pace, awaited Awaited[T]) (last *T, err error) {
	if ctx == nil || c == nil {
		return awaited.Read(ctx) // which refuses the call under its own name
	}
	started := time.Now()
	seen := Seen{Status: "unread"}
	err = c.Poll(ctx, c.Polling(pace), func(ctx context.Context) (bool, error) {
		value, err := awaited.Read(ctx)
		if err != nil {
			return false, err
		}
		last = value
		seen = Seen{Status: awaited.Status(value), Reads: seen.Reads + 1, Waited: time.Since(started)}
		awaited.Progress(seen)
		return awaited.Done(value), nil
	})
	if waitEnded(ctx, err) {
		seen.Waited = time.Since(started)
		return last, awaited.Still(seen, err)
	}
	return last, err
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
	_, late := errors.AsType[*moneymovement.NoRoom](err)
	return late
}

// Apply applies options to a value. Nil options are ignored.
func Apply[T any, O ~func(*T)](to *T, options []O) {
	for _, option := range options {
		if option != nil {
			option(to)
		}
	}
}
