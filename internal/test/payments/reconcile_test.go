package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
)

func kindsOf(r payments.Report) (kinds []payments.DifferenceKind) {
	for _, d := range r.Differences {
		kinds = append(kinds, d.Kind)
	}
	return kinds
}

// A payout that was completed is refunded days later. Nothing follows it any more: the reconciliation finds it.
func TestACompletedPayoutThatComesBackLater(t *testing.T) {
	inBubble(t, func(w *world) {
		began := time.Now().Truncate(time.Second)
		p := w.started(rarely)
		w.all(p, 0, 3)()
		back, err := p.Get(w.Context(), w.payment(1).Key)
		require.NoError(w, err)
		period := payments.ReconcileParams{Account: w.account, From: began, To: began.Add(24 * time.Hour)}
		report, err := p.Reconcile(w.Context(), period)
		require.NoError(w, err)
		assert.Empty(w, report.Differences, report.String())
		assert.Equal(w, 3, report.Matched)

		time.Sleep(3 * 24 * time.Hour)
		_, err = w.platform().For(w.account).Sandbox.SetPayoutStatus(w.Context(), back.PayoutID,
			dapi.PayoutStatusRefunded)
		require.NoError(w, err)
		time.Sleep(time.Minute)
		report, err = p.Reconcile(w.Context(), period)
		require.NoError(w, err)
		assert.Equal(w, []payments.DifferenceKind{payments.MoneyCameBack}, kindsOf(report), report.String())
		stored, err := p.Get(w.Context(), back.Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentCameBack, stored.State)
		assert.True(w, stored.Due.IsZero())

		report, err = p.Reconcile(w.Context(), period)
		require.NoError(w, err)
		assert.NotContains(w, kindsOf(report), payments.MoneyCameBack, "it was stored")
	})
}

func TestAPaymentThatTheStoreDoesNotKnow(t *testing.T) {
	inBubble(t, func(w *world) {
		began := time.Now().Truncate(time.Second)
		asked := w.payment(1)
		payout, err := w.platform().For(w.account).Payouts.Pay(w.Context(), asked.Payout, asked.Key, dapi.PayTerms{})
		require.NoError(w, err)
		p := w.processor()
		period := payments.ReconcileParams{Account: w.account, From: began, To: began.Add(time.Hour)}
		report, err := p.Reconcile(w.Context(), period)
		require.NoError(w, err)
		assert.Equal(w, []payments.DifferenceKind{payments.UnknownEntry}, kindsOf(report))
		assert.Equal(w, payout.Payout.ID, report.Differences[0].PayoutID)
		for _, wrong := range []payments.ReconcileParams{
			{}, {From: began, To: began}, {From: period.To, To: period.From},
		} {
			_, err = p.Reconcile(w.Context(), wrong)
			assert.Equal(w, "Reconcile", as[*errors.InvalidInput](w, err).Operation)
		}
	})
}
