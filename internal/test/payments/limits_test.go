package payments_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// capped sets limits with a cap for a day in UTC.
func capped(day string, change ...func(*payments.Limits)) func(*payments.Config) {
	caps := map[dapi.Asset]payments.Caps{dapi.USDC: {Day: new(amount(day))}}
	limits := &payments.Limits{TimeZone: "UTC", Assets: caps}
	for _, c := range change {
		c(limits)
	}
	return func(c *payments.Config) { c.Limits = limits }
}

// refusedByPolicy checks that a payment waits for a decision because of the limits, and counts nothing.
func (w *world) refusedByPolicy(r payments.Record, why string) {
	w.Helper()
	require.Equal(w, moneymovement.PaymentNeedsDecision, r.State)
	assert.Equal(w, payments.ReasonPolicy, r.Reason.Code)
	assert.Contains(w, r.Reason.Message, why)
	assert.Nil(w, r.Spending)
	assert.False(w, r.MayHaveLeft)
}

// Two payments of about 10 USDC are within a cap of 25, and the third waits: also when the others are paid, when the
// cap is raised, and when the next day begins. It goes on when a person decides so.
func TestCapOfADay(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.processor(capped("25"), pollRarely)
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		for n := range 2 {
			w.submit(p, w.payment(n))
			w.becomes(p, w.payment(n).Key, moneymovement.PaymentCompleted)
		}
		third := w.submit(p, w.payment(2))
		w.refusedByPolicy(third, "30.03 USDC would be paid on 2000-01-01 in UTC, and the cap of a day is 25")
		assert.Equal(w, third, w.submit(p, w.payment(2)), "the same submission")
		w.decide(p, third.Key, payments.Retry())
		w.refusedByPolicy(w.becomes(p, third.Key, moneymovement.PaymentNeedsDecision), "the cap of a day is 25")
		require.NoError(w, p.Stop(w.Context()))

		p = w.started(capped("31"), pollRarely)
		w.waitQuietly()
		time.Sleep(24 * time.Hour)
		w.becomes(p, third.Key, moneymovement.PaymentNeedsDecision)
		assert.Equal(w, 2, w.Sent("BookPayout"), "nothing was sent for the third")
		w.decide(p, third.Key, payments.Retry())
		done := w.becomes(p, third.Key, moneymovement.PaymentCompleted)
		assert.Equal(w, "2000-01-02", done.Spending.At.Format(time.DateOnly), "it counts on the day of its call")
		w.assertPaid(3)
	})
}

// What was refused for good or canceled makes room. What is in doubt, needs another decision, or came back does not.
func TestWhatMakesRoomInACap(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started(capped("25"))
		dear := w.dear(0)
		w.submit(p, dear)
		w.becomes(p, dear.Key, moneymovement.PaymentNeedsDecision)
		w.submit(p, w.payment(1))
		w.refusedByPolicy(w.submit(p, w.payment(2)), "the cap of a day")
		w.decide(p, dear.Key, payments.Cancel("not needed"))
		w.submit(p, w.payment(3))
		w.becomes(p, w.payment(3).Key, moneymovement.PaymentCompleted)
		w.refusedByPolicy(w.submit(p, w.payment(4)), "the cap of a day")

		payout := w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted).PayoutID
		_, err := w.platform().For(w.account).Sandbox.SetPayoutStatus(w.Context(), payout, dapi.PayoutStatusRefunded)
		require.NoError(w, err)
		_, err = p.Reconcile(w.Context(), payments.ReconcileParams{Account: w.account,
			From: time.Now().Add(-24 * time.Hour), To: time.Now()})
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentCameBack, w.get(p, w.payment(1).Key).State)
		w.refusedByPolicy(w.submit(p, w.payment(5)), "the cap of a day")
	})
}

func (w *world) get(p *payments.Processor, key moneymovement.Key) payments.Record {
	w.Helper()
	r, err := p.Get(w.Context(), key)
	require.NoError(w, err)
	return r
}

// A payment whose confirm was lost counts while it is in doubt.
func TestDoubtCountsWithinACap(t *testing.T) {
	inBubble(t, func(w *world) {
		lost := w.onConfirm(sandbox.DropAfterCommit().Times(1000))
		p := w.started(capped("15"))
		w.submit(p, w.payment(0))
		w.becomes(p, w.payment(0).Key, moneymovement.PaymentCompleted)
		assert.NotZero(w, lost.Consumed())
		w.refusedByPolicy(w.submit(p, w.payment(1)), "the cap of a day")
		w.assertPaid(1)
	})
}

