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

// recordStore writes the changes of the state to the store. The rest of the state is derived from the stored records.
type recordStore struct {
	keeper       *store.Keeper
	holders      *store.Writer[*holder]
	contacts     *store.Writer[*contact]
	payouts      *store.Writer[*payout]
	transactions *store.Writer[*transaction]
	payins       *store.Writer[*payin]
	escrows      *store.Writer[*escrow]
	counts       *store.Writer[*counts]
	storedCounts counts // as last stored
}

// counts are the counters that continue after a restart.
type counts struct {
	Filled                                 decimal.Decimal
	Sequence, Movements, Finishes, Refunds int
	FoldedAt                               time.Time
}

// The ids of the stored records.
func (h *holder) RecordID() string         { return h.Key.Owner + "/" + h.Key.Account }
func (c *contact) RecordID() string        { return c.ID }
func (p *payout) RecordID() string         { return p.ID }
func (t *transaction) RecordID() string    { return t.ID }
func (p *payin) RecordID() string          { return p.ID }
func (e *escrow) RecordID() string         { return e.ID }
func (m *movement) RecordID() string       { return strconv.Itoa(m.Number) }
func (f *openingBalance) RecordID() string { return f.Currency + "/" + f.Account }
func (*counts) RecordID() string           { return "platform" }

// load reads the state. It reads each kind after the kinds that it refers to.
func (s *state) load(k *store.Keeper) {
	s.store.keeper = k
	s.store.counts = store.OpenWriter(k, "platform.counts", func(c *counts) {
		s.store.storedCounts = *c
		s.faucetFill, s.sequence, s.finishCount, s.refundCount = c.Filled, c.Sequence, c.Finishes, c.Refunds
		s.ledger.last, s.ledger.openingAt = c.Movements, c.FoldedAt
	})
	s.store.holders = store.OpenWriter(k, "platform.holder", func(h *holder) {
		s.indexHolder(h)
		s.applicantFields += len(h.KYB.Applicant)
	})
	s.store.contacts = store.OpenWriter(k, "platform.contact", func(c *contact) {
		s.linkEmail(c)
		s.contacts[c.ID], s.byDetails[c.detailsKey()] = c, c
	})
	s.store.payouts = store.OpenWriter(k, "platform.payout", s.loadPayout)
	s.sortPayouts()
	s.ledger.load(k, func(m *movement) {
		if p := s.payouts[m.ResourceID]; p != nil {
			p.traces.addMovement(m)
		}
	})
	s.inFlight.reorder(func(a, b *payout) int {
		return cmp.Compare(a.traces.movements[0].Number, b.traces.movements[0].Number)
	})
	s.store.transactions = store.OpenWriter(k, "platform.transaction", s.loadTransaction)
	s.store.payins = store.OpenWriter(k, "platform.payin", func(p *payin) {
		p.holder = s.holders[p.Account]
		for _, opened := range p.holder.Rails {
			if opened.ID == p.Terms.BankID {
				p.rail = opened
			}
		}
		s.payins[p.ID], s.payinsByTerms[payinKey{p.Account, p.Asked}] = p, p
	})
	s.store.escrows = store.OpenWriter(k, "platform.deal", func(d *escrow) {
		d.holder, s.escrows[d.ID] = s.holders[d.Account], d
		for _, action := range d.Actions {
			action.escrow = d
			s.actionApprovals += len(action.Approvals)
		}
	})
	s.bookings = loadIdempotencyRecords[string](k, "platform.booking")
	s.deposits = loadIdempotencyRecords[platformwire.Transaction](k, "platform.deposit")
	s.moves = loadIdempotencyRecords[platformwire.Payout](k, "platform.move")
	s.completions = loadIdempotencyRecords[platformwire.Payin](k, "platform.completion")
	s.escrowCreations = loadIdempotencyRecords[string](k, "platform.agreement")
	s.actions = loadIdempotencyRecords[string](k, "platform.action")
}

