package payments

import (
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
	"github.com/moneymovement/moneymovement-go/signing"
)

// What a call or a look means for a payment. Money decides first: an error never makes a payment unpaid that may be
// paid.

// paid returns what a call of dapi.Payouts.Pay shows.
func paid(payout *dapi.Payout, err error) found {
	f := found{mayHaveLeft: dapi.MayHavePaid(payout, err), reason: reasonOf(err), retryAt: retryAt(err)}
	if payout != nil {
		f.payoutID, f.hash = payout.ID, payout.TransactionHash
	}
	switch dapi.PaymentStateOf(payout, err) {
	case dapi.PaymentPaid:
		f.verdict, f.reason = verdictPaid, nil
		if payout != nil && payout.Status == dapi.PayoutStatusCompleted {
			f.verdict = verdictCompleted
		}
	case dapi.PaymentEnded:
		f.ended(payout, err)
	case dapi.PaymentNotPaid:
		f.verdict = unpaid(err)
	case dapi.PaymentNeedsDecision:
		f.verdict = decision(err, f.mayHaveLeft)
	default:
		f.verdict, f.mayHaveLeft = verdictUnknown, true
	}
	return f
}

// ended separates a payout whose money came back from one whose money never left.
func (f *found) ended(payout *dapi.Payout, err error) {
	if ended, ok := errors.AsType[*dapi.PayoutNotCompleted](err); ok && ended.Payout != nil {
		payout = ended.Payout
	}
	status := dapi.PayoutStatus("")
	if payout != nil {
		status, f.payoutID, f.hash = payout.Status, payout.ID, payout.TransactionHash
	}
	f.verdict, f.mayHaveLeft = verdictReturned, true
	f.reason = &Reason{Code: ReasonReturned, Message: "the payout is " + string(status) + ": its money came back"}
	if status == dapi.PayoutStatusExpired {
		f.verdict, f.mayHaveLeft = verdictEnded, false
		f.reason = &Reason{Code: ReasonEnded, Message: "the payout expired, and its money never left"}
	}
}

// unpaid returns what to do after a refusal that shows that nothing was paid.
func unpaid(err error) verdict {
	if lacks, ok := errors.AsType[*errors.Forbidden](err); ok && lacks.RequiredScope != "" {
		return verdictWait // other calls may be in the key's scopes
	}
	if refusal, ok := errors.AsType[*errors.Refusal](err); ok {
		switch {
		case ofCredential(refusal.Code), refusal.Code == errors.CodeDatabaseUnavailable,
			refusal.Status == http.StatusTooManyRequests:
			return verdictBlocked
		case ofDeployment(refusal.Code):
			return verdictDecide
		}
	}
	if page, ok := errors.AsType[*errors.UnexpectedResponse](err); ok && page.Status == http.StatusTooManyRequests {
		return verdictBlocked // from a proxy
	}
	refusal, ok := errors.AsType[remedied](err)
	failure, typed := errors.AsType[errors.Failure](err)
	_, unsent := errors.AsType[*errors.NotDelivered](err)
	switch {
	case unsent: // also if it says that a repetition does not help now, as after a login that cannot be read
		return verdictWait
	case ok:
		switch refusal.Remedy() {
		case errors.RemedyChangeRequest:
			return verdictRefused
		case errors.RemedyChangeAccount:
			return verdictDecide
		}
		return verdictWait
	case typed && !failure.Retryable():
		return verdictDecide
	}
	return verdictWait
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

// decision returns what to do after an error that the same call meets again.
func decision(err error, mayHaveLeft bool) verdict {
	if _, old := errors.AsType[*dapi.KeyTooOld](err); old {
		return verdictTooOld
	}
	if isOfInput(err) && !mayHaveLeft {
		return verdictRefused
	}
	return verdictDecide
}

// called returns what a call shows that pays at once: the opening of a deal, an action or a transfer. before reports
// that an earlier call may have paid. settles reports that the flow knows about earlier calls, and returns a plain
// refusal only if none of them has paid, as Escrows.Open does.
func called(err error, before, settles bool) found {
	f := found{verdict: verdictCompleted, mayHaveLeft: true, reason: reasonOf(err), retryAt: retryAt(err)}
	if err == nil {
		return f
	}
	failure, typed := errors.AsType[errors.Failure](err)
	_, unknown := errors.AsType[*errors.OutcomeUnknown](err)
	_, notOpened := errors.AsType[*dapi.EscrowNotOpened](err)
	switch {
	case unknown, !typed:
		f.verdict = verdictUnknown
	case notOpened:
		f.verdict, f.mayHaveLeft = verdictEnded, false
	case failure.MovedByCall() == errors.Moved:
		f.reason = nil
	case failure.MovedByCall() != errors.NotMoved:
		f.verdict = verdictUnknown
	case before && (!settles || isOfInput(err)): // a refusal is about its own call
		f.verdict = decision(err, true)
		if f.verdict == verdictDecide {
			f.verdict = verdictUnknown
		}
	default:
		f.mayHaveLeft = false
		f.verdict = unpaid(err)
		if isDecision(err) {
			f.verdict = decision(err, false)
		}
	}
	return f
}

// isOfInput reports an error that a flow returns whatever earlier calls did: the same call meets it again.
func isOfInput(err error) bool {
	_, old := errors.AsType[*dapi.KeyTooOld](err)
	_, wrong := errors.AsType[*errors.InvalidInput](err)
	refusal, refused := errors.AsType[*errors.Refusal](err)
	return isDecision(err) && (old || wrong || refused && refusal.Code != errors.CodeIdempotencyKeyReused)
}

// isDecision reports an error that dapi.PaymentStateOf takes for one that a person must look at.
func isDecision(err error) bool { return dapi.PaymentStateOf(nil, err) == dapi.PaymentNeedsDecision }

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

// messageOf returns an error's text. The advice in the text of a doubt is to call again, which the processor does. It
// also knows whether an earlier call can have signed.
func messageOf(err error) string {
	if callfacts.EarlierOf(err) == callfacts.MayExist {
		callfacts.SetEarlier(err, callfacts.MayPay)
	}
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
