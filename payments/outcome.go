package payments

import (
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
	"github.com/moneymovement/moneymovement-go/signing"
)

// What a call or a read means for a payment. Money decides first: an error never makes a payment unpaid that may be
// paid.

// resultOf returns the result of a flow of dapi: its state, and what it says about the money.
func resultOf(state moneymovement.PaymentState, unpaid bool, refusal, err error, retryAt time.Time) callResult {
	result := callResult{state: state, mayHaveLeft: !unpaid, retryAt: retryAt}
	switch state {
	case moneymovement.PaymentPaid:
		return result
	case moneymovement.PaymentNotPaid, moneymovement.PaymentNeedsDecision:
		result.applyRefusal(refusal)
	case moneymovement.PaymentEnded:
		result.state = moneymovement.PaymentCameBack
		if unpaid {
			result.state = moneymovement.PaymentRefused
		}
	default:
		result.state = moneymovement.PaymentInDoubt
		refusal = err
	}
	result.reason = reasonOf(refusal)
	return result
}

// withPayout adds what the payout says.
func (result callResult) withPayout(payout *dapi.Payout) callResult {
	if payout == nil {
		return result
	}
	result.payoutID, result.transactionHash = payout.ID, payout.TransactionHash
	switch {
	case result.state == moneymovement.PaymentPaid && payout.Status == dapi.PayoutStatusCompleted:
		result.state = moneymovement.PaymentCompleted
	case payout.Status == dapi.PayoutStatusExpired &&
		(result.state == moneymovement.PaymentCameBack || result.state == moneymovement.PaymentRefused):
		result.state, result.mayHaveLeft = moneymovement.PaymentRefused, false
		result.reason = &Reason{Code: ReasonEnded, Message: "the payout expired, and its money never left"}
	case result.state == moneymovement.PaymentCameBack:
		result.reason = &Reason{Code: ReasonReturned,
			Message: "the payout is " + string(payout.Status) + ": its money came back"}
	}
	return result
}

// withEscrow adds what an escrow says. An escrow whose money is held is completed, and so is an action that was taken.
func (result callResult) withEscrow(escrow *dapi.Escrow) callResult {
	if result.state == moneymovement.PaymentPaid {
		result.state = moneymovement.PaymentCompleted
	}
	if escrow != nil {
		result.escrowID, result.transactionHash = escrow.ID, escrow.TransactionHash
	}
	return result
}

// payoutResult is the result that the status of a payout says. After an unknown status, the payment is in doubt.
func payoutResult(payout *dapi.Payout) callResult {
	state, unpaid := moneymovement.PaymentInDoubt, false
	switch status := payout.Status; {
	case status == dapi.PayoutStatusCompleted, status == dapi.PayoutStatusProcessing,
		status == dapi.PayoutStatusFunding, !status.Final() && strings.Trim(payout.TransactionHash, "0x") != "":
		state = moneymovement.PaymentPaid
	case status.Final():
		state, unpaid = moneymovement.PaymentEnded, status == dapi.PayoutStatusExpired
	}
	return resultOf(state, unpaid, nil, nil, time.Time{}).withPayout(payout)
}

// applyRefusal sets what to do after a refusal. state is what is known without it.
func (result *callResult) applyRefusal(err error) {
	_, old := errors.AsType[*dapi.KeyTooOld](err)
	switch result.next = outcome.After(err); {
	case old:
		result.state = moneymovement.PaymentInDoubt
	case result.next == outcome.Change && !result.mayHaveLeft:
		result.state = moneymovement.PaymentRefused
	case result.next == outcome.Decide, result.next == outcome.Change, result.next == outcome.NewKey:
		result.state = moneymovement.PaymentNeedsDecision
	}
}

// retryAt returns when the service asks to come back.
func retryAt(err error) time.Time {
	call, _ := errors.CallInfoOf(err)
	return call.RetryAt
}

// reasonOf returns what an error says, for a person. Nil for nil.
func reasonOf(err error) *Reason {
	if err == nil {
		return nil
	}
	r := &Reason{Code: ReasonNotSent, Message: messageOf(err)}
	if call, ok := errors.CallInfoOf(err); ok {
		r.RequestID = call.RequestID
	}
	if refusal, ok := errors.AsType[*errors.Refusal](causeOf(err)); ok {
		r.Slug, r.Code = refusal.Code, ReasonRefusal
		switch {
		case outcome.OfCredential(refusal.Code):
			r.Code = ReasonCredential
		case refusal.Remedy() == errors.RemedyWait:
			r.Code = ReasonUnavailable
		}
	}
	r.addDetail(causeOf(err))
	failure, typed := errors.AsType[errors.Failure](err)
	if _, inDoubt := errors.AsType[*errors.InDoubt](err); inDoubt || !typed ||
		r.Code == ReasonNotSent && failure.MovedByCall() != errors.NotMoved {
		r.Code = ReasonInDoubt
	}
	return r
}

