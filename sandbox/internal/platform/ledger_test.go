package platform_test

import (
	"maps"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Whatever is asked, in whatever order: the books sum to zero per currency and per movement, nobody but the outside is
// overdrawn, an account's balance is what its transactions say, and a deal holds its money while it is active.
func TestBooksBalanceAfterAnyOperations(t *testing.T) {
	t.Parallel()
	bench := newBench(t)
	rapid.Check(t, func(t *rapid.T) {
		w := newWalk(bench)
		steps := map[string]func(*rapid.T){"": func(t *rapid.T) {
			checkBooks(t, w.Ledger())
			for _, account := range w.accounts {
				checkTransactions(t, w.bench, account)
			}
		}}
		for _, kind := range []map[string]func(*rapid.T){w.faucetSteps(), w.payoutSteps(), w.payinSteps(),
			w.escrowSteps()} {
			maps.Copy(steps, kind)
		}
		t.Repeat(steps)
		w.checkDeals(t)
	})
}

func checkBooks(t *rapid.T, ledger platform.Ledger) {
	movements := map[string]decimal.Decimal{}
	for _, entry := range ledger.Entries {
		id := entry.Movement + " " + entry.Currency
		movements[id] = movements[id].Add(entry.Amount)
	}
	for id, sum := range movements {
		if !sum.IsZero() {
			t.Fatalf("movement %s sums to %s", id, sum)
		}
	}
	for currency, sum := range ledger.Sums {
		if !sum.IsZero() {
			t.Fatalf("the entries in %s sum to %s", currency, sum)
		}
	}
	for account, balances := range ledger.Balances {
		for currency, balance := range balances {
			if account != "outside" && balance.IsNegative() {
				t.Fatalf("%s holds %s %s", account, balance, currency)
			}
		}
	}
}

func checkTransactions(t *rapid.T, b *bench, account string) {
	book := account
	if account == wire.Self {
		book = "acc_1"
	}
	want := map[platformwire.Asset]decimal.Decimal{}
	last := time.Time{}
	for params := (platformwire.ListTransactionsParams{Limit: 100}); ; {
		page, err := b.transactions(account, params)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range page.Items {
			if !last.IsZero() && entry.CreatedAt.After(last) {
				t.Fatalf("%s is newer than what is listed before it", entry.ID)
			}
			last = entry.CreatedAt
			switch {
			case entry.Status == platformwire.TransactionStatusFailed:
			case entry.Direction == platformwire.TransactionDirectionIn:
				want[entry.Currency] = want[entry.Currency].Add(entry.Amount)
			default:
				want[entry.Currency] = want[entry.Currency].Sub(entry.Amount)
			}
		}
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			break
		}
	}
	ledger := b.Ledger()
	for _, currency := range []platformwire.Asset{platformwire.AssetUSDC, platformwire.AssetEURC} {
		if got := ledger.Balances[book][string(currency)]; !got.Equal(want[currency]) {
			t.Fatalf("%s holds %s %s, its transactions say %s", account, got, currency, want[currency])
		}
	}
}
