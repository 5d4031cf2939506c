package platform

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// Ledger accounts of the host, besides those of integrators, clients and escrows. Only accountOutside may be negative:
// it stands for everything that is not in the host.
const (
	accountFaucet   = "faucet"   // pays every emulated credit
	accountClearing = "clearing" // holds payouts that are funded and not settled
	accountFees     = "fees"     // fees of payouts
	accountOutside  = "outside"  // banks, other chains, everyone else
)

// LedgerEntry is one side of a movement. The entries of a movement add up to zero in each currency.
type LedgerEntry struct {
	// Account is a client's id, an integrator's id, an escrow's id, or one of the host's own: faucet, clearing, fees,
	// outside.
	Account string `json:"account"`
	// Amount is what the account receives, or a negative amount that it pays, in units of the currency.
	Amount decimal.Decimal `json:"amount"`
	// Currency is the asset.
	Currency string `json:"currency"`
	// Movement identifies the entry's movement.
	Movement string `json:"movement"`
	// Kind says why the money moved, such as deposit, payout_funding or payout_settlement. It is forgotten for the sums
	// of deleted payouts.
	Kind string `json:"kind"`
	// ResourceID is the payout, payin or escrow, if there is one.
	ResourceID string `json:"resourceId,omitempty"`
	// At is the time of the entry, on the host's clock.
	At time.Time `json:"at"`
	// Seeded reports that -seed of the command made the movement.
	Seeded bool `json:"seeded,omitzero"`
}

// Ledger is a copy of the host's ledger.
type Ledger struct {
	// Entries are in the order they were made.
	Entries []LedgerEntry `json:"entries"`
	// Sums has the total of all entries by currency. Each total is zero.
	Sums map[string]decimal.Decimal `json:"sums"`
	// Balances has the balance of each account, by account and currency.
	Balances map[string]map[string]decimal.Decimal `json:"balances"`
}

type balanceKey struct{ account, currency string }

// ledger is the double-entry ledger. Money moves only in pairs, so the ledger always balances. When movements are
// deleted, their amounts are added to one sum for each account and currency.
type ledger struct {
	movements []*movement // in the order they were made
	balances  map[balanceKey]decimal.Decimal
	last      int // the number of the last movement
	entries   int // of the stored movements

	openings  map[balanceKey]*openingBalance
	openingAt time.Time // time of the last deletion
	forgotten int       // deleted movements whose places are still in the list

	feed        *store.Writer[*movement]
	openingFeed *store.Writer[*openingBalance]
}

func newLedger() ledger {
	return ledger{balances: map[balanceKey]decimal.Decimal{}, openings: map[balanceKey]*openingBalance{}}
}

// openingBalance is the sum of all deleted movements for one account and currency.
type openingBalance struct {
	Account, Currency string
	Sum               decimal.Decimal
}

// load reads the ledger, and calls a function with each movement.
func (b *ledger) load(k *store.Keeper, each func(*movement)) {
	b.openingFeed = store.OpenWriter(k, "platform.folded", func(f *openingBalance) {
		at := balanceKey{f.Account, f.Currency}
		b.openings[at] = f
		b.balances[at] = f.Sum
	})
	b.feed = store.OpenWriter(k, "platform.movement", func(m *movement) {
		b.movements = append(b.movements, m)
		for _, t := range m.Transfers {
			b.apply(t)
		}
		each(m)
	})
}

// apply moves the money of a transfer.
func (b *ledger) apply(t transfer) {
	b.entries += 2
	b.balances[balanceKey{t.From, t.Currency}] = b.balances[balanceKey{t.From, t.Currency}].Sub(t.Amount)
	b.balances[balanceKey{t.To, t.Currency}] = b.balances[balanceKey{t.To, t.Currency}].Add(t.Amount)
}

// addOpening adds to the sums of deleted movements.
func (b *ledger) addOpening(at balanceKey, amount decimal.Decimal) {
	sum := b.openings[at]
	if sum == nil {
		sum = &openingBalance{Account: at.account, Currency: at.currency}
		b.openings[at] = sum
	}
	sum.Sum = sum.Sum.Add(amount)
	b.openingFeed.Put(sum)
}

func (b *ledger) balance(account, currency string) decimal.Decimal {
	return b.balances[balanceKey{account, currency}]
}

// movement is money that moves at one time for one reason.
type movement struct {
	Number           int
	Kind, ResourceID string
	At               time.Time
	Seeded           bool       `json:",omitzero"`
	Transfers        []transfer // empty after it was deleted
}

// transfer is an amount that moves from one account to another: two entries of the ledger.
type transfer struct {
	From, To, Currency string
	Amount             decimal.Decimal
}

