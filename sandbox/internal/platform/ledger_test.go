package platform_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// After any operations in any order: the ledger sums to zero per currency and movement, only the outside account is
// negative, balances equal the sums of transactions, and an active escrow holds its money.
func TestLedgerBalancesAfterAnyOperations(t *testing.T) {
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
		w.checkEscrows(t)
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

// walk makes random operations and remembers the resources. Refusals are fine: only the ledger is checked.
type walk struct {
	*bench
	accounts []string
	contacts map[string][]string
	banks    map[string][]string // virtual accounts in euros

	payouts []owned[platformwire.Payout]
	payins  []owned[platformwire.Payin]
	escrows []owned[platformwire.Escrow]
	actions []owned[platformwire.EscrowAction]
}

// owned is a resource with the account and, for an action, the escrow that it belongs to.
type owned[T any] struct {
	account, escrow string
	resource        T
}

// What the steps draw from.
var (
	amounts = rapid.Custom(func(t *rapid.T) decimal.Decimal {
		most := rapid.SampledFrom([]int64{5_000_000, 30_000_000, 120_000_000}).Draw(t, "most")
		return decimal.New(rapid.Int64Range(1, most).Draw(t, "micros"), -6)
	})
	currencies     = rapid.SampledFrom([]platformwire.Asset{platformwire.AssetUSDC, platformwire.AssetEURC})
	keys           = rapid.SampledFrom([]string{"", "k1", "k2", "k3", "k4", "k5", "k6"})
	payoutStatuses = rapid.SampledFrom([]platformwire.PayoutStatus{
		"awaiting_approval", "funding", "processing", "completed", "failed", "refunded", "expired",
	})
	actionTypes = rapid.SampledFrom([]platformwire.EscrowActionType{"approve", "release", "refund"})
	windows     = rapid.SampledFrom([]platformwire.EscrowDuration{"1s", "90s", "2m"})
	pauses      = rapid.SampledFrom([]time.Duration{100 * time.Millisecond, 300 * time.Millisecond, time.Second,
		15 * time.Second, 2 * time.Minute})
)

// newWalk starts with the integrator and two clients, one of them verified, with everyone's contacts and funds.
func newWalk(b *bench) *walk {
	b.Reset()
	b.set(func(s *deployment.Settings) { *s = deployment.DefaultSettings() })
	w := &walk{bench: b, contacts: map[string][]string{}, banks: map[string][]string{}}
	w.accounts = []string{wire.Self, b.readyClient("a@example.com"), b.readyClient("b@example.com")}
	b.verify(w.accounts[1])
	for _, account := range w.accounts {
		for _, contact := range []string{sepaContact, baseContact, farContact, `{"email":"b@example.com"}`} {
			w.contacts[account] = append(w.contacts[account], b.contact(account, contact).ID)
		}
		for _, asset := range []platformwire.Asset{platformwire.AssetUSDC, platformwire.AssetEURC} {
			_, err := b.deposit(account, "first-"+string(asset), "100", asset)
			require.NoError(b, err)
		}
	}
	for _, account := range w.accounts[:2] {
		bank := b.virtualAccount(account, platformwire.RailCreate{Method: platformwire.BankMethodSEPA, Currency: "EUR"})
		w.banks[account] = append(w.banks[account], bank.ID)
	}
	return w
}

func (w *walk) account(t *rapid.T) string { return rapid.SampledFrom(w.accounts).Draw(t, "account") }

// one draws one of the latest resources, if there are any.
func one[T any](t *rapid.T, met []owned[T]) (owned[T], bool) {
	if len(met) == 0 {
		return owned[T]{}, false
	}
	return met[len(met)-1-rapid.IntRange(0, min(len(met)-1, 3)).Draw(t, "which")], true
}

// all returns what every account reads, in JSON.
func (w *walk) all() string {
	var read []string
	take := func(response wire.Response, err error) {
		if err != nil {
			read = append(read, err.Error())
			return
		}
		read = append(read, render(w, response).Body.String())
	}
	for _, account := range w.accounts {
		me := w.as(account, "")
		take(w.ListTransactions(me, platformwire.ListTransactionsParams{Limit: 100}))
		take(w.ListRails(me, platformwire.ListRailsParams{}))
		take(w.GetKYB(me))
		take(w.GetClient(me, account))
		for _, contact := range w.contacts[account] {
			take(w.GetContactCapabilities(me, contact))
		}
	}
	for _, payout := range w.payouts {
		take(w.GetPayout(w.as(payout.account, ""), payout.resource.ID))
	}
	for _, payin := range w.payins {
		take(w.GetPayin(w.as(payin.account, ""), payin.resource.ID))
	}
	for _, escrow := range w.escrows {
		take(w.SyncEscrow(w.as(escrow.account, ""), escrow.resource.ID))
	}
	return strings.Join(read, "\n")
}

// faucetSteps deposit money, advance the clock, and change settings.
func (w *walk) faucetSteps() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"deposit": func(t *rapid.T) {
			_, _ = w.deposit(w.account(t), keys.Draw(t, "key"), amounts.Draw(t, "amount").String(),
				currencies.Draw(t, "currency"))
		},
		"wait": func(t *rapid.T) { w.clock.Advance(pauses.Draw(t, "pause")) },
		"reopen": func(*rapid.T) {
			before := w.all()
			w.reopen()
			require.Equal(w, before, w.all())
		},
		"faucet": func(t *rapid.T) {
			balance := amounts.Draw(t, "balance").Mul(decimal.NewFromInt(10))
			w.set(func(s *deployment.Settings) { s.FaucetBalance = balance })
		},
		"returns": func(t *rapid.T) {
			after := deployment.Duration(rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "after"))
			fee := rapid.SampledFrom([]decimal.Decimal{{}, decimal.RequireFromString("0.1"), decimal.NewFromInt(50)}).
				Draw(t, "fee")
			w.set(func(s *deployment.Settings) { s.ReturnAfter, s.ReturnFee = after, fee })
		},
	}
}

