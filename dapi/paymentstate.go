package dapi

import (
	"github.com/moneymovement/moneymovement-go/errors"
)

// PaymentState says where a payment stands, over all calls that were made for it.
type PaymentState string

// Where a payment can stand.
const (
	// PaymentPaid: the money has left or is leaving, once. [Payouts.Wait] tells when it arrives.
	PaymentPaid PaymentState = "paid"
	// PaymentNotPaid: nothing was paid, neither by this call nor by one before it. The error says why.
	PaymentNotPaid PaymentState = "not_paid"
	// PaymentEnded: the payout came to its own end without arriving: it failed, was refunded or expired. Its key pays
	// nothing any more.
	PaymentEnded PaymentState = "ended"
	// PaymentUnknown: it may be paid. Call [Payouts.Pay] again with the same key and terms, and do not pay in another
	// way.
	PaymentUnknown PaymentState = "unknown"
	// PaymentNeedsDecision: this call paid nothing, and the same call will not pay: its input is wrong
	// (*errors.InvalidInput), the price is out of bounds, the service booked something else, the key is too old, or it
	// belongs to a payment of other terms, which may be paid. Somebody has to look at the error and decide.
	PaymentNeedsDecision PaymentState = "needs_decision"
)

// PaymentStateOf says where a payment stands, from what [Payouts.Pay] returned. It is the one thing to branch on:
//
//	payout, err := acme.Payouts.Pay(ctx, asked, key, dapi.MaxFee(fee))
//	switch dapi.PaymentStateOf(payout, err) {
//	case dapi.PaymentPaid:          // store payout.ID
//	case dapi.PaymentUnknown:       // later, call Pay again with the same key and terms
//	case dapi.PaymentNotPaid:       // err says why
//	case dapi.PaymentEnded:         // paying anew takes a new key
//	case dapi.PaymentNeedsDecision: // a person looks at err
//	}
//
// A refusal speaks for its call; only success, already funded, or the payout's own end settles a payment that was in
// doubt. Pay keeps to that in the errors that it returns, so that this function needs no memory of the calls before.
//
// It reads what [Payouts.Wait] returned as well, but for *[StillPending]: that says that the wait is over, and a
// payment that was paid stays paid. Of any other payout and error it believes as little as it can: what it does not
// know is PaymentUnknown. A payout of a status that this version does not know is paid if Pay returned it without an
// error and nothing of it waits for an approval.
func PaymentStateOf(payout *Payout, err error) PaymentState {
	if err == nil {
		return stateOf(payout)
	}
	// whatever the caller's hook met: it says nothing about this payment
	if _, declined := errors.AsType[*PaymentDeclined](err); declined {
		return PaymentNotPaid
	}
	failure, typed := errors.AsType[errors.Failure](err)
	if _, unknown := errors.AsType[*errors.OutcomeUnknown](err); unknown || !typed {
		return PaymentUnknown
	}
	if _, ended := errors.AsType[*PayoutNotCompleted](err); ended {
		return PaymentEnded
	}
	switch failure.MovedByCall() {
	case errors.Moved:
		return PaymentPaid
	case errors.NotMoved:
		if needsDecision(err) {
			return PaymentNeedsDecision
		}
		return PaymentNotPaid
	}
	return PaymentUnknown
}

// stateOf is the state of a payment whose call succeeded.
func stateOf(payout *Payout) PaymentState {
	switch {
	case payout == nil:
		return PaymentUnknown
	case payout.notCompleted() != nil:
		return PaymentEnded
	case payout.funded():
		return PaymentPaid
	case payout.Approval != nil, payout.Status == PayoutStatusAwaitingApproval, payout.Status == "":
		return PaymentUnknown // as Book returns it
	}
	return PaymentPaid // by Pay, in words of a status that this version does not know
}

// needsDecision reports errors after which the same call, made again, ends in the same way until somebody decides.
func needsDecision(err error) bool {
	var (
		price  *PriceRefused
		terms  *TermsDiffer
		reused *errors.IdempotencyKeyReused
		old    *KeyTooOld
		input  *errors.InvalidInput
	)
	return errors.As(err, &input) || errors.As(err, &price) || errors.As(err, &terms) || errors.As(err, &reused) ||
		errors.As(err, &old)
}
