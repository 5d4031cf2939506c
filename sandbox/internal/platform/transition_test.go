package platform_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

func TestPayoutMoves(t *testing.T) {
	t.Parallel()
	const (
		awaiting          = platformwire.PayoutStatusAwaitingApproval
		funding           = platformwire.PayoutStatusFunding
		processing        = platformwire.PayoutStatusProcessing
		completed, failed = platformwire.PayoutStatusCompleted, platformwire.PayoutStatusFailed
		refunded, expired = platformwire.PayoutStatusRefunded, platformwire.PayoutStatusExpired
	)
	for name, tc := range map[string]struct {
		path    []platformwire.PayoutStatus // moves before the last one, each legal; awaiting means unconfirmed
		to      platformwire.PayoutStatus
		want    string // slug, or empty
		balance string
	}{
		"delivered":                 {[]platformwire.PayoutStatus{processing}, completed, "", "80"},
		"delivered at once":         {nil, completed, "", "80"},
		"held":                      {nil, processing, "", "80"},
		"failed":                    {nil, failed, "", "100"},
		"failed late":               {[]platformwire.PayoutStatus{processing}, failed, "", "100"},
		"returned":                  {nil, refunded, "", "100"},
		"returned from processing":  {[]platformwire.PayoutStatus{processing}, refunded, "", "100"},
		"returned after delivery":   {[]platformwire.PayoutStatus{completed}, refunded, "", "100"},
		"where it is":               {[]platformwire.PayoutStatus{completed}, completed, "", "80"},
		"failed after delivery":     {[]platformwire.PayoutStatus{completed}, failed, "conflict", "80"},
		"back to processing":        {[]platformwire.PayoutStatus{completed}, processing, "conflict", "80"},
		"back to funding":           {[]platformwire.PayoutStatus{processing}, funding, "conflict", "80"},
		"delivered after return":    {[]platformwire.PayoutStatus{completed, refunded}, completed, "conflict", "100"},
		"returned after failure":    {[]platformwire.PayoutStatus{failed}, refunded, "conflict", "100"},
		"expired after funding":     {nil, expired, "conflict", "80"},
		"delivered, never approved": {[]platformwire.PayoutStatus{awaiting}, completed, "quote_not_submitted", "100"},
		"funding, never approved":   {[]platformwire.PayoutStatus{awaiting}, funding, "quote_not_submitted", "100"},
		"expires early":             {[]platformwire.PayoutStatus{awaiting}, expired, "", "100"},
		"delivered, expired": {[]platformwire.PayoutStatus{awaiting, expired}, completed, "payout_not_fundable",
			"100"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			client := b.fundedClient("acme@example.com")
			booked := b.booked(client, "", order(b.contact(client, achContact).ID, "20"))
			path := tc.path
			if len(path) > 0 && path[0] == awaiting {
				path = path[1:]
			} else {
				_, err := b.confirm(client, booked)
				require.NoError(t, err)
			}
			for i, to := range path {
				_, err := b.move(client, fmt.Sprint("move-", i), booked.ID, to)
				require.NoError(t, err)
			}
			before := b.payout(client, booked.ID).Status
			moved, err := b.move(client, "last", booked.ID, tc.to)
			if tc.want != "" {
				refusalOf(t, err, tc.want)
				assert.Equal(t, before, b.payout(client, booked.ID).Status)
			} else {
				require.NoError(t, err)
				assert.Equal(t, tc.to, read[platformwire.Payout](t, moved).Status)
				b.clock.Advance(time.Hour)
				assert.Equal(t, tc.to, b.payout(client, booked.ID).Status, "it moves by itself no more")
			}
			assert.Equal(t, tc.balance, b.balance(client, platformwire.AssetUSDC))
		})
	}
}

func TestConfirmIsRefusedAfterFailureOrRefund(t *testing.T) {
	t.Parallel()
	for _, to := range []platformwire.PayoutStatus{platformwire.PayoutStatusFailed, platformwire.PayoutStatusRefunded} {
		b := newBench(t)
		client := b.fundedClient("acme@example.com")
		booked := b.booked(client, "", order(b.contact(client, achContact).ID, "20"))
		_, err := b.confirm(client, booked)
		require.NoError(t, err)
		_, err = b.move(client, "", booked.ID, to)
		require.NoError(t, err)
		_, err = b.confirm(client, booked)
		refusalOf(t, err, "approval_consumed")
		assert.Equal(t, "100", b.balance(client, platformwire.AssetUSDC))
	}
}

func TestMovePayoutIsIdempotentByKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	booked := b.booked(client, "", order(b.contact(client, achContact).ID, "20"))
	_, err := b.confirm(client, booked)
	require.NoError(t, err)

	first, err := b.move(client, "move-1", booked.ID, platformwire.PayoutStatusProcessing)
	require.NoError(t, err)
	assert.False(t, first.replayed())
	_, err = b.move(client, "move-2", booked.ID, platformwire.PayoutStatusRefunded)
	require.NoError(t, err)
	again, err := b.move(client, "move-1", booked.ID, platformwire.PayoutStatusProcessing)
	require.NoError(t, err)
	assert.True(t, again.replayed())
	assert.Equal(t, first.Body.String(), again.Body.String(), "the first answer")
	_, err = b.move(client, "move-1", booked.ID, platformwire.PayoutStatusFailed)
	assert.Equal(t, booked.ID, details[string](t, err, "idempotency_key_reused", "payoutId"))
	assert.Equal(t, "100", b.balance(client, platformwire.AssetUSDC), "returned once")
}

func TestRefundIsASeparateTransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	booked := b.booked(client, "", order(b.contact(client, achContact).ID, "20"))
	_, err := b.confirm(client, booked)
	require.NoError(t, err)
	_, err = b.move(client, "", booked.ID, platformwire.PayoutStatusCompleted)
	require.NoError(t, err)
	_, err = b.move(client, "", booked.ID, platformwire.PayoutStatusRefunded)
	require.NoError(t, err)

	page, err := b.transactions(client, platformwire.ListTransactionsParams{})
	require.NoError(t, err)
	require.Len(t, page.Items, 3)
	refund, payout := page.Items[0], page.Items[1]
	assert.Equal(t, []any{platformwire.TransactionTypeRefund, platformwire.TransactionDirectionIn, booked.ID},
		[]any{refund.Type, refund.Direction, refund.PayoutID})
	assert.Equal(t, []any{platformwire.TransactionTypePayout, platformwire.TransactionDirectionOut, booked.ID},
		[]any{payout.Type, payout.Direction, payout.PayoutID})
	assert.Equal(t, "0", b.balance("fees", platformwire.AssetUSDC), "the fee comes back too")

	_, err = b.move("cl_none", "", booked.ID, platformwire.PayoutStatusFailed)
	assert.ErrorIs(t, err, wire.NotFound())
}