// messageOf returns an error's text. An error in doubt advises to call again. The processor does that, so the message
// says so.
func messageOf(err error) string {
	inDoubt, ok := errors.AsType[*errors.InDoubt](err)
	if !ok {
		return err.Error()
	}
	shortened := *inDoubt
	shortened.Resolve = "the processor goes on by itself"
	return shortened.Error()
}

// causeOf returns the last refusal of a payment in doubt. Its error does not unwrap to that.
func causeOf(err error) error {
	if inDoubt, ok := errors.AsType[*errors.InDoubt](err); ok && inDoubt.Cause != nil {
		return inDoubt.Cause
	}
	return err
}

// addDetail adds what the types of the errors carry.
func (r *Reason) addDetail(err error) {
	var (
		price   *dapi.PriceRefused
		blocked *errors.ContactNotPayable
		low     *errors.PayoutNotFundable
		reused  *errors.IdempotencyKeyReused
		terms   *dapi.TermsDiffer
		old     *dapi.KeyTooOld
		input   *errors.InvalidInput
		page    *errors.UnexpectedResponse
		closed  *dapi.EscrowNotOpened
	)
	switch {
	case errors.As(err, &price):
		r.Code, r.Bound, r.Quote, r.Reference = ReasonPrice, price.Bound, price.Quote, price.Reference
	case errors.As(err, &blocked):
		r.Code, r.Blockers = ReasonBlocked, blocked.Blockers
	case errors.As(err, &low) && low.LowBalance():
		r.Code, r.Available, r.Currency = ReasonBalance, &low.Available, low.Currency
	case errors.As(err, &reused):
		r.Code, r.Owner = ReasonKeyReused, reused.PayoutID+reused.EscrowID
	case errors.As(err, &terms):
		r.Code = ReasonTerms
	case errors.As(err, &old):
		r.Code = ReasonKeyTooOld
	case errors.As(err, &input):
		r.Code = ReasonInput
	case errors.As(err, &page):
		r.Code = ReasonUnexpected
	case errors.As(err, &closed):
		r.Code = ReasonEnded
	case isNotSigned(err):
		r.Code = ReasonNotSigned
	}
}

// isNotSigned reports that an approval was not signed: by the signer, or because it was not what was asked for.
func isNotSigned(err error) bool {
	var (
		declined  *dapi.PaymentDeclined
		approval  *signing.ApprovalRefused
		challenge *signing.ChallengeRefused
		failed    *signing.NotSigned
		remote    *signing.RemoteSignatureRefused
	)
	return errors.As(err, &declined) || errors.As(err, &approval) || errors.As(err, &challenge) ||
		errors.As(err, &failed) || errors.As(err, &remote)
}

// escrowResult is what the status of an escrow says about its opening or about an action.
func escrowResult(r *Record, escrow *dapi.Escrow) callResult {
	result := callResult{state: moneymovement.PaymentInDoubt, mayHaveLeft: true}
	funded := escrow.Status == dapi.EscrowStatusActive
	switch {
	case r.Kind == KindEscrow || r.Action == dapi.EscrowActionTypeApprove:
		switch {
		case funded || escrow.Status == dapi.EscrowStatusReleased || escrow.Status == dapi.EscrowStatusRefunded:
			result.state = moneymovement.PaymentCompleted
		case escrow.Status == dapi.EscrowStatusExpired:
			result.state, result.mayHaveLeft = moneymovement.PaymentRefused, false
			result.reason = &Reason{Code: ReasonEnded, Message: "the escrow expired before its money was held"}
		}
	case r.Action == dapi.EscrowActionTypeRelease && escrow.Status == dapi.EscrowStatusReleased,
		r.Action == dapi.EscrowActionTypeRefund && escrow.Status == dapi.EscrowStatusRefunded:
		result.state = moneymovement.PaymentCompleted
	case escrow.Status.Final() &&
		(r.Action == dapi.EscrowActionTypeRelease || r.Action == dapi.EscrowActionTypeRefund):
		result.state, result.mayHaveLeft = moneymovement.PaymentRefused, false
		result.reason = &Reason{Code: ReasonEnded,
			Message: "the escrow is " + string(escrow.Status) + ", so this action was not taken"}
	}
	return result
}

// transferResult is the result of a call that pays at once. inDoubt says that an earlier call may have paid. A refusal
// does not change that.
func transferResult(err error, inDoubt bool) callResult {
	result := callResult{state: moneymovement.PaymentInDoubt, mayHaveLeft: true, reason: reasonOf(err),
		retryAt: retryAt(err)}
	failure, typed := errors.AsType[errors.Failure](err)
	_, unanswered := errors.AsType[*errors.InDoubt](err)
	switch {
	case err == nil:
		result.state = moneymovement.PaymentCompleted
	case typed && failure.MovedByCall() == errors.Moved:
		result.state, result.reason = moneymovement.PaymentCompleted, nil
	case unanswered, !typed, failure.MovedByCall() != errors.NotMoved, inDoubt:
	default:
		result.state, result.mayHaveLeft = moneymovement.PaymentNotPaid, outcome.After(err) == outcome.NewKey
		result.applyRefusal(err)
	}
	return result
}