// payoutSteps book, confirm and move payouts.
func (w *walk) payoutSteps() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"book": func(t *rapid.T) {
			account := w.account(t)
			booked, err := w.book(account, keys.Draw(t, "key"), platformwire.PayoutCreate{
				ContactID: rapid.SampledFrom(w.contacts[account]).Draw(t, "contact"),
				Amount:    amounts.Draw(t, "amount"), Currency: currencies.Draw(t, "currency"),
			})
			if err == nil {
				w.payouts = append(w.payouts,
					owned[platformwire.Payout]{account: account, resource: read[platformwire.Payout](w, booked)})
			}
		},
		"confirm": func(t *rapid.T) {
			if payout, ok := one(t, w.payouts); ok && payout.resource.Approval != nil {
				_, _ = w.confirm(payout.account, payout.resource)
			}
		},
		"move": func(t *rapid.T) {
			if payout, ok := one(t, w.payouts); ok {
				_, _ = w.move(payout.account, keys.Draw(t, "key"), payout.resource.ID, payoutStatuses.Draw(t, "to"))
			}
		},
	}
}

// payinSteps quote payins over a bank or from another chain, and take them further.
func (w *walk) payinSteps() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"quote": func(t *rapid.T) {
			account := w.account(t)
			body := platformwire.PayinCreate{Amount: amounts.Draw(t, "amount").Round(2), Currency: "USDT",
				OriginChainID: 1}
			if banks := w.banks[account]; len(banks) > 0 && rapid.Bool().Draw(t, "bank") {
				body.Currency, body.OriginChainID, body.BankID = "EUR", 0, banks[0]
			}
			if quoted, err := w.payin(account, body); err == nil {
				w.payins = append(w.payins, owned[platformwire.Payin]{account: account, resource: quoted})
			}
		},
		"instruct": func(t *rapid.T) {
			if payin, ok := one(t, w.payins); ok {
				_, _ = w.instructions(payin.account, payin.resource.ID)
			}
		},
		"arrive": func(t *rapid.T) {
			if payin, ok := one(t, w.payins); ok {
				_, _ = w.completePayin(payin.account, keys.Draw(t, "key"), payin.resource.ID)
			}
		},
	}
}

