package sandbox

import (
	"time"

	"github.com/shopspring/decimal"
)

// Request is one request as the host saw it. It holds no secret: no header but
// the idempotency key, no body. Method and path end with "…" where more than
// 1,024 bytes were cut off.
type Request struct {
	Time           time.Time // on the host's clock
	Method         string
	Path           string
	Operation      string // operationId; empty when none was reached
	Status         int    // 0: the connection was closed without an answer
	Slug           string // of a refusal
	RequestID      string
	IdempotencyKey string
	Account        string // a client's id or self; empty without a session
	Fault          string // the kind of the fault that happened to it
}

// Requests answers the latest requests, oldest first, at most 4,096.
func (h *Host) Requests() []Request {
	entries := h.log.Entries()
	requests := make([]Request, len(entries))
	for i, entry := range entries {
		requests[i] = Request(entry)
	}
	return requests
}

// LedgerEntry is one side of a movement of money. The entries of one movement
// add up to zero in each currency.
type LedgerEntry struct {
	// Account is a client's id, an integrator's id, an escrow deal's id, or one of the host's own: faucet, clearing,
	// fees, outside.
	Account string
	// Amount is what the account gains, negative for what it gives, in units of the currency.
	Amount decimal.Decimal
	// Currency is the asset.
	Currency string
	// Movement names the movement that the entry belongs to.
	Movement string
	// Kind says what moved the money.
	Kind string
	// ResourceID is the payout, payin or escrow deal concerned, if there is one.
	ResourceID string
	// At is when it was entered, on the host's clock.
	At time.Time
}

// Ledger is a copy of the host's books.
type Ledger struct {
	// Entries are in the order they were made.
	Entries []LedgerEntry
	// Sums has the total of all entries by currency; every one is zero.
	Sums map[string]decimal.Decimal
	// Balances has what each account holds, by account and currency.
	Balances map[string]map[string]decimal.Decimal
}

// Ledger answers a copy of the books, up to date.
func (h *Host) Ledger() Ledger {
	books := h.platform.Ledger()
	entries := make([]LedgerEntry, len(books.Entries))
	for i, entry := range books.Entries {
		entries[i] = LedgerEntry(entry)
	}
	return Ledger{Entries: entries, Sums: books.Sums, Balances: books.Balances}
}
