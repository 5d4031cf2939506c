package platform_test

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/api"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
)

// Whatever is asked, in whatever order: the books sum to zero per currency and per movement, nobody but the outside is
// overdrawn, and an account's balance is what its transactions say.
func TestBooksBalanceAfterAnyOperations(t *testing.T) {
	t.Parallel()
	bench := newBench(t)
	statuses := rapid.SampledFrom([]api.PayoutStatus{
		"awaiting_approval", "funding", "processing", "completed", "failed", "refunded", "expired",
	})
	rapid.Check(t, func(t *rapid.T) {
		b := bench
		b.Reset()
		accounts := []string{caller.Self, b.readyClient("a@example.com"), b.readyClient("b@example.com")}
		contacts := map[string][]string{}
		for _, account := range accounts {
			for _, contact := range []string{sepaContact, baseContact, farContact, `{"email":"b@example.com"}`} {
				contacts[account] = append(contacts[account], b.contact(account, contact).ID)
			}
		}
		var payouts []api.Payout
		owner := map[string]string{}
		amounts := rapid.Custom(func(t *rapid.T) decimal.Decimal {
			return decimal.New(rapid.Int64Range(1, 120_000_000).Draw(t, "micros"), -6)
		})
		currencies := rapid.SampledFrom([]api.Asset{api.AssetUSDC, api.AssetEURC})
		keys := rapid.SampledFrom([]string{"", "k1", "k2", "k3", "k4", "k5", "k6"})

		t.Repeat(map[string]func(*rapid.T){
			"deposit": func(t *rapid.T) {
				account := rapid.SampledFrom(accounts).Draw(t, "account")
				_, _ = b.deposit(account, keys.Draw(t, "key"), amounts.Draw(t, "amount").String(), currencies.Draw(t, "currency"))
			},
			"book": func(t *rapid.T) {
				account := rapid.SampledFrom(accounts).Draw(t, "account")
				body := api.PayoutCreate{
					ContactID: rapid.SampledFrom(contacts[account]).Draw(t, "contact"),
					Amount:    amounts.Draw(t, "amount"), Currency: currencies.Draw(t, "currency"),
				}
				if booked, err := b.book(account, keys.Draw(t, "key"), body); err == nil {
					payout := read[api.Payout](b, booked)
					payouts, owner[payout.ID] = append(payouts, payout), account
				}
			},
			"confirm": func(t *rapid.T) {
				if len(payouts) > 0 {
					payout := rapid.SampledFrom(payouts).Draw(t, "payout")
					_, _ = b.confirm(owner[payout.ID], payout)
				}
			},
			"move": func(t *rapid.T) {
				if len(payouts) > 0 {
					payout := rapid.SampledFrom(payouts).Draw(t, "payout")
					_, _ = b.move(owner[payout.ID], keys.Draw(t, "key"), payout.ID, statuses.Draw(t, "to"))
				}
			},
			"wait": func(t *rapid.T) {
				b.clock.Advance(time.Duration(rapid.SampledFrom([]int{100, 300, 30_000, 120_000}).Draw(t, "ms")) * time.Millisecond)
			},
			"faucet": func(t *rapid.T) {
				balance := amounts.Draw(t, "balance")
				b.set(func(s *platform.Settings) { s.FaucetBalance = balance })
			},
			"returns": func(t *rapid.T) {
				after := platform.Duration(rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "after"))
				fee := rapid.SampledFrom([]decimal.Decimal{{}, decimal.RequireFromString("0.1"), decimal.NewFromInt(50)}).Draw(t, "fee")
				b.set(func(s *platform.Settings) { s.ReturnAfter, s.ReturnFee = after, fee })
			},
			"": func(t *rapid.T) {
				checkBooks(t, b.Ledger())
				for _, account := range accounts {
					checkTransactions(t, b, account)
				}
			},
		})
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
	if account == caller.Self {
		book = "acc_1"
	}
	want := map[api.Asset]decimal.Decimal{}
	last := time.Time{}
	for params := (api.ListTransactionsParams{Limit: 100}); ; {
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
			case entry.Status == api.TransactionStatusFailed:
			case entry.Direction == api.TransactionDirectionIn:
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
	for _, currency := range []api.Asset{api.AssetUSDC, api.AssetEURC} {
		if got := ledger.Balances[book][string(currency)]; !got.Equal(want[currency]) {
			t.Fatalf("%s holds %s %s, its transactions say %s", account, got, currency, want[currency])
		}
	}
}
