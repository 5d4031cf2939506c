package dapi_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Input that is refused before anything is sent leaves no trace: the next call is what it would have been without.
func TestWrongInputLeavesNoTrace(t *testing.T) {
	w := newPayWorld(t)
	_, err := w.pay(journaled(), maxFee(amount("-1")))
	as[*errors.InvalidInput](t, err)
	w.refuse(http.StatusForbidden, "signing_policy_refused")
	payment, err := w.pay(journaled(), firstUsedAt(time.Now()))
	as[*errors.SigningPolicyRefused](t, err)
	assert.Equal(t, moneymovement.PaymentNotPaid, payment.State)
	assert.True(t, payment.Unpaid)
}

// A program that stores how its calls ended says so, and then no call that paid nothing makes the next one a maybe.
func TestADecisionLeavesNoDoubt(t *testing.T) {
	w := newPayWorld(t)
	for range 3 {
		payment, err := w.pay(journaled(), maxFee(amount("0.1")))
		as[*dapi.PriceRefused](t, err)
		require.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
	}
	_, err := w.pay(journaled(), maxFee(amount("1")))
	require.NoError(t, err)
}

// A first use, by the journal, that was plainly refused is not paid, and keeps the type of its refusal.
func TestARefusedPaymentIsUnpaid(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(w *payWorld)
		code    errors.Code
	}{
		"at the booking": {func(w *payWorld) {
			w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		}, errors.CodeContactNotPayable},
		"at the booking, for its rate": {func(w *payWorld) {
			w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
				WithHeader("Retry-After", "3600"))
		}, errors.CodeRateLimited},
		"at the confirm": {func(w *payWorld) {
			w.refuse(http.StatusForbidden, "signing_policy_refused")
		}, errors.CodeSigningPolicyRefused},
		"at the confirm, for the balance": {func(w *payWorld) {
			w.asked.Amount = amount("100.01")
		}, errors.CodePayoutNotFundable},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			c.arrange(w)
			payment, err := w.pay(journaled())
			assert.Equal(t, moneymovement.PaymentNotPaid, payment.State)
			assert.True(t, errors.HasCode(err, c.code), "%v", err)
			assert.True(t, payment.Unpaid)
			assert.Zero(t, w.Fundings())
			assert.Zero(t, w.Sent("ListTransactions"), "nothing is looked for where nothing is in doubt")
		})
	}
	t.Run("and its own booking was lost and repeated", func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", bookPath, sandbox.DropAfterCommit())
		w.refuse(http.StatusForbidden, "signing_policy_refused")
		w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden"))
		payment, err := w.pay(journaled())
		assert.Equal(t, 2, w.Sent("BookPayout"))
		assert.Equal(t, moneymovement.PaymentNotPaid, payment.State, "the replay is of this very call: %v",
			err)
	})
	t.Run("without a journal, nobody knows", func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		payment, err := w.pay()
		w.assertInDoubt(t, payment, err)
	})
	t.Run("a refusal of the credential is asked nothing more", func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
		payment, err := w.pay()
		w.assertInDoubt(t, payment, err)
		assert.Zero(t, w.Sent("ListTransactions"))
	})
}

// Another process knows from its stored row which payout was booked and not paid. The replay of that booking does not
// mean that another call paid.
func TestAnotherProcessKnowsFromItsHistory(t *testing.T) {
	w := newPayWorld(t)
	w.asked.Amount = amount("100.01")
	booked, err := w.pay(journaled())
	as[*errors.PayoutNotFundable](t, err)
	for range 2 {
		w.account = w.integrator().Self()
		payment, err := w.pay(journaled(), knownPayout(booked.Payout.ID))
		as[*errors.PayoutNotFundable](t, err)
		assert.Equal(t, booked.Payout.ID, payment.Payout.ID)
		assert.Equal(t, moneymovement.PaymentNotPaid, payment.State)
		assert.True(t, payment.Unpaid)
	}
	w.account = w.integrator().Self()
	payment, err := w.pay(knownPayout(booked.Payout.ID))
	w.assertInDoubt(t, payment, err) // without a journal, an earlier call may have paid
	assert.Zero(t, w.Fundings())
}

