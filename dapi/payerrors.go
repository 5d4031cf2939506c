package dapi

import (
	"fmt"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

// PayoutNotCompleted says that a payout came to its own end in another status than `completed`: `failed`, `refunded` or
// `expired`. Its key pays nothing any more.
type PayoutNotCompleted struct {
	errors.CallInfo
	Payout *Payout
}

// Error is one line, safe to log.
func (e *PayoutNotCompleted) Error() string {
	payout := given(e.Payout)
	return fmt.Sprintf("payout %s ended %s; to pay anew, use a new key", payout.ID, payout.Status)
}

// Retryable is false: the payout has ended.
func (e *PayoutNotCompleted) Retryable() bool { return false }

// MovedByCall is not_moved: whatever left came back, or never left.
func (e *PayoutNotCompleted) MovedByCall() errors.Movement { return errors.NotMoved }

// given is what p points to. A caller's fake may leave it out.
func given[T any](p *T) T {
	if p == nil {
		p = new(T)
	}
	return *p
}

// PaymentDeclined says that the caller's own [BeforeSigning] refused. Nothing was signed by this call.
type PaymentDeclined struct {
	errors.CallInfo
	// Payout is booked and not confirmed.
	Payout *Payout
	// Err is what the hook returned.
	Err error
}

// Error is one line.
func (e *PaymentDeclined) Error() string {
	return fmt.Sprintf("payout %s: not signed, BeforeSigning refused: %v", e.Resource, e.Err)
}

// Unwrap gives what the hook returned.
func (e *PaymentDeclined) Unwrap() error { return e.Err }

// Retryable is true: the hook is asked again.
func (e *PaymentDeclined) Retryable() bool { return true }

// MovedByCall is not_moved: nothing was signed.
func (e *PaymentDeclined) MovedByCall() errors.Movement { return errors.NotMoved }

// KeyTooOld says that a key was first used so long ago that the service may have forgotten it, so that the same call
// could pay again. Nothing was sent. Read the payout or the ledger to find what came of it.
type KeyTooOld struct {
	errors.CallInfo
	// FirstUsed is when the key was first used, as the caller says.
	FirstUsed time.Time
}

// Error is one line, safe to log.
func (e *KeyTooOld) Error() string {
	return fmt.Sprintf("%s: key %s was first used on %s; the service remembers a key for 7 days, and later the same call would pay again: "+
		"look for the payment in the ledger", e.Operation, e.IdempotencyKey, e.FirstUsed.UTC().Format(time.DateOnly))
}

// Retryable is false: the key only grows older.
func (e *KeyTooOld) Retryable() bool { return false }

// MovedByCall is not_moved: nothing was sent. What earlier calls with the key did is not known.
func (e *KeyTooOld) MovedByCall() errors.Movement { return errors.NotMoved }
