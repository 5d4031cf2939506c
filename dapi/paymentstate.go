package dapi

import (
	"github.com/moneymovement/moneymovement-go/errors"
)

// PaymentState is where a payment stands, over all calls that were made for it.
type PaymentState string

// The states of a payment.
const (
	// PaymentPaid means that the money has left or is leaving, once. [Payouts.Wait] waits until it arrives.
	PaymentPaid PaymentState = "paid"
	// PaymentNotPaid means that nothing was paid, neither by this call nor by an earlier one. The error says why.
	PaymentNotPaid PaymentState = "not_paid"
	// PaymentEnded means that the payout ended and the money did not arrive: the payout failed, was refunded or
	// expired. Its key cannot pay any more. To pay, use a new key.
	PaymentEnded PaymentState = "ended"
	// PaymentUnknown means that the payment may have been made. Call [Payouts.Pay] again with the same key and the same
	// terms, and do not pay in another way.
	PaymentUnknown PaymentState = "unknown"
	// PaymentNeedsDecision means that this call paid nothing, and that the same call cannot pay: the input is wrong
	// (*errors.InvalidInput), the price is out of bounds, the service booked something else, the key is too old, or the
	// key belongs to a payment with other terms, which may have been paid. A person must look at the error and decide.
	PaymentNeedsDecision PaymentState = "needs_decision"
)

// PaymentStateOf reports where a payment stands, from what [Payouts.Pay] returned. Decide by its result alone:
//
//	payout, err := acme.Payouts.Pay(ctx, asked, key, dapi.MaxFee(fee))
//	switch dapi.PaymentStateOf(payout, err) {
//	case dapi.PaymentPaid:          // store payout.ID
//	case dapi.PaymentUnknown:       // later, call Pay again with the same key and terms
//	case dapi.PaymentNotPaid:       // err says why
//	case dapi.PaymentEnded:         // to pay, use a new key
//	case dapi.PaymentNeedsDecision: // a person looks at err
//	}
//
// A refusal is about one call. Only a success, the slug already_funded, or the final status of the payout settles a
// payment that was in doubt. The errors of Pay respect this, so PaymentStateOf does not need to know the earlier calls.
//
// It also accepts what [Payouts.Wait] returned, except *[StillPending]: this error only says that the wait ended, and a
// payment that was paid stays paid.
//
// For any other payout and error, it assumes as little as it can: what it does not know is PaymentUnknown. A payout
// with a status that this version does not know is paid if Pay returned it without an error and it has no open
// approval.
func PaymentStateOf(payout *Payout, err error) PaymentState {
	if err == nil {
		return stateOf(payout)
	}
	// Err of the hook says nothing about this payment
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

// stateOf returns the state of a payment whose call succeeded.
func stateOf(payout *Payout) PaymentState {
	switch {
	case payout == nil:
		return PaymentUnknown
	case payout.notCompleted() != nil:
		return PaymentEnded
	case payout.funded():
		return PaymentPaid
	case payout.Approval != nil, payout.Status == PayoutStatusAwaitingApproval, payout.Status == "":
		return PaymentUnknown // a payout as Book returns it
	}
	return PaymentPaid // from Pay, with a status that this version does not know
}

// needsDecision reports an error that the same call meets again, until somebody decides.
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
