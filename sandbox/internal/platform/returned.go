package platform

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// returnTolerance is the largest difference between returned money and the amount of its payout.
var returnTolerance = decimal.RequireFromString("0.20")

// refund is the money of a refunded payout on its way back. The ledger knows its account. The payout is found by the
// amount only, like at the service.
type refund struct {
	Number    int  // in the order of refunding, from 1
	Delivered bool // the money has arrived
	Due       time.Time
	Arrived   bool
	Matched   bool // returned money is attributed to the payout
}

// sendBack sends back the whole amount of a payout, fee included, from clearing or from its receiver.
func (t *turn) sendBack(p *payout, delivered bool, at time.Time) {
	p.transaction.Status = platformwire.TransactionStatusCompleted
	t.kept.transactions.Put(p.transaction)
	t.refunds++
	p.Refund = &refund{Number: t.refunds, Delivered: delivered, Due: at.Add(time.Duration(t.settings.ReturnAfter))}
	t.kept.payouts.Put(p)
	t.unmatched.add(p)
	t.returning.add(p, p.Refund.Due)
	t.receiveReturned()
}

// receiveReturned credits the returned money that has arrived.
func (t *turn) receiveReturned() {
	t.returning.run(t.now, func(p *payout) time.Time {
		if t.now.Before(p.Refund.Due) {
			return p.Refund.Due
		}
		t.receive(p)
		return time.Time{}
	})
}

func (t *turn) receive(p *payout) {
	p.Refund.Arrived = true
	amount := decimal.Max(decimal.Zero, p.Terms.Amount.Sub(t.settings.ReturnFee))
	defer t.finish(p, t.now)
	back := t.books.movement("payout_refund", p.ID, t.now)
	p.traces.moved(back.movement)
	if p.Refund.Delivered {
		back.transfer(bookFees, bookOutside, p.asset(), p.Quote.Fee)
	} else {
		back.transfer(bookClearing, bookOutside, p.asset(), p.Terms.Amount)
	}
	back.transfer(bookOutside, p.holder.book(), p.asset(), amount)
	t.audit.Returned(p.Account.Account, p.Key, amount)
	if amount.IsZero() {
		return
	}
	p.traces.refund = t.recordOf(p.ID, p.holder, platformwire.Transaction{
		Type:            platformwire.TransactionTypeRefund,
		Direction:       platformwire.TransactionDirectionIn,
		Status:          platformwire.TransactionStatusCompleted,
		Amount:          amount,
		Currency:        p.Terms.Currency,
		PayoutID:        t.attribute(p.holder, p.Terms.Currency, amount),
		TransactionHash: newHash(),
		CreatedAt:       t.now,
	})
}

// attribute finds the payout of returned money: the oldest of the account's refunded payouts whose amount fits within
// the tolerance, and to which no money is attributed yet. If no payout fits, it returns "".
func (t *turn) attribute(h *holder, asset platformwire.Asset, amount decimal.Decimal) (payoutID string) {
	for _, p := range t.unmatched[returnedTo{h, asset}] {
		if p.Terms.Amount.Sub(amount).Abs().LessThanOrEqual(returnTolerance) {
			p.Refund.Matched = true
			t.kept.payouts.Put(p)
			t.unmatched.remove(p)
			return p.ID
		}
	}
	return ""
}

// returnedTo is what returned money is looked up by, besides its amount.
type returnedTo struct {
	holder *holder
	asset  platformwire.Asset
}

// unmatched are refunded payouts, the oldest first. Payouts of one time are in the order of refunding.
type unmatched map[returnedTo][]*payout

func (u unmatched) add(p *payout) {
	to := returnedTo{p.holder, p.Terms.Currency}
	at, _ := slices.BinarySearchFunc(u[to], p, func(known, p *payout) int {
		if known.CreatedAt.After(p.CreatedAt) {
			return 1
		}
		return -1 // after those of the same time
	})
	u[to] = slices.Insert(u[to], at, p)
}

func (u unmatched) remove(p *payout) {
	to := returnedTo{p.holder, p.Terms.Currency}
	if at := slices.Index(u[to], p); at >= 0 {
		u[to] = slices.Delete(u[to], at, at+1)
	}
	if len(u[to]) == 0 {
		delete(u, to)
	}
}
