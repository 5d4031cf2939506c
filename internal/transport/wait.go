package transport

import (
	"cmp"
	"context"
	"fmt"
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
	hopeless := a.hopeless()
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
		why = hopeless(value)
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

// unknownLasts is how long a status must stay that this version does not know, until a wait ends. It can be the last
// one, for which nothing waits.
const unknownLasts = 30 * time.Minute

// hopeless returns a function that says why a wait for a resource ends, although it is not done.
func (a Awaited[T]) hopeless() func(*T) error {
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
	_, late := errors.AsType[*moneymovement.NoRoom](err)
	return late
}
