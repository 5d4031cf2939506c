package dapi

import (
	"cmp"
	"context"
	"fmt"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

// book books, and makes sure that the answer is about this payment: approving the booking of another key could pay that
// one twice and this one never.
//
// Source: Resources, Platform resources (a payout create echoes idempotencyKey); Limits, Idempotency (a replay is a
// 200).
func (p *payment) book(ctx context.Context) ending {
	if err := p.wish.checkAge(opBookPayout.ID, p.key, p.payouts.approver.now()); err != nil {
		return ending{outcome: refused, err: err}
	}
	var answer moneymovement.Response
	booked, err := p.payouts.Book(ctx, p.asked, moneymovement.IdempotencyKey(p.key),
		moneymovement.CaptureResponse(&answer))
	p.wish.capture(answer)
	if err != nil {
		return p.judge(ctx, err)
	}
	if booked.IdempotencyKey != string(p.key) {
		return ending{outcome: doubtful,
			err: p.unproven(opBookPayout.ID, "the answer is about a payment of another key, or does not say of which")}
	}
	if p.booked != nil && p.booked.ID != booked.ID {
		return ending{outcome: doubtful,
			err: p.headed(&TermsDiffer{Member: "id", Asked: string(p.booked.ID), Got: string(booked.ID)})}
	}
	p.fresh = newlyMade(answer) && booked.Approval != nil && !booked.hashed()
	if p.fresh || !booked.funded() { // a service that has forgotten the key has booked another payment
		if err := p.wish.checkAge(opBookPayout.ID, p.key, p.payouts.approver.latest()); err != nil {
			return ending{outcome: refused, err: err}
		}
	}
	if p.booked == nil {
		p.doubt = p.attempt.learn(p.doubt, string(booked.ID), booked.funded() && !p.fresh, answer)
	}
	p.booked, p.feeKnown = booked, hasFee(answer.Body)
	return ending{outcome: goesOn}
}

// look looks at what was booked: an earlier call with this key may have gone through, and the service may have booked
// something else.
func (p *payment) look(ctx context.Context) ending {
	booked := p.booked
	if differs := booked.differs(p.asked); differs != nil {
		if booked.untouched() {
			return ending{outcome: refused, err: p.headed(differs)}
		}
		return ending{outcome: doubtful, err: p.headed(differs)}
	}
	switch {
	case booked.arrived() != nil:
		return settledBy(booked)
	case p.fresh: // it waits for its approval, whatever its status is called
	case booked.funded():
		return settledBy(booked)
	case booked.Approval == nil && (!booked.untouched() || booked.Status == "" && p.doubt != noDoubt):
		return p.nothingToApprove(ctx)
	}
	return ending{outcome: goesOn}
}

// nothingToApprove is a booking without an approval whose status says nothing to this version: an earlier call has
// confirmed it, unless the service does not say what is to be signed. A payout that this client has seen paid is, and
// of another one the payout itself may show it, which is read because of the doubt.
func (p *payment) nothingToApprove(ctx context.Context) ending {
	if payout := p.seenPaid(ctx); payout != nil {
		return settledBy(payout)
	}
	return ending{outcome: doubtful,
		err: p.unproven(opBookPayout.ID, fmt.Sprintf("there is nothing to approve, and the status is %q",
			p.booked.Status))}
}

// seenPaid is the payout as it stands now, if this client has seen it paid or at its end, else nil.
func (p *payment) seenPaid(ctx context.Context) *Payout {
	if !p.attempt.done() {
		return nil
	}
	return cmp.Or(p.read(ctx), p.booked)
}

// price refuses a price that is out of bounds, and books again for a price or an approval that is over. If the service
// gives the same one again it is confirmed, once: this machine's idea of the time may be wrong, and only the service's
// own 409 reopens a payment.
func (p *payment) price(context.Context) ending {
	first, again := p.attempt.bookedAs(string(p.booked.ID), p.booked.Quote)
	refusal := p.wish.bounds.refused(price{
		asked: p.asked, quote: p.booked.Quote, feeKnown: p.feeKnown, first: first, unpriced: again && first == nil,
	})
	switch {
	case refusal != nil:
		refusal.Head, refusal.Payout = p.head(), p.booked
		return ending{outcome: refused, err: refusal}
	case !p.booked.overAt(p.payouts.approver.now().Add(p.reserve())):
	case p.booked.sameOffer(p.tried):
		return ending{outcome: refused, err: p.last}
	case !p.booked.sameOffer(p.over):
		p.over = p.booked
		return ending{outcome: reopen, err: p.notConfirmed(errOver)}
	default:
		p.tried = p.booked
	}
	return ending{outcome: goesOn}
}

var errOver = errors.New("the price or the approval is over, and the service gives no other")

// notConfirmed is a payment that was booked, and could not be confirmed.
func (p *payment) notConfirmed(reason error) error {
	return &errors.NotDelivered{Head: errors.Head{Operation: opConfirmPayout.ID, IdempotencyKey: string(p.key)},
		Err: reason}
}

// hookReserve is how long before the approval ends a hook has to return, so that there is time to confirm.
const hookReserve = 20 * time.Second

// reserve is the time that has to be left of an approval for it to be of use.
func (p *payment) reserve() time.Duration {
	if p.wish.before != nil {
		return hookReserve
	}
	return 0
}

// ask lets the caller look at what was booked, and refuse.
func (p *payment) ask(ctx context.Context) ending {
	if p.wish.before == nil || p.booked.Approval == nil {
		return ending{outcome: goesOn}
	}
	left := p.booked.Approval.ExpiresAt.Sub(p.payouts.approver.now()) - hookReserve
	asking, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	if err := p.wish.before(asking, p.booked); err != nil {
		return ending{outcome: refused, err: &PaymentDeclined{Head: p.head(), Payout: p.booked, Err: err}}
	}
	return ending{outcome: goesOn}
}

// confirm signs the approval, if it is what the caller asked for, and sends the signature.
func (p *payment) confirm(ctx context.Context) ending {
	var answer moneymovement.Response
	p.looked = false
	confirmed, err := p.payouts.confirm(ctx, p.asked, p.booked, p.tried == p.booked,
		withKey(p.key), moneymovement.CaptureResponse(&answer))
	p.wish.capture(answer)
	p.leave() // what follows waits for the service, not for room
	if err != nil {
		return p.judge(ctx, err)
	}
	if differs := confirmed.differs(p.asked); differs != nil {
		return ending{outcome: doubtful, err: p.headed(differs)}
	}
	return settledBy(confirmed)
}
