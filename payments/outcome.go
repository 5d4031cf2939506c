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

// What a call or a look means for a payment. Money decides first: an error never makes a payment unpaid that may be
// paid.

// shows returns what a call of a flow of dapi shows: its state, and what it says about the money.
func shows(state moneymovement.PaymentState, unpaid bool, refusal, err error, retryAt time.Time) found {
	f := found{state: state, mayHaveLeft: !unpaid, retryAt: retryAt}
	switch state {
	case moneymovement.PaymentPaid:
		return f
	case moneymovement.PaymentNotPaid, moneymovement.PaymentNeedsDecision:
		f.refuse(refusal)
	case moneymovement.PaymentEnded:
		f.state = moneymovement.PaymentCameBack
		if unpaid {
			f.state = moneymovement.PaymentRefused
		}
	default:
		f.state = moneymovement.PaymentInDoubt
		refusal = err
	}
	f.reason = reasonOf(refusal)
	return f
}

// ofPayout adds what the payout shows.
func (f found) ofPayout(payout *dapi.Payout) found {
	if payout == nil {
		return f
	}
	f.payoutID, f.hash = payout.ID, payout.TransactionHash
	switch {
	case f.state == moneymovement.PaymentPaid && payout.Status == dapi.PayoutStatusCompleted:
		f.state = moneymovement.PaymentCompleted
	case payout.Status == dapi.PayoutStatusExpired &&
		(f.state == moneymovement.PaymentCameBack || f.state == moneymovement.PaymentRefused):
		f.state, f.mayHaveLeft = moneymovement.PaymentRefused, false
		f.reason = &Reason{Code: ReasonEnded, Message: "the payout expired, and its money never left"}
	case f.state == moneymovement.PaymentCameBack:
		f.reason = &Reason{Code: ReasonReturned,
			Message: "the payout is " + string(payout.Status) + ": its money came back"}
	}
	return f
}

// ofDeal adds what a deal shows. A deal that is held and an action that was taken are completed.
func (f found) ofDeal(deal *dapi.Escrow) found {
	if f.state == moneymovement.PaymentPaid {
		f.state = moneymovement.PaymentCompleted
	}
	if deal != nil {
		f.escrowID, f.hash = deal.ID, deal.TransactionHash
	}
	return f
}

// payoutShows returns what the status of a payout says. An unknown status says nothing.
func payoutShows(payout *dapi.Payout) found {
	state, unpaid := moneymovement.PaymentInDoubt, false
	switch status := payout.Status; {
	case status == dapi.PayoutStatusCompleted, status == dapi.PayoutStatusProcessing,
		status == dapi.PayoutStatusFunding, !status.Final() && strings.Trim(payout.TransactionHash, "0x") != "":
		state = moneymovement.PaymentPaid
	case status.Final():
		state, unpaid = moneymovement.PaymentEnded, status == dapi.PayoutStatusExpired
	}
	return shows(state, unpaid, nil, nil, time.Time{}).ofPayout(payout)
}

// refuse sets what to do after a refusal. state is what is known without it.
func (f *found) refuse(err error) {
	_, old := errors.AsType[*dapi.KeyTooOld](err)
	switch f.next = outcome.After(err); {
	case old:
		f.state = moneymovement.PaymentInDoubt
	case f.next == outcome.Change && !f.mayHaveLeft:
		f.state = moneymovement.PaymentRefused
	case f.next == outcome.Decide, f.next == outcome.Change, f.next == outcome.NewKey:
		f.state = moneymovement.PaymentNeedsDecision
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
	r.detail(causeOf(err))
	failure, typed := errors.AsType[errors.Failure](err)
	if _, unknown := errors.AsType[*errors.InDoubt](err); unknown || !typed ||
		r.Code == ReasonNotSent && failure.MovedByCall() != errors.NotMoved {
		r.Code = ReasonInDoubt
	}
	return r
}

// messageOf returns an error's text. The advice in the text of a doubt is to call again, which the processor does.
func messageOf(err error) string {
	unknown, ok := errors.AsType[*errors.InDoubt](err)
	if !ok {
		return err.Error()
	}
	doubt := *unknown
	doubt.Resolve = "the processor goes on by itself"
	return doubt.Error()
}

// causeOf returns the last refusal of a payment in doubt, which the error of the doubt does not unwrap to.
func causeOf(err error) error {
	if unknown, ok := errors.AsType[*errors.InDoubt](err); ok && unknown.Cause != nil {
		return unknown.Cause
	}
	return err
}

// detail adds what the types of the errors carry.
func (r *Reason) detail(err error) {
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

// dealShows returns what the status of a deal says about its opening or about an action.
func dealShows(r *Record, deal *dapi.Escrow) found {
	f := found{state: moneymovement.PaymentInDoubt, mayHaveLeft: true}
	held := deal.Status == dapi.EscrowStatusActive
	switch {
	case r.Kind == KindEscrow || r.Action == dapi.EscrowActionTypeApprove:
		switch {
		case held || deal.Status == dapi.EscrowStatusReleased || deal.Status == dapi.EscrowStatusRefunded:
			f.state = moneymovement.PaymentCompleted
		case deal.Status == dapi.EscrowStatusExpired:
			f.state, f.mayHaveLeft = moneymovement.PaymentRefused, false
			f.reason = &Reason{Code: ReasonEnded, Message: "the deal expired before its money was held"}
		}
	case r.Action == dapi.EscrowActionTypeRelease && deal.Status == dapi.EscrowStatusReleased,
		r.Action == dapi.EscrowActionTypeRefund && deal.Status == dapi.EscrowStatusRefunded:
		f.state = moneymovement.PaymentCompleted
	case deal.Status.Final() &&
		(r.Action == dapi.EscrowActionTypeRelease || r.Action == dapi.EscrowActionTypeRefund):
		f.state, f.mayHaveLeft = moneymovement.PaymentRefused, false
		f.reason = &Reason{Code: ReasonEnded,
			Message: "the deal is " + string(deal.Status) + ", so this action was not taken"}
	}
	return f
}

// transferShows returns what a call shows that pays at once. before reports that an earlier call may have paid, which a
// refusal does not change.
func transferShows(err error, before bool) found {
	f := found{state: moneymovement.PaymentInDoubt, mayHaveLeft: true, reason: reasonOf(err), retryAt: retryAt(err)}
	failure, typed := errors.AsType[errors.Failure](err)
	_, unknown := errors.AsType[*errors.InDoubt](err)
	switch {
	case err == nil:
		f.state = moneymovement.PaymentCompleted
	case typed && failure.MovedByCall() == errors.Moved:
		f.state, f.reason = moneymovement.PaymentCompleted, nil
	case unknown, !typed, failure.MovedByCall() != errors.NotMoved, before:
	default:
		f.state, f.mayHaveLeft = moneymovement.PaymentNotPaid, outcome.After(err) == outcome.NewKey
		f.refuse(err)
	}
	return f
}
