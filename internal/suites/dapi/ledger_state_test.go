package dapi_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// bookkeeper keeps rows of a ledger by its changes, and the position with them, as one database transaction would.
type bookkeeper struct {
	*world
	account *dapi.Account
	params  dapi.ChangesParams
	stored  []byte // the position
	rows    map[dapi.TransactionID]dapi.Transaction
}

// run deals with the changes since the stored position, and is killed after so many if that is not negative.
func (b *bookkeeper) run(killedAfter int) {
	b.Helper()
	params := b.params
	if b.stored != nil {
		require.NoError(b, json.Unmarshal(b.stored, &params.Position))
	}
	var last time.Time
	for change, err := range b.account.Transactions.Changes(b.Context(), params) {
		require.NoError(b, err)
		if killedAfter--; killedAfter == -1 {
			return
		}
		entry := change.Transaction
		row, known := b.rows[entry.ID]
		require.Equal(b, row.Status, change.Previous, "%s: a change is delivered once for each position", entry.ID)
		require.NotEqual(b, entry.Status, change.Previous)
		require.False(b, known && row.Status.Final(), "what has settled does not change")
		require.False(b, entry.CreatedAt.Before(last), "the oldest first")
		require.False(b, change.LastLook)
		last, b.rows[entry.ID] = entry.CreatedAt, entry
		b.stored, err = json.Marshal(change.Position)
		require.NoError(b, err)
	}
}

// compare holds the rows to the ledger, and their sum to the balance.
func (b *bookkeeper) compare(account string) {
	b.Helper()
	listed, sums := map[dapi.TransactionID]dapi.Transaction{}, map[string]decimal.Decimal{}
	for entry, err := range b.account.Transactions.All(b.Context(), dapi.ListTransactionsParams{}) {
		require.NoError(b, err)
		listed[entry.ID] = entry
	}
	require.Equal(b, listed, b.rows)
	for _, row := range b.rows {
		signed, ok := row.Signed()
		require.True(b, ok)
		if row.Status != dapi.TransactionStatusFailed {
			sums[string(row.Currency)] = sums[string(row.Currency)].Add(signed)
		}
	}
	for currency, sum := range sums {
		assert.Equal(b, b.Host.Ledger().Balances[account][currency].String(), sum.String(),
			"the entries that have not failed add up to the balance")
	}
}

// Whatever happens to payments, and whenever the bookkeeper is killed, its rows are those of the ledger in the end.
func TestEveryChangeOfTheLedgerIsDelivered(t *testing.T) {
	rapid.Check(t, func(drawn *rapid.T) {
		w := newWorld(t, sandbox.WithSettings(func(s *sandbox.Settings) {
			s.PayoutStepAfter = sandbox.Duration(2 * time.Hour)
		}))
		platform := w.integrator()
		client, err := platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"})
		require.NoError(t, err)
		w.Host.Advance(time.Hour)
		b := &bookkeeper{world: w, account: platform.For(client.ID), rows: map[dapi.TransactionID]dapi.Transaction{}}
		other := platform.Self()
		w.Credit(other.Sandbox, "100", dapi.USDC)
		contacts := []dapi.ContactID{
			w.Contact(b.account.Contacts, sepa()), w.Contact(b.account.Contacts, wallet()),
		}
		toClient := w.Contact(other.Contacts, dapi.EmailContact("acme@example.com"))
		var paid []dapi.PayoutID
		number := 0
		key := func() moneymovement.Key { number++; return moneymovement.Key(fmt.Sprint("key-", number)) }

		drawn.Repeat(map[string]func(*rapid.T){
			"deposit": func(r *rapid.T) {
				cents := rapid.Int64Range(10, 10_000).Draw(r, "cents")
				_, err := b.account.Sandbox.Deposit(t.Context(),
					dapi.DepositCreate{Amount: decimal.New(cents, -2), Currency: dapi.USDC},
					moneymovement.IdempotencyKey(key()))
				require.NoError(t, err)
			},
			"pay": func(r *rapid.T) {
				payment, err := b.account.Payouts.Pay(t.Context(), dapi.PayoutCreate{
					ContactID: rapid.SampledFrom(contacts).Draw(r, "contact"),
					Amount:    decimal.New(rapid.Int64Range(200, 3_000).Draw(r, "cents"), -2), Currency: dapi.USDC,
				}, key(), dapi.PayTerms{})
				if err == nil { // the balance may be too low
					paid = append(paid, payment.Payout.ID)
				}
			},
			"be paid": func(r *rapid.T) {
				_, _ = other.Payouts.Pay(t.Context(), dapi.PayoutCreate{ContactID: toClient,
					Amount: decimal.New(rapid.Int64Range(100, 500).Draw(r, "cents"), -2), Currency: dapi.USDC}, key(),
					dapi.PayTerms{})
			},
			"end": func(r *rapid.T) {
				if len(paid) > 0 {
					_, _ = b.account.Sandbox.SetPayoutStatus(t.Context(), rapid.SampledFrom(paid).Draw(r, "payout"),
						rapid.SampledFrom([]dapi.PayoutStatus{"processing", "completed", "failed", "refunded"}).
							Draw(r, "to")) // what cannot be is refused
				}
			},
			"let time pass": func(r *rapid.T) {
				w.Host.Advance(rapid.SampledFrom([]time.Duration{time.Second, 30 * time.Minute, 3 * time.Hour,
					50 * time.Hour}).Draw(r, "for"))
			},
			"keep books":            func(*rapid.T) { b.run(-1); b.compare(string(client.ID)) },
			"keep books, and crash": func(r *rapid.T) { b.run(rapid.IntRange(0, 4).Draw(r, "after")) },
			"":                      func(*rapid.T) {},
		})
		b.run(-1)
		b.compare(string(client.ID))
		before := b.stored
		b.run(0)
		assert.Equal(t, before, b.stored, "nothing has changed")
	})
}
