package platform

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// kept stores the changes of the state. The rest of the state is derived from the stored records.
type kept struct {
	keeper       *store.Keeper
	holders      *store.Feed[*holder]
	contacts     *store.Feed[*contact]
	payouts      *store.Feed[*payout]
	transactions *store.Feed[*transaction]
	payins       *store.Feed[*payin]
	deals        *store.Feed[*deal]
	counts       *store.Feed[*counts]
	counted      counts // as last stored
}

// counts are the counters that continue after a restart.
type counts struct {
	Filled                                 decimal.Decimal
	Sequence, Movements, Finishes, Refunds int
	FoldedAt                               time.Time
}

// The ids of the stored records.
func (h *holder) RecordID() string      { return h.Key.Owner + "/" + h.Key.Account }
func (c *contact) RecordID() string     { return c.ID }
func (p *payout) RecordID() string      { return p.ID }
func (t *transaction) RecordID() string { return t.ID }
func (p *payin) RecordID() string       { return p.ID }
func (d *deal) RecordID() string        { return d.ID }
func (m *movement) RecordID() string    { return strconv.Itoa(m.Number) }
func (f *folding) RecordID() string     { return f.Currency + "/" + f.Account }
func (*counts) RecordID() string        { return "platform" }

// open reads the state. It reads each kind after the kinds that it refers to.
func (s *state) open(k *store.Keeper) {
	s.kept.keeper = k
	s.kept.counts = store.Follow(k, "platform.counts", func(c *counts) {
		s.kept.counted = *c
		s.filled, s.sequence, s.finishes, s.refunds = c.Filled, c.Sequence, c.Finishes, c.Refunds
		s.books.last, s.books.foldedAt = c.Movements, c.FoldedAt
	})
	s.kept.holders = store.Follow(k, "platform.holder", func(h *holder) {
		s.enroll(h)
		s.particulars += len(h.KYB.Applicant)
	})
	s.kept.contacts = store.Follow(k, "platform.contact", func(c *contact) {
		s.link(c)
		s.contacts[c.ID], s.byDetails[c.detailsKey()] = c, c
	})
	s.kept.payouts = store.Follow(k, "platform.payout", s.openPayout)
	s.orderPayouts()
	s.books.open(k, func(m *movement) {
		if p := s.payouts[m.ResourceID]; p != nil {
			p.traces.moved(m)
		}
	})
	s.inFlight.reorder(func(a, b *payout) int {
		return cmp.Compare(a.traces.movements[0].Number, b.traces.movements[0].Number)
	})
	s.kept.transactions = store.Follow(k, "platform.transaction", s.openTransaction)
	s.kept.payins = store.Follow(k, "platform.payin", func(p *payin) {
		p.holder = s.holders[p.Account]
		for _, opened := range p.holder.Rails {
			if opened.ID == p.Terms.BankID {
				p.over = opened
			}
		}
		s.payins[p.ID], s.quoted[payinKey{p.Account, p.Asked}] = p, p
	})
	s.kept.deals = store.Follow(k, "platform.deal", func(d *deal) {
		d.holder, s.deals[d.ID] = s.holders[d.Account], d
		for _, action := range d.Actions {
			action.deal = d
			s.actionApprovals += len(action.Approvals)
		}
	})
	s.bookings = openRecords[string](k, "platform.booking")
	s.deposits = openRecords[platformwire.Transaction](k, "platform.deposit")
	s.moves = openRecords[platformwire.Payout](k, "platform.move")
	s.completions = openRecords[platformwire.Payin](k, "platform.completion")
	s.agreements = openRecords[string](k, "platform.agreement")
	s.actions = openRecords[string](k, "platform.action")
}

// enroll adds an account to all indexes.
func (s *state) enroll(h *holder) {
	s.holders[h.Key], s.wallets[h.Wallet] = h, h
	if h.isClient() {
		s.emails[clientEmail(h.Key.Owner, h.Client.Email)] = h
	} else {
		s.emails[integratorEmail(h.Client.Email)] = h
	}
}

// link finds the account with the email of a contact that is paid by email.
func (s *state) link(c *contact) {
	if to := c.To.Email; to != nil {
		to.holder = s.holders[to.Account]
	}
}

func (s *state) openPayout(p *payout) {
	p.holder = s.holders[*p.Account]
	p.Account = &p.holder.Key
	if p.Receiver != nil {
		p.receiver = s.holders[*p.Receiver]
		p.Receiver = &p.receiver.Key
	}
	s.link(p.Contact)
	s.payouts[p.ID] = p
	for _, id := range append(p.Earlier, p.Approval.ID) {
		s.approvals[id] = p
	}
	if !p.Due.IsZero() {
		s.inFlight.add(p, p.Due)
	}
	if p.FinishNumber > 0 {
		s.finished.push(finished{p, p.FinishedAt})
	}
	if p.Refund != nil && !p.Refund.Arrived {
		s.returning.add(p, p.Refund.Due)
	}
}

// orderPayouts sorts the lists of payouts in the order in which the payouts were added.
func (s *state) orderPayouts() {
	slices.SortFunc(s.finished.list, func(a, b finished) int {
		return cmp.Compare(a.payout.FinishNumber, b.payout.FinishNumber)
	})
	byRefund := func(a, b *payout) int { return cmp.Compare(a.Refund.Number, b.Refund.Number) }
	s.returning.reorder(byRefund)
	var waiting []*payout
	for _, p := range s.payouts {
		if p.Refund != nil && !p.Refund.Matched {
			waiting = append(waiting, p)
		}
	}
	slices.SortFunc(waiting, byRefund)
	for _, p := range waiting {
		s.unmatched.add(p)
	}
}

func (s *state) openTransaction(entry *transaction) {
	h := s.holders[*entry.Account]
	entry.Account = &h.Key
	h.history.add(entry)
	s.recorded++
	p := s.payouts[entry.Of]
	if p == nil {
		return
	}
	switch entry.Type {
	case platformwire.TransactionTypePayout:
		p.transaction = entry
	case platformwire.TransactionTypeRefund:
		p.traces.refund = entry
	default:
		p.traces.arrival = entry
	}
}

// commit stores what has changed.
func (s *state) commit() {
	now := counts{s.filled, s.sequence, s.books.last, s.finishes, s.refunds, s.books.foldedAt}
	if now != s.kept.counted {
		s.kept.counted = now
		s.kept.counts.Put(&s.kept.counted)
	}
	s.kept.keeper.Commit()
}

// clear deletes everything that is stored.
func (s *state) clear() {
	for _, kind := range []interface{ Clear() }{
		s.kept.holders, s.kept.contacts, s.kept.payouts, s.kept.transactions, s.kept.payins, s.kept.deals,
		s.kept.counts,
		s.books.feed, s.books.foldedFeed,
	} {
		kind.Clear()
	}
	s.bookings.clear()
	s.deposits.clear()
	s.moves.clear()
	s.completions.clear()
	s.agreements.clear()
	s.actions.clear()
}

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
