package payments_test

import (
	"context"
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
func TestCompletedPayoutThatIsRefundedLater(t *testing.T) {
	inBubble(t, func(w *world) {
		began := time.Now().Truncate(time.Second)
		p := w.started(pollRarely)
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

// A payment was paid and stayed in doubt, because no process ran for days. It counts as paid from when it was found,
// and its entry is older than that day's reconciliation usually reads.
func TestReconcileAPaymentThatWasFoundLate(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.dieInDoubt(true)
		time.Sleep(3 * 24 * time.Hour)
		found := time.Now().Truncate(time.Second)
		p := w.started(pollRarely)
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		time.Sleep(time.Hour)
		report, err := p.Reconcile(w.Context(),
			payments.ReconcileParams{Account: w.account, From: found, To: found.Add(24 * time.Hour)})
		require.NoError(w, err)
		assert.Empty(w, report.Differences, report.String())
	})
}

// interrupted calls a function before its first list.
type interrupted struct {
	payments.Store

	before func()
}

func (s *interrupted) List(ctx context.Context, list payments.List) ([]payments.Record, error) {
	if before := s.before; before != nil {
		s.before = nil
		before()
	}
	return s.Store.List(ctx, list)
}

// A payment is made after the ledger was read, and before the store is.
func TestReconcileDuringAPayment(t *testing.T) {
	inBubble(t, func(w *world) {
		store := &interrupted{Store: w.store}
		p, err := payments.New(store, payments.IntegratorServices(w.platform()), payments.Config{})
		require.NoError(w, err)
		w.submit(p, w.payment(1))
		store.before = func() {
			_, err := p.Step(w.Context(), w.payment(1).Key)
			require.NoError(w, err)
		}
		began := time.Now().Truncate(time.Second)
		period := payments.ReconcileParams{Account: w.account, From: began, To: began.Add(24 * time.Hour)}
		report, err := p.Reconcile(w.Context(), period)
		require.NoError(w, err)
		assert.Nil(w, store.before)
		assert.Empty(w, report.Differences, report.String())
		time.Sleep(time.Hour)
		report, err = p.Reconcile(w.Context(), period)
		require.NoError(w, err)
		assert.Equal(w, 1, report.Matched, report.String())
	})
}

// A person took the payout of one payment for that of another: one of the two was never made.
func TestTwoPaymentsWithOnePayout(t *testing.T) {
	inBubble(t, func(w *world) {
		began := time.Now().Truncate(time.Second)
		p := w.started(pollRarely)
		w.submit(p, w.payment(1))
		first := w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted)
		second := w.payment(2)
		second.Payout.Amount, second.FirstUsed = w.payment(1).Payout.Amount, time.Now().Add(-8*24*time.Hour)
		w.submit(p, second)
		w.becomes(p, second.Key, moneymovement.PaymentNeedsDecision)
		w.decide(p, second.Key, payments.WasPaid(first.PayoutID))
		w.becomes(p, second.Key, moneymovement.PaymentCompleted)
		time.Sleep(time.Hour)
		report, err := p.Reconcile(w.Context(),
			payments.ReconcileParams{Account: w.account, From: began, To: began.Add(24 * time.Hour)})
		require.NoError(w, err)
		assert.Equal(w, []payments.DifferenceKind{payments.MissingEntry}, kindsOf(report), report.String())
		assert.Equal(w, 1, report.Matched)
	})
}

// The ledger shows two entries with which money has left for one payout. A page that is read twice counts once, and a
// failed attempt does not count.
func TestPayoutWithTwoLedgerEntries(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	entry := func(id dapi.TransactionID, status dapi.TransactionStatus) dapi.Transaction {
		return dapi.Transaction{ID: id, Type: dapi.TransactionTypePayout, PayoutID: "po_1", CreatedAt: at,
			Status:    status,
			Direction: dapi.TransactionDirectionOut, Amount: amount("10"), Currency: dapi.USDC}
	}
	done, failed := dapi.TransactionStatusCompleted, dapi.TransactionStatusFailed
	payout := dapi.PayoutCreate{Amount: amount("10"), Currency: dapi.USDC}
	record := payments.Record{Key: "k", Kind: payments.KindPayout, State: moneymovement.PaymentCompleted,
		PayoutID: "po_1",
		Payout:   &payout, PaidAt: at}
	for name, c := range map[string]struct {
		entries []dapi.Transaction
		want    []payments.DifferenceKind
	}{
		"twice": {[]dapi.Transaction{entry("tx_2", done), entry("tx_1", done)},
			[]payments.DifferenceKind{payments.UnknownEntry}},
		"read twice":           {[]dapi.Transaction{entry("tx_1", done), entry("tx_1", done)}, nil},
		"a failed one first":   {[]dapi.Transaction{entry("tx_2", done), entry("tx_1", failed)}, nil},
		"a failed one at last": {[]dapi.Transaction{entry("tx_2", failed), entry("tx_1", done)}, nil},
		"two that failed": {[]dapi.Transaction{entry("tx_2", failed), entry("tx_1", failed)},
			[]payments.DifferenceKind{payments.MoneyCameBack}},
	} {
		report, err := payments.Compare(each(record), each(c.entries...), at.Add(-time.Hour), at.Add(time.Hour))
		require.NoError(t, err)
		assert.Equal(t, c.want, kindsOf(report), "%s: %s", name, report)
	}
}

// each yields values without an error.
func each[T any](values ...T) func(yield func(T, error) bool) {
	return func(yield func(T, error) bool) {
		for _, value := range values {
			if !yield(value, nil) {
				return
			}
		}
	}
}

// What the ledger says about one payment that is paid, or came back.
func TestTheEntriesOfAPayment(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	out := dapi.Transaction{ID: "tx_1", Type: dapi.TransactionTypePayout, PayoutID: "po_1", CreatedAt: at,
		Status: dapi.TransactionStatusCompleted, Direction: dapi.TransactionDirectionOut, Amount: amount("10"),
		Currency: dapi.USDC}
	back := out
	back.ID, back.Type, back.Direction = "tx_2", dapi.TransactionTypeRefund, dapi.TransactionDirectionIn
	less, other := back, out
	less.Amount, other.Currency = amount("9"), dapi.EURC
	payout := dapi.PayoutCreate{Amount: amount("10"), Currency: dapi.USDC}
	for name, c := range map[string]struct {
		state   moneymovement.PaymentState
		entries []dapi.Transaction
		want    payments.DifferenceKind
	}{
		"completed":            {moneymovement.PaymentCompleted, []dapi.Transaction{out}, ""},
		"in another asset":     {moneymovement.PaymentCompleted, []dapi.Transaction{other}, payments.OtherAmount},
		"came back":            {moneymovement.PaymentCameBack, []dapi.Transaction{back, out}, ""},
		"came back in part":    {moneymovement.PaymentCameBack, []dapi.Transaction{less, out}, payments.OtherAmount},
		"came back to nowhere": {moneymovement.PaymentCameBack, []dapi.Transaction{out}, payments.MissingEntry},
		"not stored":           {moneymovement.PaymentCompleted, []dapi.Transaction{back, out}, payments.MoneyCameBack},
	} {
		record := payments.Record{Key: "k", Kind: payments.KindPayout, State: c.state, PayoutID: "po_1",
			Payout: &payout,
			PaidAt: at}
		report, err := payments.Compare(each(record), each(c.entries...), at.Add(-time.Hour), at.Add(time.Hour))
		require.NoError(t, err)
		var kind payments.DifferenceKind
		for _, d := range report.Differences {
			kind += d.Kind
		}
		assert.Equal(t, c.want, kind, "%s: %s", name, report)
	}
}
