package platform

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// settleDue makes the steps that are due: from funding to processing, and from there to completed or, by the settings,
// to failed. By the settings, a completed payout is refunded later.
func (t *turn) settleDue() {
	t.inFlight.run(t.now, func(p *payout) time.Time {
		for !p.Due.IsZero() && !t.now.Before(p.Due) {
			switch at := p.Due; {
			case p.Status == platformwire.PayoutStatusFunding:
				p.Status, p.Due = platformwire.PayoutStatusProcessing, at.Add(time.Duration(t.settings.PayoutStepAfter))
				t.kept.payouts.Put(p)
				t.audit.Moved(p.Account.Account, p.Key, p.ID, string(p.Status))
			case p.Status == platformwire.PayoutStatusCompleted:
				t.settle(p, platformwire.PayoutStatusRefunded, at)
			case t.fails(p):
				t.settle(p, platformwire.PayoutStatusFailed, at)
			default:
				t.settle(p, platformwire.PayoutStatusCompleted, at)
				t.refundLater(p, at)
			}
		}
		return p.Due
	})
}

// MovePayout moves a payout to another status, as its partner would report. It then no longer moves by itself. A move
// to its present status changes nothing. A payout that nobody funded is refused with quote_not_submitted, or with
// payout_not_fundable after its approval has expired.
func (p *Platform) MovePayout(
	ctx context.Context, payoutID platformwire.PayoutID, body platformwire.PayoutStatusUpdate,
) (wire.Answer, error) {
	c, to := wire.CallerOf(ctx), body.Status
	key, asked, lifetime, err := anchorOf(c, "MovePayout", []string{payoutID, string(to)})
	if err != nil {
		return wire.Answer{}, err
	}
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Answer{}, err
	}
	if err := t.moves.forgotten(key, asked, t.now); err != nil {
		return wire.Answer{}, err
	}
	if moved, found, same := t.moves.find(key, asked, t.now); found {
		if !same {
			return wire.Answer{}, wire.IdempotencyKeyReused("payoutId", moved.ID)
		}
		return wire.OK(moved).Lean().Replayed(), nil
	}
	moving, err := t.payoutOf(h, payoutID)
	if err != nil {
		return wire.Answer{}, err
	}
	if err := t.move(moving, to); err != nil {
		return wire.Answer{}, err
	}
	view := moving.view(t.now)
	view.IdempotencyKey = key.Key // of this call, and not of the booking
	t.moves.keep(key, asked, view, t.now, lifetime)
	moving.Moves = append(moving.Moves, key.Key)
	t.kept.payouts.Put(moving)
	return wire.OK(view).Lean(), nil
}

// Move moves a payout to another status, as [Platform.MovePayout] does. It needs no session.
func (p *Platform) Move(payoutID string, to platformwire.PayoutStatus) error {
	t := p.enter()
	defer p.leave()
	moving, ok := t.payouts[payoutID]
	if !ok {
		return wire.NotFound()
	}
	if err := t.move(moving, to); err != nil {
		return err
	}
	t.kept.payouts.Put(moving)
	return nil
}

func (t *turn) move(moving *payout, to platformwire.PayoutStatus) error {
	if moving.statusAt(t.now) == to {
		moving.Due = time.Time{}
		return nil
	}
	if err := t.moveRefused(moving, to); err != nil {
		return err
	}
	t.settle(moving, to, t.now)
	return nil
}

// moveRefused returns the refusal of a move, or nil.
func (t *turn) moveRefused(moving *payout, to platformwire.PayoutStatus) error {
	from := moving.statusAt(t.now)
	switch {
	case payoutStates.movable(from, to):
	case from == platformwire.PayoutStatusAwaitingApproval:
		return wire.QuoteNotSubmitted()
	case from == platformwire.PayoutStatusExpired:
		return wire.PayoutNotFundable("The payout expired before anybody funded it.", nil)
	default:
		return wire.Conflict("The payout does not move from " + string(from) + " to " + string(to) + ".")
	}
	if from == platformwire.PayoutStatusCompleted && moving.receiver != nil {
		return wire.Conflict("The payout arrived in another account of this host, so it cannot be returned.")
	}
	return nil
}

// settle sets the status of a payout, makes its money movement, and ends its own steps.
func (t *turn) settle(p *payout, to platformwire.PayoutStatus, at time.Time) {
	from := p.Status
	p.Status, p.Due, p.FinishedAt, p.FinishNumber = to, time.Time{}, time.Time{}, 0
	t.kept.payouts.Put(p)
	t.audit.Moved(p.Account.Account, p.Key, p.ID, string(to))
	switch to {
	case platformwire.PayoutStatusCompleted:
		t.payOut(p, at)
		t.finish(p, at)
	case platformwire.PayoutStatusFailed:
		p.traces.moved(t.books.movement("payout_return", p.ID, at).transfer(bookClearing, p.holder.book(), p.asset(),
			p.Terms.Amount))
		t.audit.Returned(p.Account.Account, p.Key, p.Terms.Amount)
		p.transaction.Status = platformwire.TransactionStatusFailed
		t.kept.transactions.Put(p.transaction)
		t.finish(p, at)
	case platformwire.PayoutStatusRefunded:
		t.sendBack(p, from == platformwire.PayoutStatusCompleted, at)
	}
}

// payOut delivers the money of a payout from clearing, without its fee.
func (t *turn) payOut(p *payout, at time.Time) {
	t.audit.Settled(p.Account.Account, p.Key)
	delivered := p.Terms.Amount.Sub(p.Quote.Fee)
	settlement := t.books.movement("payout_settlement", p.ID, at)
	p.traces.moved(settlement.movement)
	settlement.transfer(bookClearing, bookFees, p.asset(), p.Quote.Fee)
	p.transaction.Status = platformwire.TransactionStatusCompleted
	t.kept.transactions.Put(p.transaction)
	if p.receiver == nil {
		settlement.transfer(bookClearing, bookOutside, p.asset(), delivered)
		return
	}
	settlement.transfer(bookClearing, p.receiver.book(), p.asset(), delivered)
	p.traces.arrival = t.recordOf(p.ID, p.receiver, platformwire.Transaction{
		Type:            platformwire.TransactionTypeDeposit,
		Direction:       platformwire.TransactionDirectionIn,
		Status:          platformwire.TransactionStatusCompleted,
		Amount:          delivered,
		Currency:        p.Terms.Currency,
		TransactionHash: p.Hash,
		CreatedAt:       at,
	})
}