// A payment that was in doubt when it was submitted counts past the caps, and the service is asked about it. If its
// response proves that nothing was paid, the caps hold before anything is signed.
func TestCapOfAPaymentInDoubt(t *testing.T) {
	inBubble(t, func(w *world) {
		used := time.Now()
		payouts := w.platform().For(w.account).Payouts
		paid, err := payouts.Pay(w.Context(), w.payment(0).Payout, w.payment(0).Key, dapi.PayTerms{})
		require.NoError(w, err)
		time.Sleep(time.Minute)
		p := w.started(capped("5"))
		for n := range 2 {
			again := w.payment(n)
			again.FirstUsed = used
			r := w.submit(p, again)
			assert.True(w, r.Spending.Unchecked)
		}
		done := w.becomes(p, w.payment(0).Key, moneymovement.PaymentCompleted)
		assert.Equal(w, paid.Payout.ID, done.PayoutID)
		r := w.becomes(p, w.payment(1).Key, moneymovement.PaymentNeedsDecision)
		w.refusedByPolicy(r, "the cap of a day is 5")
		assert.Equal(w, 2, w.Sent("BookPayout"), "the service was asked about the second")
		w.assertPaid(1)
	})
}

// Lower caps and shorter lists hold for what was submitted before and not begun, and what may be paid is settled.
func TestLimitsAreCheckedBeforeTheCall(t *testing.T) {
	inBubble(t, func(w *world) {
		submitting := w.processor(capped("100"))
		for n := range 2 {
			assert.NotNil(w, w.submit(submitting, w.payment(n)).Spending)
		}
		p := w.processor(capped("5"))
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		for n := range 2 {
			waiting := w.becomes(p, w.payment(n).Key, moneymovement.PaymentNeedsDecision)
			w.refusedByPolicy(waiting, "the cap of a day is 5")
		}
		require.NoError(w, p.Stop(w.Context()))
		p = w.started(capped("100", func(l *payments.Limits) { l.Payees = map[string]string{"ct_other": "somebody"} }))
		w.decide(p, w.payment(0).Key, payments.Retry())
		w.refusedByPolicy(w.becomes(p, w.payment(0).Key, moneymovement.PaymentNeedsDecision), "do not name the payee")
		assert.Zero(w, w.Sent("BookPayout"))
	})
}

// A store without counts, as a program without limits leaves it: its payments count from their first call.
func TestPaymentsOfBeforeTheLimits(t *testing.T) {
	inBubble(t, func(w *world) {
		without := w.processor()
		for n := range 3 {
			assert.Nil(w, w.submit(without, w.payment(n)).Spending)
		}
		p := w.started(capped("25"))
		states := map[moneymovement.PaymentState]int{}
		for n := range 3 {
			r, err := p.Await(w.Context(), w.payment(n).Key, moneymovement.PaymentCompleted,
				moneymovement.PaymentNeedsDecision)
			require.NoError(w, err)
			states[r.State]++
		}
		assert.Equal(w, map[moneymovement.PaymentState]int{moneymovement.PaymentCompleted: 2,
			moneymovement.PaymentNeedsDecision: 1}, states)
		w.assertPaid(2)
	})
}

// Escrows count with the payouts, and their payee is an address.
func TestCapOfAPayee(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started(func(c *payments.Config) {
			c.Limits = &payments.Limits{TimeZone: "UTC",
				Assets: map[dapi.Asset]payments.Caps{dapi.USDC: {PayeeDay: new(amount("50"))}},
				Payees: map[string]string{string(w.contact): "Bob", string(worlds.Payee): "Bob"}}
		})
		escrow := payments.EscrowPayment{Key: "escrow", Account: w.account, Escrow: newEscrow()}
		w.submit(p, escrow)
		w.becomes(p, escrow.Key, moneymovement.PaymentCompleted)
		r := w.submit(p, w.payment(1))
		w.refusedByPolicy(r, fmt.Sprintf("50.01 USDC to %q", "Bob"))
		less := w.payment(2)
		less.Payout.Amount = decimal.NewFromInt(10)
		w.submit(p, less)
		w.becomes(p, less.Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
	})
}

// Pay without package payments signs nothing that the limits refuse.
func TestPayWithLimits(t *testing.T) {
	inBubble(t, func(w *world) {
		limits := &payments.Limits{Assets: map[dapi.Asset]payments.Caps{dapi.USDC: {Payment: new(amount("10"))}}}
		allows, err := limits.BeforeSigning(nil)
		require.NoError(w, err)
		payouts := w.platform().For(w.account).Payouts
		for key, one := range map[moneymovement.Key]struct {
			amount string
			state  moneymovement.PaymentState
		}{"less": {"10", moneymovement.PaymentPaid}, "more": {"10.01", moneymovement.PaymentNotPaid}} {
			asked := w.payment(0).Payout
			asked.Amount = amount(one.amount)
			payment, err := payouts.Pay(w.Context(), asked, key, dapi.PayTerms{BeforeSigning: allows,
				Journal: func(context.Context, dapi.History) error { return nil }})
			assert.Equal(w, one.state, payment.State)
			if one.state != moneymovement.PaymentPaid {
				assert.Contains(w, as[*dapi.PaymentDeclined](w, err).Error(), "the cap of a payment is 10")
			}
		}
		w.assertPaid(1)
	})
}