// indexHolder adds an account to every index.
func (s *state) indexHolder(h *holder) {
	s.holders[h.Key], s.wallets[h.Wallet] = h, h
	if h.isClient() {
		s.emails[clientEmail(h.Key.Owner, h.Client.Email)] = h
	} else {
		s.emails[integratorEmail(h.Client.Email)] = h
	}
}

// linkEmail finds the account with the email of a contact that is paid by email.
func (s *state) linkEmail(c *contact) {
	if to := c.To.Email; to != nil {
		to.holder = s.holders[to.Account]
	}
}

func (s *state) loadPayout(p *payout) {
	p.holder = s.holders[*p.Account]
	p.Account = &p.holder.Key
	if p.Receiver != nil {
		p.receiver = s.holders[*p.Receiver]
		p.Receiver = &p.receiver.Key
	}
	s.linkEmail(p.Contact)
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

// sortPayouts sorts the lists of payouts in the order in which the payouts were added.
func (s *state) sortPayouts() {
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
		s.unmatchedReturns.add(p)
	}
}

func (s *state) loadTransaction(entry *transaction) {
	h := s.holders[*entry.Account]
	entry.Account = &h.Key
	h.history.add(entry)
	s.transactionCount++
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
	now := counts{s.faucetFill, s.sequence, s.ledger.last, s.finishCount, s.refundCount, s.ledger.openingAt}
	if now != s.store.storedCounts {
		s.store.storedCounts = now
		s.store.counts.Put(&s.store.storedCounts)
	}
	s.store.keeper.Commit()
}

// clear deletes everything that is stored.
func (s *state) clear() {
	for _, kind := range []interface{ Clear() }{
		s.store.holders, s.store.contacts, s.store.payouts, s.store.transactions, s.store.payins, s.store.escrows,
		s.store.counts,
		s.ledger.feed, s.ledger.openingFeed,
	} {
		kind.Clear()
	}
	s.bookings.clear()
	s.deposits.clear()
	s.moves.clear()
	s.completions.clear()
	s.escrowCreations.clear()
	s.actions.clear()
}

// traces are the other records of a payout.
type traces struct {
	movements []*movement
	arrival   *transaction // of the receiver
	refund    *transaction // of the returned money
}

func (t *traces) addMovement(m *movement) { t.movements = append(t.movements, m) }

// finished is a payout and the time when it finished. It may have changed again since.
type finished struct {
	payout *payout
	at     time.Time
}

// finish records that a payout is final unless somebody moves it.
func (t *txn) finish(p *payout, at time.Time) {
	t.finishCount++
	p.FinishedAt, p.FinishNumber = at, t.finishCount
	t.store.payouts.Put(p)
	t.finished.push(finished{p, at})
}

// forgetFinished deletes payouts that finished long enough ago. A payout that nobody funded is not finished, because
// its key reopens it.
func (t *txn) forgetFinished() {
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
func (t *txn) forget(p *payout) {
	delete(t.payouts, p.ID)
	t.store.payouts.Delete(p)
	if p.Refund != nil && !p.Refund.Matched {
		t.unmatchedReturns.remove(p)
	}
	for _, id := range append(p.Earlier, p.Approval.ID) {
		delete(t.approvals, id)
	}
	for _, m := range p.traces.movements {
		t.ledger.forget(m, t.now)
	}
	t.drop(p.holder, p.transaction)
	t.drop(p.holder, p.traces.refund)
	t.drop(p.receiver, p.traces.arrival)

	at := scopedKey{Owner: p.Account.Owner, Account: p.Account.Account, Operation: "BookPayout", Key: p.Key}
	t.bookings.forget(at, func(id string) bool { return id == p.ID }, t.now)
	at.Operation = "MovePayout"
	for _, at.Key = range p.Moves {
		t.moves.forget(at, func(moved platformwire.Payout) bool { return moved.ID == p.ID }, t.now)
	}
}

// ForgetKeys forgets every idempotency key. Resources and money stay as they are.
func (p *Platform) ForgetKeys() {
	t := p.begin()
	defer p.commit()
	t.bookings.clear()
	t.deposits.clear()
	t.moves.clear()
	t.completions.clear()
	t.escrowCreations.clear()
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
