package platform

import (
	"container/heap"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// settleDue makes the steps that are due: from funding to processing, and from there to completed or, by the settings,
// to failed. By the settings, a completed payout is refunded later.
func (t *txn) settleDue() {
	t.inFlight.run(t.now, func(p *payout) time.Time {
		for !p.Due.IsZero() && !t.now.Before(p.Due) {
			switch at := p.Due; {
			case p.Status == platformwire.PayoutStatusFunding:
				p.Status, p.Due = platformwire.PayoutStatusProcessing, at.Add(time.Duration(t.settings.PayoutStepAfter))
				t.store.payouts.Put(p)
				t.audit.Moved(p.Account.Account, p.Key, p.ID, string(p.Status))
			case p.Status == platformwire.PayoutStatusCompleted:
				t.settle(p, platformwire.PayoutStatusRefunded, at)
			case t.shouldFail(p):
				t.settle(p, platformwire.PayoutStatusFailed, at)
			default:
				t.settle(p, platformwire.PayoutStatusCompleted, at)
				t.scheduleRefund(p, at)
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
) (wire.Response, error) {
	c, to := wire.CallerOf(ctx), body.Status
	key, requested, lifetime, err := keyOf(c, "MovePayout", []string{payoutID, string(to)})
	if err != nil {
		return wire.Response{}, err
	}
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Response{}, err
	}
	if err := t.moves.checkSpent(key, requested, t.now); err != nil {
		return wire.Response{}, err
	}
	if moved, found, same := t.moves.find(key, requested, t.now); found {
		if !same {
			return wire.Response{}, wire.IdempotencyKeyReused("payoutId", moved.ID)
		}
		return wire.OK(moved).Lean().Replayed(), nil
	}
	target, err := t.payoutOf(h, payoutID)
	if err != nil {
		return wire.Response{}, err
	}
	if err := t.move(target, to); err != nil {
		return wire.Response{}, err
	}
	view := target.view(t.now)
	view.IdempotencyKey = key.Key // of this call, and not of the booking
	t.moves.put(key, requested, view, t.now, lifetime)
	target.Moves = append(target.Moves, key.Key)
	t.store.payouts.Put(target)
	return wire.OK(view).Lean(), nil
}

// Move moves a payout to another status, as [Platform.MovePayout] does. It needs no session.
func (p *Platform) Move(payoutID string, to platformwire.PayoutStatus) error {
	t := p.begin()
	defer p.commit()
	target, ok := t.payouts[payoutID]
	if !ok {
		return wire.NotFound()
	}
	if err := t.move(target, to); err != nil {
		return err
	}
	t.store.payouts.Put(target)
	return nil
}

func (t *txn) move(target *payout, to platformwire.PayoutStatus) error {
	if target.statusAt(t.now) == to {
		target.Due = time.Time{}
		return nil
	}
	if err := t.checkPayoutMove(target, to); err != nil {
		return err
	}
	t.settle(target, to, t.now)
	return nil
}

// checkPayoutMove returns the refusal of a move, or nil.
func (t *txn) checkPayoutMove(target *payout, to platformwire.PayoutStatus) error {
	from := target.statusAt(t.now)
	switch {
	case payoutStates.allows(from, to):
	case from == platformwire.PayoutStatusAwaitingApproval:
		return wire.QuoteNotSubmitted()
	case from == platformwire.PayoutStatusExpired:
		return wire.PayoutNotFundable("The payout expired before anybody funded it.", nil)
	default:
		return wire.Conflict("The payout does not move from " + string(from) + " to " + string(to) + ".")
	}
	if from == platformwire.PayoutStatusCompleted && target.receiver != nil {
		return wire.Conflict("The payout arrived in another account of this host, so it cannot be returned.")
	}
	return nil
}

// settle sets the status of a payout, makes its money movement, and ends its own steps.
func (t *txn) settle(p *payout, to platformwire.PayoutStatus, at time.Time) {
	from := p.Status
	p.Status, p.Due, p.FinishedAt, p.FinishNumber = to, time.Time{}, time.Time{}, 0
	t.store.payouts.Put(p)
	t.audit.Moved(p.Account.Account, p.Key, p.ID, string(to))
	switch to {
	case platformwire.PayoutStatusCompleted:
		t.deliverPayout(p, at)
		t.finish(p, at)
	case platformwire.PayoutStatusFailed:
		p.traces.addMovement(t.ledger.movement("payout_return", p.ID, at).
			transfer(accountClearing, p.holder.ledgerAccount(), p.asset(), p.Terms.Amount))
		t.audit.Returned(p.Account.Account, p.Key, p.Terms.Amount)
		p.transaction.Status = platformwire.TransactionStatusFailed
		t.store.transactions.Put(p.transaction)
		t.finish(p, at)
	case platformwire.PayoutStatusRefunded:
		t.startReturn(p, from == platformwire.PayoutStatusCompleted, at)
	}
}

// deliverPayout pays a payout out of clearing: the amount without its fee.
func (t *txn) deliverPayout(p *payout, at time.Time) {
	t.audit.Settled(p.Account.Account, p.Key)
	delivered := p.Terms.Amount.Sub(p.Quote.Fee)
	settlement := t.ledger.movement("payout_settlement", p.ID, at)
	p.traces.addMovement(settlement.movement)
	settlement.transfer(accountClearing, accountFees, p.asset(), p.Quote.Fee)
	p.transaction.Status = platformwire.TransactionStatusCompleted
	t.store.transactions.Put(p.transaction)
	if p.receiver == nil {
		settlement.transfer(accountClearing, accountOutside, p.asset(), delivered)
		return
	}
	settlement.transfer(accountClearing, p.receiver.ledgerAccount(), p.asset(), delivered)
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

// startReturn returns the whole amount of a payout, fee included, from clearing or from its receiver.
func (t *txn) startReturn(p *payout, delivered bool, at time.Time) {
	p.transaction.Status = platformwire.TransactionStatusCompleted
	t.store.transactions.Put(p.transaction)
	t.refundCount++
	p.Refund = &refund{Number: t.refundCount, Delivered: delivered, Due: at.Add(time.Duration(t.settings.ReturnAfter))}
	t.store.payouts.Put(p)
	t.unmatchedReturns.add(p)
	t.returning.add(p, p.Refund.Due)
	t.creditDueReturns()
}

// creditDueReturns credits returned money whose time has come.
func (t *txn) creditDueReturns() {
	t.returning.run(t.now, func(p *payout) time.Time {
		if t.now.Before(p.Refund.Due) {
			return p.Refund.Due
		}
		t.creditReturn(p)
		return time.Time{}
	})
}

func (t *txn) creditReturn(p *payout) {
	p.Refund.Arrived = true
	amount := decimal.Max(decimal.Zero, p.Terms.Amount.Sub(t.settings.ReturnFee))
	defer t.finish(p, t.now)
	back := t.ledger.movement("payout_refund", p.ID, t.now)
	p.traces.addMovement(back.movement)
	if p.Refund.Delivered {
		back.transfer(accountFees, accountOutside, p.asset(), p.Quote.Fee)
	} else {
		back.transfer(accountClearing, accountOutside, p.asset(), p.Terms.Amount)
	}
	back.transfer(accountOutside, p.holder.ledgerAccount(), p.asset(), amount)
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
		PayoutID:        t.matchReturn(p.holder, p.Terms.Currency, amount),
		TransactionHash: newHash(),
		CreatedAt:       t.now,
	})
}

// matchReturn finds the payout that returned money belongs to: the oldest of the account's refunded payouts whose
// amount fits within the tolerance, and to which no money is attributed yet. If no payout fits, it returns "".
func (t *txn) matchReturn(h *holder, asset platformwire.Asset, amount decimal.Decimal) (payoutID string) {
	for _, p := range t.unmatchedReturns[returnKey{h, asset}] {
		if p.Terms.Amount.Sub(amount).Abs().LessThanOrEqual(returnTolerance) {
			p.Refund.Matched = true
			t.store.payouts.Put(p)
			t.unmatchedReturns.remove(p)
			return p.ID
		}
	}
	return ""
}

// returnKey is what returned money is looked up by, besides its amount.
type returnKey struct {
	holder *holder
	asset  platformwire.Asset
}

// unmatchedReturns are refunded payouts, the oldest first. Payouts of one time are in the order of refunding.
type unmatchedReturns map[returnKey][]*payout

func (u unmatchedReturns) add(p *payout) {
	to := returnKey{p.holder, p.Terms.Currency}
	at, _ := slices.BinarySearchFunc(u[to], p, func(known, p *payout) int {
		if known.CreatedAt.After(p.CreatedAt) {
			return 1
		}
		return -1 // after those of the same time
	})
	u[to] = slices.Insert(u[to], at, p)
}

func (u unmatchedReturns) remove(p *payout) {
	to := returnKey{p.holder, p.Terms.Currency}
	if at := slices.Index(u[to], p); at >= 0 {
		u[to] = slices.Delete(u[to], at, at+1)
	}
	if len(u[to]) == 0 {
		delete(u, to)
	}
}

// pseudoRandom returns a pseudo-random number of 0 or more. The seed of the settings, the payout's key, a purpose and a
// count decide it, so that it does not depend on the order of requests.
func (t *txn) pseudoRandom(p *payout, purpose string, count int) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%s/%d/%s", t.settings.Seed, purpose, count, p.Key))
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1) //gosec:disable G115 -- the top bit is zero
}

// isSelected reports whether the settings choose a payout: one in so many, or one with a certain amount.
func (t *txn) isSelected(p *payout, purpose string, oneIn int, amount decimal.Decimal) bool {
	return oneIn > 0 && t.pseudoRandom(p, purpose, 0)%int64(oneIn) == 0 ||
		amount.IsPositive() && amount.Equal(p.Terms.Amount)
}

// shouldFail reports whether a funded payout fails.
func (t *txn) shouldFail(p *payout) bool {
	return t.isSelected(p, "fail", t.settings.FailOneIn, t.settings.FailAmount)
}

// scheduleRefund makes a completed payout come back later, if the settings choose it. Until then it is not finished, so
// that it is not forgotten before.
func (t *txn) scheduleRefund(p *payout, at time.Time) {
	if p.receiver != nil || !t.isSelected(p, "refund", t.settings.RefundOneIn, t.settings.RefundAmount) {
		return
	}
	p.Due, p.FinishedAt, p.FinishNumber = at.Add(time.Duration(t.settings.RefundAfter)), time.Time{}, 0
	t.store.payouts.Put(p)
}

// driftSteps is how many different drifts there are on either side.
const driftSteps = 1000

// drift returns how far the next price of a payout is from the host's own, as a fraction.
func (t *txn) drift(p *payout) decimal.Decimal {
	if t.settings.PriceDrift.IsZero() {
		return decimal.Zero
	}
	prices := len(p.Earlier)
	if p.Approval.ID != "" {
		prices++
	}
	step := t.pseudoRandom(p, "price", prices)%(2*driftSteps+1) - driftSteps
	return t.settings.PriceDrift.Mul(decimal.NewFromInt(step)).Shift(-3)
}

// schedule has the payouts whose next step is due later. The payout whose step is due first is first. Payouts whose
// steps are due at the same time are in the order in which they were added.
type schedule struct {
	queue stepHeap
	added int
}

type scheduledStep struct {
	payout *payout
	due    time.Time
	number int // in the order of adding
}

// add adds a payout with its step.
func (s *schedule) add(p *payout, due time.Time) {
	s.added++
	heap.Push(&s.queue, scheduledStep{p, due, s.added})
}

// run calls perform for every payout whose step is due. perform makes the step, and returns when the payout's next step
// is due, or zero without one.
func (s *schedule) run(now time.Time, perform func(*payout) time.Time) {
	for len(s.queue) > 0 && !now.Before(s.queue[0].due) {
		next, _ := heap.Pop(&s.queue).(scheduledStep)
		if due := perform(next.payout); !due.IsZero() {
			heap.Push(&s.queue, scheduledStep{next.payout, due, next.number})
		}
	}
}

// reorder puts the payouts in the order of compare, as if they had been added in this order.
func (s *schedule) reorder(compare func(a, b *payout) int) {
	slices.SortStableFunc(s.queue, func(a, b scheduledStep) int { return compare(a.payout, b.payout) })
	for i := range s.queue {
		s.queue[i].number = i + 1
	}
	s.added = len(s.queue)
	heap.Init(&s.queue)
}

// stepHeap implements [heap.Interface].
type stepHeap []scheduledStep

func (q stepHeap) Len() int      { return len(q) }
func (q stepHeap) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q stepHeap) Less(i, j int) bool {
	if q[i].due.Equal(q[j].due) {
		return q[i].number < q[j].number
	}
	return q[i].due.Before(q[j].due)
}

// Push adds a step at the end. Package heap calls it, and Pop.
func (q *stepHeap) Push(added any) {
	if next, ok := added.(scheduledStep); ok {
		*q = append(*q, next)
	}
}

// Pop removes the last step.
func (q *stepHeap) Pop() any {
	last := len(*q) - 1
	popped := (*q)[last]
	(*q)[last] = scheduledStep{} // so that the payout can be collected
	*q = (*q)[:last]
	return popped
}
