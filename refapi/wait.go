package refapi

import (
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorpage"
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

// OnProgress calls f after each read, in the goroutine that waits. A nil f is *errors.InvalidInput.
func OnProgress(f func(Progress)) WaitOption {
	return func(w *waiting) {
		w.progress = f
		w.invalid.NotNil("OnProgress", f != nil)
	}
}

// PollEvery sets the pauses between two reads. The first pause is shortest, each further pause is half as much longer,
// and no pause is longer than longest. The default is the client's, see [moneymovement.WithPolling]. Each pause is
// drawn at random from the upper half of its length, so that many waits do not read at the same time.
//
// shortest must be at least 1 ms. longest must not be less than shortest or more than 24 h. Other values are
// *errors.InvalidInput.
func PollEvery(shortest, longest time.Duration) WaitOption {
	return func(w *waiting) {
		w.pace = moneymovement.Pace{Least: shortest, Most: longest}
		w.invalid.Pace("PollEvery", shortest, longest)
	}
}

// Until ends the wait when done returns true, in place of [Settled]. A nil done is *errors.InvalidInput.
func Until(done func(*model.UniversalTransactionStatus) bool) WaitOption {
	return func(w *waiting) {
		w.done = done
		w.invalid.NotNil("Until", done != nil)
	}
}

// StillPending is the error of a wait that ended before the payment did. It wraps the context's error, and the error of
// the last read if that failed.
type StillPending struct {
	Progress
	Err error
}

func (e *StillPending) Error() string {
	return errorpage.Textf(e,
		"quote %s is still %s after %s and %d reads: %v - wait again to go on", e.QuoteID, e.Status,
		e.Waited.Round(time.Millisecond), e.Reads, e.Err)
}

// Retryable returns true: you can wait again.
func (e *StillPending) Retryable() bool { return true }

// MovedByCall returns errors.MaybeMoved, because the payment had not ended.
func (e *StillPending) MovedByCall() errors.Movement { return errors.MaybeMoved }

// Unwrap returns Err.
func (e *StillPending) Unwrap() error { return e.Err }

type waiting struct {
	pace     moneymovement.Pace
	progress func(Progress)
	done     func(*model.UniversalTransactionStatus) bool
	invalid  transport.InvalidOptions
}

// wait reads until done. An error that does not pass with time ends it at once.
func (c lowLevel) wait(ctx context.Context, quoteID string, options []WaitOption,
	read func(context.Context) (*model.UniversalTransactionStatus, error),
) (*model.UniversalTransactionStatus, error) {
	w := waiting{progress: func(Progress) {}, done: Settled}
	transport.Apply(&w, options)
	err := transport.Validate(opGetTransactionStatus.ID, func(c *transport.Check) { c.Options(w.invalid) })
	if err != nil {
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
