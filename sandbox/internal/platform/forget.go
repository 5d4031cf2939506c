package platform

import (
	"slices"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// traces are the records that a payout leaves besides itself.
type traces struct {
	movements []*movement
	arrival   *transaction // of the receiver
	refund    *transaction // of the returned money
}

func (t *traces) moved(m *movement) { t.movements = append(t.movements, m) }

// finished is a payout and the time when it finished. It may have changed again since.
type finished struct {
	payout *payout
	at     time.Time
}

// finish notes that nothing more happens to a payout by itself.
func (t *turn) finish(p *payout, at time.Time) {
	t.finishes++
	p.FinishedAt, p.FinishNumber = at, t.finishes
	t.kept.payouts.Put(p)
	t.finished.push(finished{p, at})
}

// forgetFinished deletes payouts that finished long enough ago. A payout that nobody funded is not finished, because
// its key reopens it.
func (t *turn) forgetFinished() {
	after := time.Duration(t.settings.ForgetFinishedAfter)
	if after == 0 {
		return
	}
	for {
		next, ok := t.finished.first()
		if !ok || t.now.Before(next.at.Add(after)) {
			break
		}
		t.finished.pop()
		if next.payout.FinishedAt.Equal(next.at) && t.payouts[next.payout.ID] == next.payout {
			t.forget(next.payout)
		}
	}
}

// forget deletes a finished payout. Its amounts stay in the sums of the ledger, and its keys are known until they
// expire.
func (t *turn) forget(p *payout) {
	delete(t.payouts, p.ID)
	t.kept.payouts.Delete(p)
	if p.Refund != nil && !p.Refund.Matched {
		t.unmatched.remove(p)
	}
	for _, id := range append(p.Earlier, p.Approval.ID) {
		delete(t.approvals, id)
	}
	for _, m := range p.traces.movements {
		t.books.forget(m, t.now)
	}
	t.drop(p.holder, p.transaction)
	t.drop(p.holder, p.traces.refund)
	t.drop(p.receiver, p.traces.arrival)

	at := anchor{Owner: p.Account.Owner, Account: p.Account.Account, Operation: "BookPayout", Key: p.Key}
	t.bookings.forget(at, func(id string) bool { return id == p.ID }, t.now)
	at.Operation = "MovePayout"
	for _, at.Key = range p.Moves {
		t.moves.forget(at, func(moved platformwire.Payout) bool { return moved.ID == p.ID }, t.now)
	}
}

// ForgetKeys forgets every idempotency key. What the keys made stays as it is.
func (p *Platform) ForgetKeys() {
	t := p.enter()
	defer p.leave()
	t.bookings.clear()
	t.deposits.clear()
	t.moves.clear()
	t.completions.clear()
	t.agreements.clear()
	t.actions.clear()
}

// queue is a list that grows at its end and shrinks at its beginning.
type queue[T any] struct {
	list []T
	head int
}

func (q *queue[T]) push(value T) { q.list = append(q.list, value) }

func (q *queue[T]) first() (value T, ok bool) {
	if q.head == len(q.list) {
		return value, false
	}
	return q.list[q.head], true
}

// pop removes the first element. It frees memory when half of the list is unused.
func (q *queue[T]) pop() {
	clear(q.list[q.head : q.head+1])
	if q.head++; 2*q.head > len(q.list) {
		q.list = slices.Delete(q.list, 0, q.head)
		q.head = 0
	}
}
