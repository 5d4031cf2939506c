package payments

import (
	"net/http"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// What a call or a look means for a payment. Money decides first: an error never makes a payment unpaid that may be
// paid.

// shows returns what a call of a flow of dapi shows: its state, and what it says about the money.
func shows(state moneymovement.PaymentState, unpaid bool, refusal, err error, retryAt time.Time) found {
	f := found{state: state, mayHaveLeft: !unpaid, retryAt: retryAt}
	switch state {
	case moneymovement.PaymentPaid:
		f.mayHaveLeft = true
		return f
	case moneymovement.PaymentNotPaid:
		f.refuse(refusal)
	case moneymovement.PaymentNeedsDecision:
		f.decide(refusal)
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

// payoutShows returns what the status of a payout says. A status of tomorrow says nothing.
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

// refuse sets what to do after a refusal that shows that nothing was paid: try again, end, or let a person decide.
func (f *found) refuse(err error) {
	f.state = moneymovement.PaymentNotPaid
	if lacks, ok := errors.AsType[*errors.Forbidden](err); ok && lacks.RequiredScope != "" {
		return // other calls may be in the key's scopes
	}
	refusal, refused := errors.AsType[*errors.Refusal](err)
	page, html := errors.AsType[*errors.UnexpectedResponse](err) // from a proxy
	f.blocked = html && page.Status == http.StatusTooManyRequests || refused && (ofCredential(refusal.Code) ||
		refusal.Code == errors.CodeDatabaseUnavailable || refusal.Status == http.StatusTooManyRequests)
	advice, advises := errors.AsType[remedied](err)
	failure, typed := errors.AsType[errors.Failure](err)
	_, unsent := errors.AsType[*errors.NotDelivered](err)
	switch {
	case f.blocked:
	case typed && failure.MovedByCall() != errors.NotMoved: // only the flow knows that this call paid nothing
	case refused && ofDeployment(refusal.Code):
		f.state = moneymovement.PaymentNeedsDecision
	case unsent: // also if it says that a repetition does not help now, as after a login that cannot be read
	case advises && advice.Remedy() == errors.RemedyChangeRequest:
		f.state = moneymovement.PaymentRefused
	case advises && advice.Remedy() == errors.RemedyChangeAccount, !advises && typed && !failure.Retryable():
		f.state = moneymovement.PaymentNeedsDecision
	}
}

// remedied is an error that says what to do about it.
type remedied interface {
	error
	Remedy() errors.Remedy
}

// ofCredential reports a refusal that every call with the credential meets. A payment can do nothing about it.
func ofCredential(code errors.Code) bool {
	switch code {
	case errors.CodeUnauthenticated, errors.CodeTokenExpired, errors.CodeForbidden, errors.CodeInvalidCredentials,
		errors.CodeKeyNotRegistered, errors.CodeLoginUnavailable, errors.CodeLoginModeUnavailable,
		errors.CodeSignatureInvalid:
		return true
	}
	return false
}

// ofDeployment reports a refusal that can come from a wrong address or a newer service just as well as from wrong
// terms. It must not end each payment for good: a person looks, and then retries or cancels.
func ofDeployment(code errors.Code) bool {
	switch code {
	case errors.CodeNotFound, errors.CodeGone, errors.CodeMethodNotAllowed:
		return true
	}
	return !code.Known()
}

// decide sets what to do after an error that the same call meets again.
func (f *found) decide(err error) {
	if _, old := errors.AsType[*dapi.KeyTooOld](err); old {
		f.state, f.tooOld = moneymovement.PaymentInDoubt, true
		return
	}
	if !f.mayHaveLeft && isOfInput(err) {
		f.state = moneymovement.PaymentRefused
	}
}

// isOfInput reports an error about the input of a payment, which is refused before anything is signed.
func isOfInput(err error) bool {
	if _, wrong := errors.AsType[*errors.InvalidInput](err); wrong {
		return true
	}
	refusal, refused := errors.AsType[*errors.Refusal](err)
	return refused && (refusal.Code == errors.CodeValidationFailed || refusal.Code == errors.CodeInvalidRequest ||
		refusal.Code == errors.CodeInvalidID)
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
		case ofCredential(refusal.Code):
			r.Code = ReasonCredential
		case refusal.Remedy() == errors.RemedyWait:
			r.Code = ReasonUnavailable
		}
	}
	r.detail(causeOf(err))
	failure, typed := errors.AsType[errors.Failure](err)
	if _, unknown := errors.AsType[*errors.OutcomeUnknown](err); unknown || !typed ||
		r.Code == ReasonNotSent && failure.MovedByCall() != errors.NotMoved {
		r.Code = ReasonUnknown
	}
	return r
}

// messageOf returns an error's text. The advice in the text of a doubt is to call again, which the processor does.
func messageOf(err error) string {
	unknown, ok := errors.AsType[*errors.OutcomeUnknown](err)
	if !ok {
		return err.Error()
	}
	doubt := *unknown
	doubt.Resolve = "the processor goes on by itself"
	return doubt.Error()
}

// causeOf returns the last refusal of a payment in doubt, which the error of the doubt does not unwrap to.
func causeOf(err error) error {
	if unknown, ok := errors.AsType[*errors.OutcomeUnknown](err); ok && unknown.Cause != nil {
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
