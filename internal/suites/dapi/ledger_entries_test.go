package dapi_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// The entries of a payout in each status, as the documentation of Transactions says of the sandbox host. The amount of
// an entry is that of the payout, which includes the fee.
func TestEntriesOfAPayoutInEachStatus(t *testing.T) {
	for end, want := range map[dapi.PayoutStatus][]string{
		dapi.PayoutStatusAwaitingApproval: nil,
		dapi.PayoutStatusCompleted:        {"payout out completed"},
		dapi.PayoutStatusFailed:           {"payout out failed"},
		dapi.PayoutStatusRefunded:         {"payout out completed", "refund in completed"},
	} {
		t.Run(string(end), func(t *testing.T) {
			w := newPayWorld(t)
			booked, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.IdempotencyKey("invoice-42"))
			require.NoError(t, err)
			require.True(t, booked.Quote.Fee.IsPositive())
			if end != dapi.PayoutStatusAwaitingApproval {
				_, err = w.pay()
				require.NoError(t, err)
				_, err = w.account.Sandbox.SetPayoutStatus(t.Context(), booked.ID, end)
				require.NoError(t, err)
			}
			var entries []string
			for entry, err := range w.account.Transactions.All(t.Context(), dapi.ListTransactionsParams{}) {
				require.NoError(t, err)
				if entry.PayoutID != booked.ID {
					continue
				}
				entries = append(entries, string(entry.Type)+" "+string(entry.Direction)+" "+string(entry.Status))
				assert.True(t, entry.Amount.Equal(booked.Amount), "%s", entry.Amount)
			}
			slices.Reverse(entries)
			assert.Equal(t, want, entries)
		})
	}
}