// escrowSteps create escrows, prepare and confirm their actions, and read them.
func (w *walk) escrowSteps() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"agree": func(t *rapid.T) {
			account := w.account(t)
			payee := rapid.SampledFrom([]string{
				"0x1111111111111111111111111111111111111111", w.client(w.accounts[2]).BaseSmartWallet,
			}).Draw(t, "payee")
			escrow, err := w.escrow(account, keys.Draw(t, "key"), platformwire.EscrowCreate{
				Amount: amounts.Draw(t, "amount"), Currency: currencies.Draw(t, "currency"), Payee: payee,
				ApproveWithin: windows.Draw(t, "approveWithin"), HoldFor: windows.Draw(t, "holdFor"),
				RefundableFor: "90d",
			})
			if err == nil {
				w.escrows = append(w.escrows, owned[platformwire.Escrow]{account: account, resource: escrow})
				w.actions = append(w.actions, owned[platformwire.EscrowAction]{account: account, escrow: escrow.ID,
					resource: *escrow.Action})
			}
		},
		"prepare": func(t *rapid.T) {
			if escrow, ok := one(t, w.escrows); ok {
				action, err := w.prepare(escrow.account, keys.Draw(t, "key"), escrow.resource.ID,
					actionTypes.Draw(t, "type"))
				if err == nil {
					w.actions = append(w.actions,
						owned[platformwire.EscrowAction]{account: escrow.account, escrow: escrow.resource.ID,
							resource: action})
				}
			}
		},
		"act": func(t *rapid.T) {
			if action, ok := one(t, w.actions); ok {
				_, _ = w.act(action.account, action.escrow, action.resource)
			}
		},
		"carry out": func(t *rapid.T) { // prepare and act in one step, as callers do
			if escrow, ok := one(t, w.escrows); ok {
				if action, err := w.prepare(escrow.account, "", escrow.resource.ID,
					actionTypes.Draw(t, "type")); err == nil {
					_, _ = w.act(escrow.account, escrow.resource.ID, action)
				}
			}
		},
		"sync": func(t *rapid.T) {
			if escrow, ok := one(t, w.escrows); ok {
				_, _ = w.sync(escrow.account, escrow.resource.ID)
			}
		},
	}
}

// checkEscrows compares the money of each escrow with its status, read after the throttle.
func (w *walk) checkEscrows(t *rapid.T) {
	w.set(func(s *deployment.Settings) { s.ChainReadEvery = 0 })
	defer w.set(func(s *deployment.Settings) { s.ChainReadEvery = deployment.DefaultSettings().ChainReadEvery })
	ledger := w.Ledger()
	for _, escrow := range w.escrows {
		read, err := w.sync(escrow.account, escrow.resource.ID)
		if err != nil {
			t.Fatal(err)
		}
		want := decimal.Decimal{}
		if read.Status == platformwire.EscrowStatusActive {
			want = read.Amount
		}
		if held := ledger.Balances[read.ID][string(read.Currency)]; !held.Equal(want) {
			t.Fatalf("escrow %s is %s and holds %s of %s", read.ID, read.Status, held, read.Amount)
		}
		if slices.Contains(read.AvailableActions,
			platformwire.EscrowActionTypeApprove) != (read.Status == platformwire.EscrowStatusPendingApproval) {
			t.Fatalf("escrow %s is %s and offers %v", read.ID, read.Status, read.AvailableActions)
		}
	}
}
