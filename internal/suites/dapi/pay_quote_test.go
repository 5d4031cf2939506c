package dapi_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// TestFreshQuote holds what a fresh quote is compared in: what arrives, what leaves, and in which currencies.
func TestFreshQuote(t *testing.T) {
	set := func(name string, value any) func(payout map[string]any) {
		return func(payout map[string]any) { payout["quote"].(map[string]any)[name] = value }
	}
	drop := func(payout map[string]any) { delete(payout, "quote") }
	for name, c := range map[string]struct {
		first, fresh func(payout map[string]any)
		worse        bool
	}{
		"equal":                       {},
		"more arrives":                {fresh: set("destinationAmount", "22.43")},
		"less arrives":                {fresh: set("destinationAmount", "22.41"), worse: true},
		"less leaves":                 {fresh: set("sourceAmount", "24.99")},
		"more leaves":                 {fresh: set("sourceAmount", "25.01"), worse: true},
		"another currency arrives":    {fresh: set("destinationCurrency", "USD"), worse: true},
		"another currency leaves":     {fresh: set("sourceCurrency", "EURC"), worse: true},
		"a fee that changes no sum":   {fresh: set("fee", "0.6")},
		"no quote any more":           {fresh: drop, worse: true},
		"a quote where there was not": {first: drop, worse: true},
		"no quote at all":             {first: drop, fresh: drop},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			books := 0
			w.onBooking(func(payout map[string]any) {
				change := c.first
				if books++; books > 1 {
					change = c.fresh
				}
				if change != nil {
					change(payout)
				}
			})
			w.refuse(http.StatusConflict, "quote_expired")
			payout, err := w.pay(dapi.FirstUse())
			if c.worse {
				worsened := as[*dapi.PriceRefused](t, err)
				assert.NotEmpty(t, worsened.Payout.ID)
				assert.Contains(t, err.Error(), "the price was refused and not signed, so this call paid nothing")
				assert.Zero(t, w.Fundings())
				return
			}
			require.NoError(t, err)
			assert.NotEmpty(t, payout.TransactionHash)
			assert.Equal(t, 1, w.Fundings())
		})
	}
}

func TestTolerancesDoNotAddUp(t *testing.T) {
	w := newPayWorld(t)
	w.Key.BeforeApproval(func(n int) {
		w.worsen([]string{"0.009", "0.018", "0.027"}[min(n, 3)-1])
		w.Host.Advance(31 * time.Second)
	})
	_, err := w.pay(dapi.FirstUse(), dapi.QuoteTolerance(amount("0.01")))
	as[*dapi.PriceRefused](t, err)
	assert.Equal(t, traffic{books: 3, confirms: 2, reads: 1}, w.traffic(), "each fresh quote is measured by the first")
}

func TestFundingThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) })
		w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit())
		time.AfterFunc(3*time.Minute, func() { // the approval has closed by then
			for transaction, err := range w.account.Transactions.All(t.Context(),
				dapi.ListTransactionsParams{Type: dapi.TransactionTypePayout}) {
				if assert.NoError(t, err) {
					_, err = w.account.Sandbox.SetPayoutStatus(t.Context(), transaction.PayoutID,
						dapi.PayoutStatusFailed)
					assert.NoError(t, err)
				}
			}
		})
		payout, err := w.pay()
		assert.Equal(t, dapi.PayoutStatusFailed, as[*dapi.PayoutNotCompleted](t, err).Payout.Status)
		assert.Equal(t, dapi.PayoutStatusFailed, payout.Status)
		assert.Equal(t, 1, w.Sent("BookPayout"))
		assert.Equal(t, 1, w.Fundings())
	})
}

func TestFundingThatOutlastsItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) })
		w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		payout, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42")
		w.ended(err)
		assert.Equal(t, dapi.PayoutStatusFunding, payout.Status, "the last reading comes back")
		unknown := as[*errors.OutcomeUnknown](t, err)
		assert.Equal(t, "ConfirmPayout", unknown.Operation)
		pending := as[*dapi.StillPending](t, unknown.Cause)
		assert.Equal(t, "funding", pending.Status)
		assert.Equal(t, "payout", pending.Resource)
		assert.Equal(t, string(payout.ID), pending.ID)
		assert.Equal(t, dapi.PaymentUnknown, dapi.PaymentStateOf(payout, err))
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestCallerWhoLeavesDuringTheConfirm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", confirmPath, sandbox.Delay(time.Minute))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42")
		w.ended(err)
		unknown := as[*errors.OutcomeUnknown](t, err)
		assert.NotEmpty(t, unknown.IdempotencyKey)
		assert.Equal(t, errors.MaybeMoved, unknown.MovedByCall())
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
