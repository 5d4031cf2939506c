package moneymovement

import (
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// WaitOption sets up one wait, such as dapi's Payouts.Wait: [OnProgress] or [PollEvery].
type WaitOption interface{ apply(to *WaitSettings) }

type waitOption func(*WaitSettings)

func (o waitOption) apply(to *WaitSettings) { o(to) }

// WaitSettings is what the options of a wait set.
type WaitSettings struct {
	Polling  Pace           // of [PollEvery]; zero for the client's
	Progress func(Progress) // of [OnProgress]; nil for none
	// Invalid are the problems with the options. The wait is refused because of them.
	Invalid []errors.Field
}

// WaitSettingsOf returns what the options of a wait set. It ignores nil options.
func WaitSettingsOf(options ...WaitOption) WaitSettings {
	var settings WaitSettings
	for _, option := range options {
		if option != nil {
			option.apply(&settings)
		}
	}
	return settings
}

// Progress reports what a wait has read so far.
type Progress struct {
	Resource string        // what is waited for, such as "payout"
	ID       string        // the resource's id
	Status   string        // the status as last read; "unread" before the first read
	Reads    int           // how many times it was read
	Waited   time.Duration // the time since the wait began
}

// OnProgress calls f after each read, in the goroutine that waits. If f is nil, the wait fails with
// *errors.InvalidInput.
func OnProgress(f func(Progress)) WaitOption {
	return waitOption(func(to *WaitSettings) {
		to.Progress = f
		if f == nil {
			refuse(&to.Invalid, "OnProgress", errors.FieldMissing, "must not be nil")
		}
	})
}

// PollEvery sets the pauses between two reads. The first pause is shortest. Each further pause is 1.5 times as long as
// the one before, up to longest. The default is the client's, see [WithPolling]. To spread the reads of many waits,
// each pause is shortened at random, to half of its length at least.
//
// shortest must be at least 1 ms. longest must be at least shortest and at most 24 h. Otherwise the wait fails with
// *errors.InvalidInput.
func PollEvery(shortest, longest time.Duration) WaitOption {
	return waitOption(func(to *WaitSettings) {
		to.Polling = Pace{shortest, longest}
		to.Polling.check(&to.Invalid, "PollEvery")
	})
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
	return errorbase.Textf(e, "%s %s is still %s after %s and %d reads: %v", e.Resource, e.ID, e.Status,
		e.Waited.Round(time.Millisecond), e.Reads, e.Err)
}

// Retryable returns true: you can wait again.
func (e *StillPending) Retryable() bool { return true }

// MovedByCall returns errors.NotMoved for a client, a rail and a verification, and errors.MaybeMoved for everything
// else, such as a payout, which can still move money.
func (e *StillPending) MovedByCall() errors.Movement {
	switch e.Resource {
	case "client", "rail", "verification":
		return errors.NotMoved
	}
	return errors.MaybeMoved
}

// Unwrap returns Err.
func (e *StillPending) Unwrap() error { return e.Err }
