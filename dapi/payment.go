package dapi

import (
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// PayTerms is what you say about a payment besides what is paid. The zero value sets no bound on the price, and knows
// nothing about earlier calls.
type PayTerms struct {
	// Bounds limits the price.
	Bounds Bounds
	// History is what you stored last for this key: from Journal, or from [Payment].History. The zero value is nothing.
	History History
	// Journal stores what is about to be signed, in place of what you stored before. Pay calls it before each
	// signature. If it returns an error, this call signs nothing, and the payment is in doubt with a *[PaymentDeclined]
	// as refusal: another process may have stored that it signs.
	//
	// With Journal, your store knows all that was ever signed with the key. So a zero History proves that this is the
	// first use, and a refusal means that nothing was paid. Without Journal, a zero History proves nothing, because an
	// earlier call may have paid: after a refusal the payment is then in doubt.
	//
	// If two processes can call Pay with one key at the same time, Journal must compare: store the new History only if
	// the stored one is still the History that you passed, and return an error otherwise. Store [Payment].History by
	// the same comparison with what Journal stored last. If it fails, the other call has the payment, and what this one
	// returned does not count. Package payments does all this.
	Journal func(context.Context, History) error
	// BeforeSigning sees the booked payout, and may refuse it: if it returns an error, Pay does not sign, and fails
	// with *[PaymentDeclined]. Pay calls it before Journal, and again for each fresh price.
	//
	// The context of BeforeSigning and Journal ends 20 seconds before the approval does, which leaves time to confirm.
	// If the service offers an approval that is over by this machine's clock, the clock may be wrong: they then have 20
	// seconds.
	BeforeSigning func(context.Context, *Payout) error
}

// EscrowTerms is what you say about an escrow, or about an action of an escrow, besides its own terms. See [PayTerms]
// for the fields of the same names.
type EscrowTerms struct {
	History History
	Journal func(context.Context, History) error
	// BeforeSigning sees the created escrow, or the escrow's ID and the prepared Action, and may refuse it.
	BeforeSigning func(context.Context, *Escrow) error
}

// History is what your program stores of a key between calls. It is plain JSON. A flow gives it to Journal before each
// signature, and returns it when the call ends.
type History struct {
	// FirstUsed is when the key was first used, by this machine's clock. The service remembers a key for 7 days. If the
	// key is older than that less one hour, and an earlier call may have paid, the error is *[KeyTooOld].
	FirstUsed time.Time `json:"firstUsed,omitzero"`
	// PayoutID is the payout that was booked with the key. Pay signs for no other one: if the service has forgotten the
	// key and books another payout, Pay reads this one, and returns it if it is paid or has ended.
	PayoutID PayoutID `json:"payoutId,omitzero"`
	// EscrowID is the escrow that was created with the key, or that an action is of.
	EscrowID EscrowID `json:"escrowId,omitzero"`
	// Quote is the first price that was signed. Without a bound on what arrives, no later price may be worse.
	Quote *Quote `json:"quote,omitzero"`
	// Unpaid says that no call with the key has paid or can still pay. It counts only with Journal. In the History that
	// Journal gets, Unpaid is always false, because what is signed may pay.
	Unpaid bool `json:"unpaid,omitzero"`
}

// id returns the id of the payout or escrow, or "".
func (h History) id() string { return string(h.PayoutID) + string(h.EscrowID) }

// check refuses what cannot be a history. The time does not count if nothing was paid with the key.
func (h History) check(c *transport.Check, unpaid bool) {
	c.Segment("History.PayoutID", string(h.PayoutID))
	c.Segment("History.EscrowID", string(h.EscrowID))
	if !unpaid && h.FirstUsed.After(time.Now().Add(keyMargin)) {
		c.Refuse("History.FirstUsed", "out_of_range", "must not be in the future")
	}
}

// isOf refuses a history of something else.
func (h History) isOf(c *transport.Check, payout PayoutID, escrow EscrowID) {
	if h.PayoutID != "" && h.PayoutID != payout {
		c.Refuse("History.PayoutID", "unexpected", "is the history of a payout: pass that of this key")
	}
	if h.EscrowID != "" && h.EscrowID != escrow {
		c.Refuse("History.EscrowID", "unexpected", "is the history of another escrow: pass that of this key")
	}
}

// Payment is what [Payouts.Pay] returns, whether it pays or not. Store its History.
type Payment struct {
	// State is the state of the payment over all its calls. Empty reads as in doubt.
	State moneymovement.PaymentState
	// Unpaid is true if it is proven that no call with the key has paid or can still pay. Calls that other processes
	// make at the same time do not count: see [PayTerms].Journal.
	Unpaid bool
	// Payout is the payout as last read. It is never nil if the state is paid. It can have only its ID, or not even
	// that if the service says that the payment is paid and does not name the payout. Call Pay again later to get it.
	Payout *Payout
	// Refusal is the error of this call alone, by its own type. It is nil if this call paid or may have paid.
	Refusal error
	// RetryAt is the earliest time at which it is worth calling again. It is zero if no time is known.
	RetryAt time.Time
	// History is what to store for the key.
	History History
}

// EscrowResult is what [Escrows.Open] and [Escrows.Act] return. See [Payment] for the fields of the same names.
type EscrowResult struct {
	State  moneymovement.PaymentState
	Unpaid bool
	// Escrow is the escrow as last read. It is never nil if the state is paid. It can have the status from before an
	// action, because the service reads the chain later.
	Escrow  *Escrow
	Refusal error
	RetryAt time.Time
	History History
}

// payment returns the result of a payout.
func (r *result) payment() (Payment, error) {
	p := Payment{State: r.state, Unpaid: r.history.Unpaid, Refusal: r.refusal, RetryAt: r.retryAt(), History: r.history}
	switch {
	case r.offer != nil && r.offer.payout != nil:
		p.Payout = r.offer.payout
	case r.offer != nil:
		p.Payout = &Payout{ID: PayoutID(r.offer.id)}
	case r.history.PayoutID != "":
		p.Payout = &Payout{ID: r.history.PayoutID}
	}
	return p, r.err
}

// escrow returns the result of an escrow or of an action.
func (r *result) escrow() (EscrowResult, error) {
	d := EscrowResult{State: r.state, Unpaid: r.history.Unpaid, Refusal: r.refusal, RetryAt: r.retryAt(),
		History: r.history}
	switch {
	case r.offer != nil && r.offer.escrow != nil:
		d.Escrow = r.offer.escrow
	case r.offer != nil:
		d.Escrow = &Escrow{ID: EscrowID(r.offer.id)}
	case r.history.EscrowID != "":
		d.Escrow = &Escrow{ID: r.history.EscrowID}
	}
	return d, r.err
}

// The service remembers an explicit key for 7 days. The margin covers the time of the call and clocks that differ.
const (
	keyLifetime = 7 * 24 * time.Hour
	keyMargin   = time.Hour
)

// requiredKey returns the check of the key of a payment.
func requiredKey(op *transport.Operation, key string) func(*transport.Check) {
	return func(c *transport.Check) { c.RequiredKey(op, key) }
}

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
	// Payout is the booked payout, nil for an escrow. This call did not confirm it.
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

// stateShown returns the state of a payout or an escrow that a response holds. It is empty for anything else, and while
// the money has not left: that a payout waits for its approval does not prove that it will not be paid.
func stateShown(value any) moneymovement.PaymentState {
	switch value := value.(type) {
	case *Payout:
		switch {
		case value.Status == PayoutStatusCompleted:
			return moneymovement.PaymentCompleted
		case value.funded():
			return moneymovement.PaymentPaid
		case value.Status.Final():
			return moneymovement.PaymentEnded
		}
	case *Escrow:
		switch {
		case value.Status.approved():
			return moneymovement.PaymentPaid
		case value.Status.Final():
			return moneymovement.PaymentEnded
		}
	}
	return ""
}
