package platform

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// returnTolerance is how far returned money may be from the amount of the payout that it is attributed to.
// Source: Limits, Sandbox.
var returnTolerance = decimal.RequireFromString("0.20")

// returned is the money of a refunded payout on its way back. The books know whose it is; the account is told by amount
// alone, as the service tells.
type returned struct {
	from      *payout
	delivered bool
	due       time.Time
}

// sendBack puts the whole amount of a payout on its way, fee included, from clearing or from where it was delivered.
func (t *turn) sendBack(p *payout, delivered bool) {
	p.transaction.Status = platformwire.TransactionStatusCompleted
	t.unmatched = append(t.unmatched, p)
	t.returning = append(t.returning, &returned{p, delivered, t.now.Add(time.Duration(t.settings.ReturnAfter))})
	t.receiveReturned()
}

// receiveReturned credits the returned money that has arrived.
func (t *turn) receiveReturned() {
	t.returning = slices.DeleteFunc(t.returning, func(r *returned) bool {
		arrived := !t.now.Before(r.due)
		if arrived {
			t.receive(r)
		}
		return arrived
	})
}

func (t *turn) receive(r *returned) {
	p := r.from
	amount := decimal.Max(decimal.Zero, p.terms.Amount.Sub(t.settings.ReturnFee))
	defer t.finish(p, t.now)
	back := t.books.movement("payout_refund", p.id, t.now)
	p.traces.moved(back.movement)
	if r.delivered {
		back.transfer(bookFees, bookOutside, p.asset(), p.quote.Fee)
	} else {
		back.transfer(bookClearing, bookOutside, p.asset(), p.terms.Amount)
	}
	back.transfer(bookOutside, p.holder.book(), p.asset(), amount)
	if amount.IsZero() {
		return
	}
	p.traces.refund = t.record(p.holder, platformwire.Transaction{
		Type:            platformwire.TransactionTypeRefund,
		Direction:       platformwire.TransactionDirectionIn,
		Status:          platformwire.TransactionStatusCompleted,
		Amount:          amount,
		Currency:        p.terms.Currency,
		PayoutID:        t.attribute(p.holder, p.terms.Currency, amount),
		TransactionHash: newHash(),
		CreatedAt:       t.now,
	})
}

// attribute finds the payout that returned money is taken for: the oldest of the account's refunded payouts whose amount
// fits within the tolerance, and that no money was attributed to before. It answers no id if none fits.
func (t *turn) attribute(h *holder, asset platformwire.Asset, amount decimal.Decimal) (payoutID string) {
	found := -1
	for i, p := range t.unmatched {
		fits := p.holder == h && p.terms.Currency == asset && p.terms.Amount.Sub(amount).Abs().LessThanOrEqual(returnTolerance)
		if fits && (found < 0 || p.createdAt.Before(t.unmatched[found].createdAt)) {
			found = i
		}
	}
	if found < 0 {
		return ""
	}
	payoutID = t.unmatched[found].id
	t.unmatched = slices.Delete(t.unmatched, found, found+1)
	return payoutID
}
