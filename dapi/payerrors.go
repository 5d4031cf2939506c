package dapi

import (
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// PayoutNotCompleted says that a payout ended with a status other than `completed`: `failed`, `refunded` or `expired`.
// Its key cannot pay any more. To pay, use a new key.
type PayoutNotCompleted struct {
	errors.CallInfo
	// Payout is the payout that ended.
	Payout *Payout
}

// Error returns one line, safe to log.
func (e *PayoutNotCompleted) Error() string {
	payout := deref(e.Payout)
	return errorbase.Textf(e,
		"payout %s ended with status %s: its money came back or never left; to pay, use a new key",
		payout.ID,
		payout.Status)
}

// Retryable returns false: the payout has ended.
func (e *PayoutNotCompleted) Retryable() bool { return false }

// MovedByCall returns errors.NotMoved: the money came back, or never left.
func (e *PayoutNotCompleted) MovedByCall() errors.Movement { return errors.NotMoved }

// deref returns the value of p, or the zero value for nil, which an error that a test makes by hand can hold.
func deref[T any](p *T) T {
	if p == nil {
		p = new(T)
	}
	return *p
}

// PaymentDeclined says that your BeforeSigning or Journal function returned an error. The SDK did not sign, and this
// call paid nothing.
type PaymentDeclined struct {
	errors.CallInfo
	// Payout is the booked payout, nil for a deal. This call did not confirm it.
	Payout *Payout
	// Err is the error that your function returned.
	Err error
}

// Error returns one line, which includes the text of Err.
func (e *PaymentDeclined) Error() string {
	return errorbase.Textf(e,
		"%s: your function refused the payment, so this call paid nothing: %v", e.Resource, e.Err)
}

// Unwrap returns Err.
func (e *PaymentDeclined) Unwrap() error { return e.Err }

// Retryable returns true: the next call runs your function again.
func (e *PaymentDeclined) Retryable() bool { return true }

// MovedByCall returns errors.NotMoved: this call paid nothing.
func (e *PaymentDeclined) MovedByCall() errors.Movement { return errors.NotMoved }

// KeyTooOld says that the service may have forgotten an idempotency key, because the key was first used too long ago.
// The same call could pay a second time, so this call signed nothing. An earlier call may have paid: look for the
// payment in the ledger before you pay with a new key.
type KeyTooOld struct {
	errors.CallInfo
	// FirstUsed is the time that you passed in [History].
	FirstUsed time.Time
}

// Error returns one line, safe to log.
func (e *KeyTooOld) Error() string {
	return errorbase.Textf(e, "%s: key %q was first used on %s, and the service remembers a key for 7 days: "+
		"this call signed nothing, because it could pay a second time; an earlier call may have paid, "+
		"so look for the payment in the ledger before you use a new key",
		e.Operation, e.IdempotencyKey, e.FirstUsed.UTC().Format(time.DateOnly))
}

// Remedy returns errors.RemedyNewKey.
func (e *KeyTooOld) Remedy() errors.Remedy { return errors.RemedyNewKey }

// Retryable returns false: the key only becomes older.
func (e *KeyTooOld) Retryable() bool { return false }

// MovedByCall returns errors.NotMoved: this call signed nothing. It says nothing about earlier calls with the key.
func (e *KeyTooOld) MovedByCall() errors.Movement { return errors.NotMoved }
