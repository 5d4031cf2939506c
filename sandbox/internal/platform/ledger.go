package platform

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"
)

// Book accounts of the host beside those of integrators, clients and escrow deals. Only the outside may be overdrawn: it stands for
// everything that is not in the host.
const (
	bookFaucet   = "faucet"   // pays every emulated credit
	bookClearing = "clearing" // holds payouts that are funded and not settled
	bookFees     = "fees"     // what payouts cost
	bookOutside  = "outside"  // banks, other chains, everyone else
)

// LedgerEntry is one side of a movement. The entries of one movement add up to zero in each currency.
type LedgerEntry struct {
	// Account is a client's id, an integrator's id, an escrow deal's id, or one of the host's own: faucet, clearing,
	// fees, outside.
	Account string `json:"account"`
	// Amount is what the account gains, negative for what it gives, in units of the currency.
	Amount decimal.Decimal `json:"amount"`
	// Currency is the asset.
	Currency string `json:"currency"`
	// Movement names the movement that the entry belongs to.
	Movement string `json:"movement"`
	// Kind says what moved the money, such as deposit, payout_funding or payout_settlement.
	Kind string `json:"kind"`
	// ResourceID is the payout, payin or escrow deal concerned, if there is one.
	ResourceID string `json:"resourceId,omitempty"`
	// At is when it was entered, on the host's clock.
	At time.Time `json:"at"`
}

// Ledger is a copy of the books.
type Ledger struct {
	// Entries are in the order they were made.
	Entries []LedgerEntry `json:"entries"`
	// Sums has the total of all entries by currency; every one is zero.
	Sums map[string]decimal.Decimal `json:"sums"`
	// Balances has what each account holds, by account and currency.
	Balances map[string]map[string]decimal.Decimal `json:"balances"`
}

type holding struct{ account, currency string }

// books is the double-entry ledger. Money only moves by pairs, so it cannot fail to balance.
type books struct {
	entries   []LedgerEntry
	balances  map[holding]decimal.Decimal
	movements int
}

func newBooks() books { return books{balances: map[holding]decimal.Decimal{}} }

func (b *books) balance(account, currency string) decimal.Decimal {
	return b.balances[holding{account, currency}]
}

// movement is money that moves at one instant for one reason.
type movement struct {
	books                *books
	id, kind, resourceID string
	at                   time.Time
}

func (b *books) movement(kind, resourceID string, at time.Time) movement {
	b.movements++
	return movement{books: b, id: fmt.Sprintf("mv_%06d", b.movements), kind: kind, resourceID: resourceID, at: at}
}

// transfer moves an amount from one account to the other; zero moves nothing.
func (m movement) transfer(from, to, currency string, amount decimal.Decimal) {
	if amount.IsZero() {
		return
	}
	m.enter(from, currency, amount.Neg())
	m.enter(to, currency, amount)
}

func (m movement) enter(account, currency string, amount decimal.Decimal) {
	b := m.books
	b.entries = append(b.entries, LedgerEntry{
		Account: account, Amount: amount, Currency: currency,
		Movement: m.id, Kind: m.kind, ResourceID: m.resourceID, At: m.at,
	})
	at := holding{account, currency}
	b.balances[at] = b.balances[at].Add(amount)
}

// view copies the books. The sums are added up from the entries, not from the balances.
func (b *books) view() Ledger {
	ledger := Ledger{
		Entries:  append([]LedgerEntry{}, b.entries...),
		Sums:     map[string]decimal.Decimal{},
		Balances: map[string]map[string]decimal.Decimal{},
	}
	for _, entry := range b.entries {
		ledger.Sums[entry.Currency] = ledger.Sums[entry.Currency].Add(entry.Amount)
	}
	for at, balance := range b.balances {
		if ledger.Balances[at.account] == nil {
			ledger.Balances[at.account] = map[string]decimal.Decimal{}
		}
		ledger.Balances[at.account][at.currency] = balance
	}
	return ledger
}
