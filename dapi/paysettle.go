package dapi

import (
	"cmp"
	"context"
	"net/http"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// afterError decides what a refusal or a lost response means for the payment.
func (p *payment) afterError(ctx context.Context, err error) ending {
	said := err         // by the service: a verifier's or signer's error can hold one of another payment
	switch err.(type) { //nolint:errorlint // the outermost one counts
	case *errors.NotDelivered, *signing.ApprovalRefused:
		said = nil
	}
	if refusal, ok := errors.AsType[*errors.AlreadyFunded](said); ok {
		return p.funded(ctx, refusal)
	}
	inDoubt := mayHaveMoved(err)
	if inDoubt {
		p.doubt = knownDoubt
	}
	if refusal, ok := errors.AsType[*errors.FundingInProgress](said); ok && p.id() != "" {
		return p.awaitFunding(ctx, refusal)
	}
	if inDoubt || p.doubt == knownDoubt && reopens(err) {
		if payout := p.read(ctx); payout != nil && (payout.funded() || payout.Status.broke()) {
			return settledBy(payout)
		}
	}
	// a known doubt ends only if this client itself has refused other terms
	if reused, ok := errors.AsType[*errors.IdempotencyKeyReused](said); ok && p.booked == nil &&
		(p.doubt != knownDoubt || reused.Status == 0) {
		p.doubt = noDoubt // the key belongs to other terms, so no earlier call paid these terms with it
	}
	switch {
	case reopens(err):
		return ending{outcome: reopen, err: err}
	case inDoubt:
		return ending{outcome: doubtful, err: err}
	}
	return ending{outcome: refused, err: err}
}

// funded reads the payout that the service says is funded. If it cannot be read, the refusal itself is the proof that
// the money moved. A refusal that names another payout than the booked one proves nothing.
func (p *payment) funded(ctx context.Context, refusal *errors.AlreadyFunded) ending {
	id := PayoutID(refusal.PayoutID)
	switch {
	case p.booked != nil && id != "" && id != p.booked.ID:
		return ending{outcome: doubtful, err: refusal}
	case p.booked == nil && id != "":
		p.booked = &Payout{ID: id}
	}
	payout, err := p.get(ctx)
	switch {
	case err == nil && payout.differs(p.asked) != nil:
		return ending{outcome: doubtful, err: p.headed(payout.differs(p.asked))}
	case err == nil && (payout.funded() || payout.Status.broke()):
		return settledBy(payout)
	case p.readOther:
		return ending{outcome: doubtful, err: refusal}
	}
	return ending{outcome: settled, err: refusal}
}

// read reads the payout. It returns nil if the payout cannot be read or has other terms than asked.
func (p *payment) read(ctx context.Context) *Payout {
	_, _ = p.get(ctx)
	return p.lastRead
}

// get reads the payout. A response about another payout is an error.
func (p *payment) get(ctx context.Context, options ...moneymovement.CallOption) (*Payout, error) {
	head := errors.CallInfo{Operation: opGetPayout.ID, IdempotencyKey: string(p.key), Resource: string(p.id())}
	if p.id() == "" {
		return nil, &errors.NotDelivered{CallInfo: head,
			Err: errors.New("this client does not know the payout of this key")}
	}
	p.wasRead, p.readOther, p.lastRead, p.readErr = true, false, nil, nil
	payout, err := p.payouts.approver.notePayout(p.payouts.low.as(p.reading).GetPayout(ctx, p.id(), options))
	switch {
	case err != nil:
		p.readErr = err
		return nil, err
	case payout.ID != p.id(), payout.IdempotencyKey != "" && payout.IdempotencyKey != string(p.key):
		p.readOther = true
		return nil, &errors.UnexpectedResponse{CallInfo: head, Status: http.StatusOK,
			Err: errors.New("the response is about another payout")}
	case payout.differs(p.asked) == nil:
		p.lastRead = payout
	}
	return payout, nil
}

// id returns the id of the payout, or "" if this client does not know it.
func (p *payment) id() PayoutID {
	if p.booked != nil {
		return p.booked.ID
	}
	return cmp.Or(PayoutID(p.attempt.resource()), p.opts.bookedBefore)
}

// awaitFunding waits while the service funds the payout. If the payout is still not funded when the approval's window
// closes, the attempt is over, and the payout can be booked again.
func (p *payment) awaitFunding(ctx context.Context, refusal error) ending {
	if seen := p.seenSettled(ctx); seen != nil {
		return *seen
	}
	// this call has not seen the approval, so take its latest possible end
	closes := p.payouts.approver.now().Add(payoutApproval)
	if p.booked != nil && p.booked.Approval != nil {
		closes = p.booked.Approval.ExpiresAt
	}
	// for an unknown status, too, the stated window decides: booking again asks the service
	lapsed := func(payout *Payout) bool {
		waits := payout.Status == PayoutStatusAwaitingApproval || !payout.Status.Known() && !payout.funded()
		return payout.Status == PayoutStatusExpired || waits && !p.payouts.approver.now().Before(closes)
	}
	p.reading = moneymovement.ClassPoll
	payout, err := transport.Awaited[Payout]{
		Client: p.payouts.low.transport, Operation: &opGetPayout, Resource: "payout", ID: string(p.id()),
		Read:   func(ctx context.Context) (*Payout, error) { return p.get(ctx) },
		Status: func(payout *Payout) string { return string(payout.Status) },
		Done: func(payout *Payout) bool {
			return payout.Status.Final() || lapsed(payout) || payout.funded() && payout.Status != PayoutStatusFunding
		},
	}.Wait(ctx, nil)
	p.reading = ""
	switch {
	case err != nil:
		if payout != nil {
			p.booked = payout
		}
		p.lastRead = nil // an attempt that continues may still fail
		return ending{outcome: doubtful, err: err}
	case lapsed(payout):
		return ending{outcome: reopen, err: refusal}
	case payout.differs(p.asked) != nil:
		return ending{outcome: doubtful, err: p.headed(payout.differs(p.asked))}
	}
	return settledBy(payout)
}

// mayHaveMoved reports whether the payment may be funded after the error.
func mayHaveMoved(err error) bool {
	if err == nil {
		return false
	}
	failure, ok := errors.AsType[errors.Failure](err)
	return !ok || failure.MovedByCall() == errors.MaybeMoved || pageForConfirm(err) || unclearForConfirm(err)
}

// unclearForConfirm reports a refusal of a confirm that does not say what became of the payment: its slug is one of
// tomorrow, or says that what was confirmed is not there. It can be about a repetition of the confirm.
func unclearForConfirm(err error) bool {
	refusal, ok := errors.AsType[*errors.Refusal](err)
	if !ok || refusal.Operation != opConfirmPayout.ID && refusal.Operation != opConfirmEscrowAction.ID {
		return false
	}
	return !refusal.Code.Known() || refusal.Code == errors.CodeNotFound || refusal.Code == errors.CodeGone
}

// pageForConfirm reports a response to a confirm that is not the service's, such as a proxy's page with status 404. It
// does not show what the service did. For other calls it counts as a refusal, because they move no money.
func pageForConfirm(err error) bool {
	page, ok := errors.AsType[*errors.UnexpectedResponse](err)
	return ok && (page.Operation == opConfirmPayout.ID || page.Operation == opConfirmEscrowAction.ID)
}

// reopens reports whether the payment is booked again after the error, for a fresh quote and approval.
func reopens(err error) bool {
	refusal, ok := errors.AsType[*errors.Refusal](err)
	if !ok {
		return windowClosed(err)
	}
	switch refusal.Code {
	case errors.CodeQuoteExpired, errors.CodeFundingAttemptExpired,
		// another call with the key booked again
		errors.CodeApprovalExpired, errors.CodeApprovalConsumed, errors.CodeApprovalMismatch:
		return true
	}
	return false
}

// windowClosed reports whether the approval expired before it was signed, or before a confirm with an expired token
// could be sent again.
func windowClosed(err error) bool {
	if tooLong, ok := errors.AsType[*moneymovement.NoRoom](err); ok && tooLong.Closed {
		return true
	}
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	return ok && refused.Expired
}
