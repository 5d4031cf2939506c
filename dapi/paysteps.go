package dapi

import (
	"cmp"
	"context"
	"fmt"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

// book books the payout, and checks that the response is about this payment. If it approved the booking of another key,
// that payment could be paid twice, and this one never.
func (p *payment) book(ctx context.Context) ending {
	if err := p.opts.checkAge(opBookPayout.ID, p.key, p.payouts.approver.now()); err != nil {
		return ending{outcome: refused, err: err}
	}
	var response moneymovement.Response
	booked, err := p.payouts.Book(ctx, p.asked, moneymovement.IdempotencyKey(p.key),
		moneymovement.CaptureResponse(&response))
	p.opts.capture(response)
	if err != nil {
		return p.afterError(ctx, err)
	}
	if booked.IdempotencyKey != string(p.key) {
		return ending{outcome: doubtful,
			err: p.unproven(opBookPayout.ID,
				"the response has another idempotency key, or none")}
	}
	if known := p.knownID(); known != "" && known != booked.ID {
		return p.bookedOther(ctx, known, booked.ID)
	}
	p.fresh = newlyMade(response) && booked.Approval != nil && !booked.hasTransactionHash()
	if p.fresh || !booked.funded() { // a service that forgot the key has booked another payment
		if err := p.opts.checkAge(opBookPayout.ID, p.key, p.payouts.approver.latest()); err != nil {
			return ending{outcome: refused, err: err}
		}
	}
	if p.booked == nil {
		p.doubt = p.attempt.updateDoubt(p.doubt, string(booked.ID), booked.funded() && !p.fresh,
			string(p.opts.bookedBefore), response)
	}
	p.booked, p.feeKnown = booked, hasFee(booked.Quote, response.Body)
	return ending{outcome: proceed}
}

// knownID returns the id of the payout that this call has booked, for which this client has signed, or that the caller
// names. It returns "" without one.
func (p *payment) knownID() PayoutID {
	if p.booked != nil {
		return p.booked.ID
	}
	return cmp.Or(PayoutID(p.attempt.signed()), p.opts.bookedBefore)
}

// bookedOther handles a booking of another payout than the known one, which may be paid. The known one decides. If it
// cannot be read, the payment is in doubt.
func (p *payment) bookedOther(ctx context.Context, known, got PayoutID) ending {
	p.booked = &Payout{ID: known}
	differs := p.headed(&TermsDiffer{Member: "id", Asked: string(known), Got: string(got)})
	var response moneymovement.Response
	payout, err := p.get(ctx, moneymovement.CaptureResponse(&response))
	switch {
	case err != nil, payout.differs(p.asked) != nil:
	case payout.funded(), payout.notCompleted() != nil:
		return settledBy(payout)
	case payout.untouched() && payout.Approval != nil:
		payout.IdempotencyKey = string(p.key)
		p.doubt, p.fresh = knownDoubt, false
		p.booked, p.feeKnown = payout, hasFee(payout.Quote, response.Body)
		return ending{outcome: proceed}
	}
	return ending{outcome: doubtful, err: differs}
}

// checkTerms compares the booking with what was asked for. An earlier call with this key may have paid, and the service
// may have booked something else.
func (p *payment) checkTerms(ctx context.Context) ending {
	booked := p.booked
	if differs := booked.differs(p.asked); differs != nil {
		if booked.untouched() {
			return ending{outcome: refused, err: p.headed(differs)}
		}
		return ending{outcome: doubtful, err: p.headed(differs)}
	}
	switch {
	case booked.notCompleted() != nil:
		return settledBy(booked)
	case p.fresh: // it waits for its approval, whatever its status is
	case booked.funded():
		return settledBy(booked)
	case booked.Approval == nil && (!booked.untouched() || booked.Status == "" && p.doubt != noDoubt):
		return p.nothingToApprove(ctx)
	}
	return ending{outcome: proceed}
}

// nothingToApprove handles a booking without an approval, whose status this version does not know. Either an earlier
// call has confirmed it, or the service does not return what to sign. If this client has seen the payment paid, it is
// paid. Otherwise the payment is in doubt, and conclude reads the payout.
func (p *payment) nothingToApprove(ctx context.Context) ending {
	if seen := p.seenSettled(ctx); seen != nil {
		return *seen
	}
	return ending{outcome: doubtful,
		err: p.unproven(opBookPayout.ID, fmt.Sprintf("the booking has no approval to sign, and its status is %q",
			p.booked.Status))}
}

// seenSettled returns how an earlier call of this client settled the payment, with the payout as it is now if it can be
// read. It returns nil if none did.
func (p *payment) seenSettled(ctx context.Context) *ending {
	seen := p.attempt.settled()
	if seen == nil {
		return nil
	}
	if payout := p.read(ctx); payout != nil && (payout.funded() || payout.notCompleted() != nil) {
		return new(settledBy(payout))
	}
	return seen
}

// checkPrice refuses a price that is out of bounds, and books again for a price or an approval that has expired. If the
// service returns the same offer again, it is confirmed once: this machine's clock may be wrong, and then only the 409
// of the service reopens the payment.
func (p *payment) checkPrice(context.Context) ending {
	first, again := p.attempt.recordPrice(p.booked.Quote)
	refusal := p.opts.bounds.refused(price{
		asked: p.asked, quote: p.booked.Quote, feeKnown: p.feeKnown, first: first, unpriced: again && first == nil,
	})
	switch {
	case refusal != nil:
		refusal.CallInfo, refusal.Payout = p.head(), p.booked
		return ending{outcome: refused, err: refusal}
	case !p.booked.expiredAt(p.payouts.approver.now().Add(p.reserve())):
	case p.booked.sameOffer(p.tried):
		return ending{outcome: refused, err: p.last}
	case !p.booked.sameOffer(p.over):
		p.over = p.booked
		return ending{outcome: reopen, err: p.notConfirmed(errOver)}
	default:
		p.tried = p.booked
	}
	return ending{outcome: proceed}
}

var errOver = errors.New("the price or the approval has expired, and the service returns the same one again")

// notConfirmed returns the error of a payment that was booked and could not be confirmed.
func (p *payment) notConfirmed(reason error) error {
	return &errors.NotDelivered{CallInfo: errors.CallInfo{Operation: opConfirmPayout.ID, IdempotencyKey: string(p.key)},
		Err: reason}
}

// hookReserve is the time before the approval's end at which the hook must have returned. It leaves time to confirm.
const hookReserve = 20 * time.Second

// reserve returns how much time an approval must have left before it is signed.
func (p *payment) reserve() time.Duration {
	if p.opts.beforeSigning != nil {
		return hookReserve
	}
	return 0
}

// callHook calls the caller's BeforeSigning, which can refuse.
func (p *payment) callHook(ctx context.Context) ending {
	if p.opts.beforeSigning == nil || p.booked.Approval == nil {
		return ending{outcome: proceed}
	}
	left := p.booked.Approval.ExpiresAt.Sub(p.payouts.approver.now()) - hookReserve
	if p.tried == p.booked { // over by this machine's clock, which may be wrong: nobody knows how much is left
		left = hookReserve
	}
	asking, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	if err := p.opts.beforeSigning(asking, p.booked.copied()); err != nil {
		return ending{outcome: refused, err: &PaymentDeclined{CallInfo: p.head(), Payout: p.booked, Err: err}}
	}
	return ending{outcome: proceed}
}

// confirm signs the approval, if it matches what was asked for, and sends the signature.
func (p *payment) confirm(ctx context.Context) ending {
	var response moneymovement.Response
	p.wasRead, p.sent = false, true
	confirmed, err := p.payouts.confirm(ctx, p.payouts.low.withKey(p.key), p.asked, p.booked, p.tried == p.booked,
		moneymovement.CaptureResponse(&response))
	p.opts.capture(response)
	p.leave() // the rest waits for the service, and not for room in the rate window
	if err != nil {
		return p.afterError(ctx, err)
	}
	if differs := confirmed.differs(p.asked); differs != nil {
		return ending{outcome: doubtful, err: p.headed(differs)}
	}
	if confirmed.Status == PayoutStatusExpired { // from before the confirm, which has succeeded
		return ending{outcome: doubtful,
			err: p.unproven(opConfirmPayout.ID, "the response says that the payout has expired")}
	}
	return settledBy(confirmed)
}