// Whoever journals knows all that was signed: a booking that was not signed is taken up again, however the service says
// that it replays it. What the service or this client knows to be paid counts all the same.
func TestAJournalKnowsWhatWasSigned(t *testing.T) {
	refuseEverything := func(w *payWorld) {
		w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusForbidden, "signing_policy_refused"))
		w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
	}
	for name, c := range map[string]struct {
		before func(w *payWorld) // the second call
		change func(r *http.Request, answer *http.Response)
	}{
		"the service says that it replays": {
			before: func(w *payWorld) { w.account = w.integrator().Self() },
		},
		"the service says so by 200 alone": {
			before: func(w *payWorld) { w.account = w.integrator().Self() },
			change: func(_ *http.Request, answer *http.Response) { answer.Header.Del("Idempotency-Replayed") },
		},
		"the service says so by its header alone": {
			before: func(w *payWorld) { w.account = w.integrator().Self() },
			change: func(_ *http.Request, answer *http.Response) {
				if answer.StatusCode == http.StatusOK {
					answer.StatusCode = http.StatusCreated
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			w.refuse(http.StatusForbidden, "signing_policy_refused")
			payment, err := w.pay(journaled())
			require.Equal(t, moneymovement.PaymentNotPaid, payment.State)
			c.before(w)
			if c.change != nil {
				w.Wire.OnAnswer(c.change)
			}
			refuseEverything(w)
			payment, err = w.pay(journaled())
			as[*errors.SigningPolicyRefused](t, err)
			assert.Equal(t, moneymovement.PaymentNotPaid, payment.State)
			assert.True(t, payment.Unpaid)
		})
	}
	t.Run("the service replays another booking than the one that the program names", func(t *testing.T) {
		w := newPayWorld(t)
		w.refuse(http.StatusForbidden, "signing_policy_refused")
		_, err := w.pay(journaled())
		as[*errors.SigningPolicyRefused](t, err)
		w.account = w.integrator().Self()
		refuseEverything(w)
		payment, err := w.pay(journaled(), knownPayout("po_other"))
		w.assertInDoubt(t, payment, err)
	})
	t.Run("this client has paid", func(t *testing.T) {
		w := newPayWorld(t)
		_, err := w.pay(journaled())
		require.NoError(t, err)
		w.Host.Arm("", "/**", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		payment, err := w.pay(journaled())
		w.assertInDoubt(t, payment, err)
	})
	t.Run("the service says that it is funded", func(t *testing.T) {
		w := newPayWorld(t)
		first, err := w.pay()
		require.NoError(t, err)
		w.account = w.integrator().Self()
		again, err := w.pay(journaled())
		require.NoError(t, err)
		assert.Equal(t, first.Payout.ID, again.Payout.ID)
		assert.Equal(t, 1, w.Fundings())
	})
}

// Two processes have one key and the same history. The one whose journal fails cannot know what the other signs.
func TestAJournalThatFailsLeavesADoubt(t *testing.T) {
	w := newPayWorld(t)
	other := w.integrator().Self()
	conflict := errors.New("another process has stored that it signs")
	payment, err := w.account.Payouts.Pay(t.Context(), w.asked, "invoice-42", dapi.PayTerms{
		Journal: func(ctx context.Context, history dapi.History) error {
			assert.False(t, history.Unpaid)
			assert.NotEmpty(t, history.PayoutID)
			assert.WithinDuration(t, time.Now(), history.FirstUsed, time.Minute)
			_, err := other.Payouts.Pay(ctx, w.asked, "invoice-43", dapi.PayTerms{})
			return errors.Join(conflict, err)
		},
	})
	w.assertInDoubt(t, payment, err)
	require.ErrorIs(t, as[*dapi.PaymentDeclined](t, payment.Refusal), conflict)
	assert.False(t, payment.History.Unpaid)
	assert.Equal(t, 1, w.Key.Approvals(), "that of the other process")
}
