package platform_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// After each restart payouts in progress continue, and forgotten ones stay forgotten.
func TestPayoutsInProgressContinueAfterRestart(t *testing.T) {
	ledgers := map[bool]string{}
	for _, reopened := range []bool{false, true} {
		b := newBench(t)
		again := func() {
			if reopened {
				b.reopen()
			}
		}
		b.set(func(s *deployment.Settings) {
			s.ReturnAfter = deployment.Duration(time.Minute)
			s.ForgetFinishedAfter = deployment.Duration(time.Hour)
		})
		client := b.fundedClient("client@example.com")
		to := b.contact(client, sepaContact).ID
		var payouts []platformwire.Payout
		for i := range 4 {
			body := platformwire.PayoutCreate{ContactID: to, Amount: decimal.NewFromInt(int64(10 + i)),
				Currency: platformwire.AssetUSDC}
			payouts = append(payouts, b.booked(client, fmt.Sprint("book-", i), body))
			again()
			_, err := b.confirm(client, payouts[i])
			require.NoError(t, err)
			again()
		}
		for i, to := range []platformwire.PayoutStatus{"refunded", "failed"} {
			_, err := b.move(client, fmt.Sprint("move-", i), payouts[i].ID, to)
			require.NoError(t, err)
			again()
		}
		b.clock.Advance(time.Minute)
		again()
		assert.Equal(t, platformwire.PayoutStatusCompleted, b.payout(client, payouts[2].ID).Status)
		page, err := b.transactions(client, platformwire.ListTransactionsParams{Type: "refund"})
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		assert.Equal(t, payouts[0].ID, page.Items[0].PayoutID, "the money came back, and is attributed")
		ledgers[reopened] = shape(b)

		b.clock.Advance(time.Hour)
		again()
		_, err = b.book(client, "book-2", platformwire.PayoutCreate{ContactID: to, Amount: decimal.NewFromInt(12),
			Currency: platformwire.AssetUSDC})
		require.ErrorIs(t, err, wire.Gone(""), "the payout of the key is forgotten")
		again()
		page, err = b.transactions(client, platformwire.ListTransactionsParams{})
		require.NoError(t, err)
		assert.NotEmpty(t, page.Items, "the deposits")
		for _, entry := range page.Items {
			assert.Equal(t, platformwire.TransactionTypeDeposit, entry.Type)
		}
		ledgers[reopened] += shape(b)
		b.Reset()
		again()
		assert.Zero(t, idempotencyRecords(b)-b.Records(), "nothing but the faucet's fill")
	}
	assert.Equal(t, ledgers[false], ledgers[true], "the same entries in the same order")
}

// shape is the ledger without its random ids.
func shape(b *bench) (text string) {
	for _, entry := range b.Ledger().Entries {
		text += fmt.Sprintln(entry.Movement, entry.Kind, entry.Amount, entry.Currency, entry.At)
	}
	return text
}

// records returns how many records the platform has.
func idempotencyRecords(b *bench) int {
	fresh := platform.New(b.clock, func() *deployment.Settings { return b.settings.Load() }, nobody, store.Memory{})
	b.Ledger()
	fresh.Ledger()
	return fresh.Records()
}

// A return that was matched to another payout of the same amount stays matched after a restart.
func TestMatchedReturnsAreRestoredFromStore(t *testing.T) {
	b := newBench(t)
	client := b.fundedClient("client@example.com")
	to := b.contact(client, sepaContact).ID
	refund := func(key string, after time.Duration) platformwire.Payout {
		b.set(func(s *deployment.Settings) { s.ReturnAfter = deployment.Duration(after) })
		created := b.booked(client, key, platformwire.PayoutCreate{ContactID: to, Amount: decimal.NewFromInt(10),
			Currency: platformwire.AssetUSDC})
		_, err := b.confirm(client, created)
		require.NoError(t, err)
		_, err = b.move(client, key, created.ID, platformwire.PayoutStatusRefunded)
		require.NoError(t, err)
		b.clock.Advance(time.Second)
		b.reopen()
		return created
	}
	slow, fast := refund("slow", time.Hour), refund("fast", 0)
	b.clock.Advance(time.Hour)
	b.reopen()
	page, err := b.transactions(client, platformwire.ListTransactionsParams{Type: "refund"})
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	assert.Equal(t, slow.ID, page.Items[1].PayoutID, "the oldest that fits")
	assert.Equal(t, fast.ID, page.Items[0].PayoutID, "what is left")
}