// movement starts a movement. With its first transfer it becomes a part of the ledger.
func (b *ledger) movement(kind, resourceID string, at time.Time) *movementBuilder {
	b.last++
	return &movementBuilder{b, &movement{Number: b.last, Kind: kind, ResourceID: resourceID, At: at}}
}

// movementBuilder collects the transfers of a movement.
type movementBuilder struct {
	ledger *ledger
	*movement
}

// transfer moves an amount from one account to another. It ignores zero.
func (m *movementBuilder) transfer(from, to, currency string, amount decimal.Decimal) *movement {
	if amount.IsZero() {
		return m.movement
	}
	b := m.ledger
	if len(m.Transfers) == 0 {
		b.movements = append(b.movements, m.movement)
	}
	created := transfer{from, to, currency, amount}
	m.Transfers = append(m.Transfers, created)
	b.apply(created)
	b.feed.Put(m.movement)
	return m.movement
}

// forget deletes a movement and adds it to the sums. Balances stay as they are.
func (b *ledger) forget(m *movement, now time.Time) {
	if len(m.Transfers) == 0 {
		return
	}
	for _, t := range m.Transfers {
		b.addOpening(balanceKey{t.From, t.Currency}, t.Amount.Neg())
		b.addOpening(balanceKey{t.To, t.Currency}, t.Amount)
	}
	b.feed.Delete(m)
	b.entries -= 2 * len(m.Transfers)
	m.Transfers, b.openingAt = nil, now
	if b.forgotten++; 2*b.forgotten > len(b.movements) {
		b.movements = slices.DeleteFunc(b.movements, func(m *movement) bool { return len(m.Transfers) == 0 })
		b.forgotten = 0
	}
}

// view copies the ledger. It adds up the sums from the entries, and not from the balances.
func (b *ledger) view() Ledger {
	ledger := Ledger{
		Entries:  append(make([]LedgerEntry, 0, b.entries+len(b.openings)), b.openingEntries()...),
		Sums:     map[string]decimal.Decimal{},
		Balances: map[string]map[string]decimal.Decimal{},
	}
	for _, m := range b.movements {
		entry := LedgerEntry{
			Movement: movementID(m.Number), Kind: m.Kind, ResourceID: m.ResourceID, At: m.At, Seeded: m.Seeded,
		}
		for _, t := range m.Transfers {
			entry.Currency = t.Currency
			entry.Account, entry.Amount = t.From, t.Amount.Neg()
			ledger.Entries = append(ledger.Entries, entry)
			entry.Account, entry.Amount = t.To, t.Amount
			ledger.Entries = append(ledger.Entries, entry)
		}
	}
	for _, entry := range ledger.Entries {
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

// openingEntries returns the sums of deleted movements, as one movement before all others.
func (b *ledger) openingEntries() []LedgerEntry {
	var entries []LedgerEntry
	for at, sum := range b.openings {
		if !sum.Sum.IsZero() {
			entries = append(entries, LedgerEntry{
				Account: at.account, Amount: sum.Sum, Currency: at.currency, Movement: movementID(0), Kind: "forgotten",
				At: b.openingAt,
			})
		}
	}
	slices.SortFunc(entries, func(x, y LedgerEntry) int {
		return cmp.Or(strings.Compare(x.Account, y.Account), strings.Compare(x.Currency, y.Currency))
	})
	return entries
}

func movementID(number int) string { return fmt.Sprintf("mv_%06d", number) }

// maxAmountDigits limits the amounts that the host computes with.
const maxAmountDigits = 36

// checkAmount refuses an amount that is not positive, is too long, or has more decimals than its token.
func checkAmount(amount decimal.Decimal, decimals int32) error {
	return checkAmountOf("amount", amount, decimals)
}

// checkAmountOf is checkAmount for a field with another name.
func checkAmountOf(field string, amount decimal.Decimal, decimals int32) error {
	exponent := int(amount.Exponent()) // above zero only for a JSON number with an exponent, such as 1e2
	switch {
	case amount.NumDigits()+max(exponent, 0) > maxAmountDigits || exponent < -maxAmountDigits:
		return wire.InvalidField(field, "decimal_max_digits",
			fmt.Sprintf("An amount has at most %d digits.", maxAmountDigits))
	case !amount.IsPositive():
		return wire.InvalidField(field, "greater_than", "The amount must be greater than zero.")
	case !amount.Equal(amount.Truncate(decimals)):
		return wire.InvalidField(field, "amount_precision", fmt.Sprintf("The currency has %d decimals.", decimals))
	}
	return nil
}
