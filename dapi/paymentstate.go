package dapi

import (
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
)

// PaymentState is the state of a payment, over all calls that were made for it.
type PaymentState string

// The states of a payment.
const (
	// PaymentPaid means that the money has left or is leaving, once. [Payouts.Wait] waits until it arrives. The payout
	// that Pay returned has at least its ID. In one case it is nil: the service reports already_funded and does not
	// name the payout. Call Pay again later, with the same key, to get it.
	PaymentPaid PaymentState = "paid"
	// PaymentNotPaid means that nothing was paid, neither by this call nor by an earlier one. The error says why. The
	// next call may pass [FirstUse].
	PaymentNotPaid PaymentState = "not_paid"
	// PaymentEnded means that the payout ended and the money did not arrive: the payout failed, was refunded or
	// expired. Its key cannot pay any more. To pay, use a new key.
	PaymentEnded PaymentState = "ended"
	// PaymentUnknown means that the payment may have been made. Call [Payouts.Pay] again with the same key and the same
	// terms, and do not pay in another way. If the service said when to call again, errors.CallInfoOf(err) has the time
	// in RetryAt.
	//
	// Store this state before you call Pay. It is the state of the payment if your process ends during the call.
	PaymentUnknown PaymentState = "unknown"
	// PaymentNeedsDecision means that this call paid nothing, and that the same call cannot pay: the input is wrong
	// (*errors.InvalidInput, *errors.ValidationFailed, *errors.InvalidRequest or *errors.InvalidID), the price is out
	// of bounds (*[PriceRefused]), the service booked something else (*[TermsDiffer]), the key is too old
	// (*[KeyTooOld]), or the key belongs to a payment with other terms (*errors.IdempotencyKeyReused). A person must
	// look at the error and decide. An earlier call may have paid: [MayHavePaid] says whether.
	PaymentNeedsDecision PaymentState = "needs_decision"
)

// PaymentStateOf returns the state of a payment, from what [Payouts.Pay] returned. Decide by its result alone:
//
//	payout, err := acme.Payouts.Pay(ctx, asked, key, dapi.MaxFee(fee))
//	switch dapi.PaymentStateOf(payout, err) {
//	case dapi.PaymentPaid:          // store payout.ID, if payout is not nil
//	case dapi.PaymentUnknown:       // later, call Pay again with the same key and terms
//	case dapi.PaymentNotPaid:       // err says why
//	case dapi.PaymentEnded:         // to pay, use a new key
//	case dapi.PaymentNeedsDecision: // a person looks at err
//	}
//
// A refusal is about one call. Only a success, the slug already_funded, or the final status of the payout settles a
// payment that was in doubt. The errors of Pay respect this, so PaymentStateOf does not need to know the earlier calls.
//
// It also accepts what [Payouts.Wait] returned if the error is nil or *[PayoutNotCompleted]. Another error of Wait only
// says that the wait ended, and a payment that was paid stays paid.
//
// For any other payout and error, it returns PaymentUnknown if it cannot know the state. A payout
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
		// a read that is refused says nothing about the payment; it comes from Wait
		if call, _ := errors.CallInfoOf(err); call.Operation != opGetPayout.ID {
			return PaymentNotPaid
		}
	}
	return PaymentUnknown
}

// MayHavePaid reports whether a call with this key has paid or can still pay, from what [Payouts.Pay] returned. It
// returns false only if that is impossible. Store the result with the payment: if it is false, the next call with the
// key may pass [FirstUse]. Before a call, store true.
//
//	payout, err := acme.Payouts.Pay(ctx, asked, key, options...)
//	row.State, row.MayHavePaid = dapi.PaymentStateOf(payout, err), dapi.MayHavePaid(payout, err)
//
// It returns false for [PaymentNotPaid] and, of the errors of [PaymentNeedsDecision], for:
//
//   - *[PriceRefused] and *[TermsDiffer]: Pay returns them only if no earlier call can have paid;
//   - an error about the input, such as *errors.InvalidInput or *errors.ValidationFailed, if the call passed FirstUse.
//     Otherwise it returns true, because such an error is the same whatever earlier calls did.
//
// It returns true for everything else: for the other states, for *[KeyTooOld] and for *errors.IdempotencyKeyReused,
// whose key belongs to a payment with other terms.
//
// Like every result of Pay, it does not know a call that another process makes with the key at the same time.
func MayHavePaid(payout *Payout, err error) bool {
	switch PaymentStateOf(payout, err) {
	case PaymentNotPaid:
		return false
	case PaymentNeedsDecision:
		return !showsUnpaid(err)
	}
	return true
}

// showsUnpaid reports an error that needs a decision, and that Pay returns only for a payment that is not paid.
func showsUnpaid(err error) bool {
	_, reused := errors.AsType[*errors.IdempotencyKeyReused](err)
	_, old := errors.AsType[*KeyTooOld](err)
	switch {
	case reused, old:
		return false
	case ofInput(err):
		return callfacts.EarlierOf(err) == callfacts.NonePaid
	}
	return true
}

// ofInput reports an error about the input of a payment, which the same call meets again. The input of a login or of a
// confirm is not that of the payment.
func ofInput(err error) bool {
	if _, input := errors.AsType[*errors.InvalidInput](err); input {
		return true
	}
	_, notSent := errors.AsType[*errors.NotDelivered](err)
	refusal, ok := errors.AsType[*errors.Refusal](err)
	if !ok || notSent || refusal.Operation == opConfirmPayout.ID || refusal.Operation == opConfirmEscrowAction.ID {
		return false
	}
	switch refusal.Code {
	case errors.CodeValidationFailed, errors.CodeInvalidRequest, errors.CodeInvalidID:
		return true
	}
	return false
}

// saysOfEarlier adds to an error what is known of earlier calls of its payment, if it is about input or in doubt. Other
// errors say it by their type.
func saysOfEarlier(err error, earlier callfacts.Earlier) {
	_, unknown := err.(*errors.OutcomeUnknown) //nolint:errorlint // a wrapped one is about something else
	if unknown || ofInput(err) {
		callfacts.SetEarlier(err, earlier)
	}
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
	)
	return ofInput(err) || errors.As(err, &price) || errors.As(err, &terms) || errors.As(err, &reused) ||
		errors.As(err, &old)
}
