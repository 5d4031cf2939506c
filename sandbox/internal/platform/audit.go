package platform

import (
	"crypto/sha256"
	"iter"
	"slices"
	"sync"

	"github.com/shopspring/decimal"
)

// AuditedPayment is what was done for one idempotency key of one account.
type AuditedPayment struct {
	Account     string // a client's id, or self
	Key         string
	Requests    int
	Bodies      int
	Confirms    int
	PayoutIDs   []string
	Approvals   []AuditedApproval
	Fundings    int
	Settlements int
	Returns     int
	Paid        decimal.Decimal
	Returned    decimal.Decimal
	Currency    string
	Status      string
}

// AuditedApproval is an approval whose signature was valid.
type AuditedApproval struct {
	ID                string
	PayoutID          string
	PayloadDigest     [sha256.Size]byte
	Amount            decimal.Decimal
	ContactID         string
	Fee               decimal.Decimal
	DestinationAmount decimal.Decimal
	Funded            bool
}

// BodyDigest is a short digest of a body.
type BodyDigest [16]byte

type auditID struct{ account, key string }

type auditRecord struct {
	AuditedPayment
	bodies []BodyDigest // that were different
}

// Audit counts what the host did for each payment, so that a test can prove that money moved once. It keeps a small
// record for each idempotency key, also after the host has forgotten the payout. A nil Audit counts nothing. It is safe
// for concurrent use.
type Audit struct {
	mu       sync.Mutex
	payments map[auditID]*auditRecord
	byPayout map[string]*auditRecord
	order    []*auditRecord
}

// NewAudit returns an audit without payments.
func NewAudit() *Audit {
	a := &Audit{}
	a.Reset()
	return a
}

// Reset forgets every payment.
func (a *Audit) Reset() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.payments, a.byPayout, a.order = map[auditID]*auditRecord{}, map[string]*auditRecord{}, nil
}

// of returns the payment of a key. It must be called with the lock held.
func (a *Audit) of(account, key string) *auditRecord {
	at := auditID{account, key}
	found := a.payments[at]
	if found == nil {
		found = &auditRecord{AuditedPayment: AuditedPayment{Account: account, Key: key}}
		a.payments[at] = found
		a.order = append(a.order, found)
	}
	return found
}

// Requested counts a request that books a payout. body is nil if the host did not read it.
func (a *Audit) Requested(account, key string, body *BodyDigest) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	requested := a.of(account, key)
	requested.Requests++
	if body != nil && !slices.Contains(requested.bodies, *body) {
		requested.bodies = append(requested.bodies, *body)
		requested.Bodies = len(requested.bodies)
	}
}

// Confirmed counts a request that confirms a payout.
func (a *Audit) Confirmed(payoutID string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if requested := a.byPayout[payoutID]; requested != nil {
		requested.Confirms++
	}
}

// Booked adds a new payout.
func (a *Audit) Booked(account, key, payoutID, currency, status string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	booked := a.of(account, key)
	booked.PayoutIDs = append(booked.PayoutIDs, payoutID)
	booked.Currency, booked.Status = currency, status
	a.byPayout[payoutID] = booked
}

// Signed adds an approval with a valid signature, once.
func (a *Audit) Signed(account, key string, signed AuditedApproval, payload []byte) {
	if a == nil {
		return
	}
	signed.PayloadDigest = sha256.Sum256(payload)
	a.mu.Lock()
	defer a.mu.Unlock()
	paid := a.of(account, key)
	if !slices.ContainsFunc(paid.Approvals, func(known AuditedApproval) bool { return known.ID == signed.ID }) {
		paid.Approvals = append(paid.Approvals, signed)
	}
}

// Funded counts money that leaves the account.
func (a *Audit) Funded(account, key, approvalID string, amount decimal.Decimal) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	paid := a.of(account, key)
	paid.Fundings++
	paid.Paid = addAmount(paid.Paid, amount)
	for i := range paid.Approvals {
		if paid.Approvals[i].ID == approvalID {
			paid.Approvals[i].Funded = true
		}
	}
}

// Settled counts money that arrives.
func (a *Audit) Settled(account, key string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.of(account, key).Settlements++
}

// Returned counts money that comes back.
func (a *Audit) Returned(account, key string, amount decimal.Decimal) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	paid := a.of(account, key)
	paid.Returns++
	paid.Returned = addAmount(paid.Returned, amount)
}

// Moved sets the status of the latest payout.
func (a *Audit) Moved(account, key, payoutID, status string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	moved := a.of(account, key)
	if last := len(moved.PayoutIDs); last == 0 || moved.PayoutIDs[last-1] == payoutID {
		moved.Status = status
	}
}

// addAmount shares the memory of the first amount.
func addAmount(sum, amount decimal.Decimal) decimal.Decimal {
	if sum.IsZero() {
		return amount
	}
	return sum.Add(amount)
}

// Payment returns the payment of a key.
func (a *Audit) Payment(account, key string) (AuditedPayment, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := a.payments[auditID{account, key}]
	if found == nil {
		return AuditedPayment{}, false
	}
	return found.copied(), true
}

// At returns the payment with a number, in the order in which they began, from 0.
func (a *Audit) At(number int) (AuditedPayment, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if number < 0 || number >= len(a.order) {
		return AuditedPayment{}, false
	}
	return a.order[number].copied(), true
}

// All iterates over the payments, in the order in which they began. It holds the lock for one payment at a time.
func (a *Audit) All() iter.Seq[AuditedPayment] {
	return func(yield func(AuditedPayment) bool) {
		for number := 0; ; number++ {
			next, ok := a.At(number)
			if !ok || !yield(next) {
				return
			}
		}
	}
}

// copied shares nothing that changes.
func (p *auditRecord) copied() AuditedPayment {
	copied := p.AuditedPayment
	copied.PayoutIDs, copied.Approvals = slices.Clone(p.PayoutIDs), slices.Clone(p.Approvals)
	return copied
}
