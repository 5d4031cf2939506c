package dapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// quoteMember changes the quote of bookings.
func quoteMember(name string, value any) func(payout map[string]any) {
	return func(payout map[string]any) { payout["quote"].(map[string]any)[name] = value }
}

func withoutQuoteMember(name string) func(payout map[string]any) {
	return func(payout map[string]any) { delete(payout["quote"].(map[string]any), name) }
}

func withoutQuote(payout map[string]any) { delete(payout, "quote") }

// The host's price of 25 USDC is 22.42 EUR, with a fee of 0.5 that is part of the amount.
func TestPriceBounds(t *testing.T) {
	stored := dapi.Quote{
		DestinationAmount: amount("22.42"), DestinationCurrency: "EUR", SourceAmount: amount("25"),
		SourceCurrency: "USDC",
	}
	for name, c := range map[string]struct {
		change func(payout map[string]any)
		option payOption
		bound  dapi.PriceBound // that is broken, empty for none
	}{
		"no bound":                        {},
		"no bound and no quote":           {change: withoutQuote},
		"no bound and a large fee inside": {change: quoteMember("fee", "24")},

		"enough arrives": {option: minDestinationAmount(amount("22.42"), "EUR")},
		"too little arrives": {option: minDestinationAmount(amount("22.43"), "EUR"),
			bound: dapi.BoundMinDestinationAmount},
		"next to nothing arrives": {change: quoteMember("destinationAmount", "0.01"),
			option: minDestinationAmount(amount("22"), "EUR"), bound: dapi.BoundMinDestinationAmount},
		"another currency arrives": {option: minDestinationAmount(amount("1"), "USD"),
			bound: dapi.BoundMinDestinationAmount},
		"what arrives is not said": {change: withoutQuoteMember("destinationAmount"),
			option: minDestinationAmount(amount("1"), "EUR"), bound: dapi.BoundReadable},
		"where is not said": {change: withoutQuoteMember("destinationCurrency"),
			option: minDestinationAmount(amount("1"), "EUR"), bound: dapi.BoundReadable},
		"nothing is said, least": {change: withoutQuote, option: minDestinationAmount(amount("1"), "EUR"),
			bound: dapi.BoundReadable},

		"the fee is allowed":  {option: maxFee(amount("0.50"))},
		"the fee is too high": {option: maxFee(amount("0.49")), bound: dapi.BoundMaxFee},
		"a fee of 99": {change: quoteMember("fee", "99"), option: maxFee(amount("1")),
			bound: dapi.BoundMaxFee},
		"no fee at all": {change: quoteMember("fee", "0"), option: maxFee(decimal.Zero)},
		"the fee is not said": {change: withoutQuoteMember("fee"), option: maxFee(amount("1")),
			bound: dapi.BoundReadable},
		"the fee is null": {change: quoteMember("fee", nil), option: maxFee(amount("1")),
			bound: dapi.BoundReadable},
		"nothing is said, fee": {change: withoutQuote, option: maxFee(amount("1")),
			bound: dapi.BoundReadable},
		"a fee below nothing":    {change: quoteMember("fee", "-1"), bound: dapi.BoundReadable},
		"less than nothing goes": {change: quoteMember("sourceAmount", "-25"), bound: dapi.BoundReadable},

		"as good as the stored quote": {option: noWorseThan(stored)},
		"worse than the stored quote": {change: quoteMember("destinationAmount", "22.41"),
			option: noWorseThan(stored), bound: dapi.BoundNoWorseThan},
		"the stored quote cannot be held": {change: withoutQuoteMember("sourceAmount"),
			option: noWorseThan(stored), bound: dapi.BoundReadable},
		"nothing is said, stored quote": {change: withoutQuote, option: noWorseThan(stored),
			bound: dapi.BoundReadable},
		"the stored quote leaves in EURC": {option: noWorseThan(dapi.Quote{DestinationAmount: amount("1"),
			DestinationCurrency: "EUR", SourceAmount: amount("99"), SourceCurrency: "EURC"}),
			bound: dapi.BoundNoWorseThan},
		"more leaves than in the stored": {change: quoteMember("sourceAmount", "25.5"),
			option: noWorseThan(stored), bound: dapi.BoundNoWorseThan},
		"1,000 leave":                       {change: quoteMember("sourceAmount", "1000"), bound: dapi.BoundAmount},
		"a little more leaves":              {change: quoteMember("sourceAmount", "25.51"), bound: dapi.BoundAmount},
		"the fee comes on top":              {change: quoteMember("sourceAmount", "25.5")},
		"the fee is inside":                 {change: quoteMember("sourceAmount", "25")},
		"another asset leaves":              {change: quoteMember("sourceCurrency", "EURC"), bound: dapi.BoundAsset},
		"which asset leaves is not said":    {change: withoutQuoteMember("sourceCurrency")},
		"what leaves is not said, no bound": {change: withoutQuoteMember("sourceAmount")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			if c.change != nil {
				w.onBooking(c.change)
			}
			payment, err := w.pay(journaled(), c.option)
			if c.bound == "" {
				require.NoError(t, err)
				assert.Equal(t, 1, w.Fundings())
				return
			}
			refused := as[*dapi.PriceRefused](t, err)
			assert.Equal(t, c.bound, refused.Bound, "%v", err)
			assert.Equal(t, payment.Payout, refused.Payout)
			assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
			w.assertNothingSigned(t)
		})
	}
}

// docs/operations.md says how an exact amount arrives: the first price has what the second payment must be.
func TestAnExactAmountArrives(t *testing.T) {
	w := newPayWorld(t)
	wanted := amount("100")
	w.Credit(w.account.Sandbox, "100", dapi.USDC, moneymovement.IdempotencyKey("more"))
	w.asked.Amount = wanted
	first, err := w.account.Payouts.Book(w.Context(), w.asked, moneymovement.IdempotencyKey("invoice-42-1"))
	require.NoError(t, err)
	w.asked.Amount = wanted.Div(first.Quote.Rate).Add(first.Quote.Fee).RoundUp(6)
	paid, err := w.payAs("invoice-42-2", journaled(), minDestinationAmount(wanted, "EUR"))
	require.NoError(t, err)
	assert.True(t, wanted.Equal(paid.Payout.Quote.DestinationAmount), "%s arrive", paid.Payout.Quote.DestinationAmount)
}

// Bounds that a program has stored hold over calls and restarts: no repetition pays at another price.
func TestStoredBoundsHoldOverRestarts(t *testing.T) {
	halve := func(payout map[string]any) { payout["quote"].(map[string]any)["destinationAmount"] = "11.21" }
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		var stored []byte // by the first process, which then dies before it confirms
		_, err := w.pay(journaled(), beforeSigning(func(_ context.Context, booked *dapi.Payout) error {
			stored, _ = json.Marshal(booked.Quote)
			return errors.New("the process ends here")
		}))
		as[*dapi.PaymentDeclined](t, err)

		var quote dapi.Quote
		require.NoError(t, json.Unmarshal(stored, &quote))
		w.account = w.integrator().Self()
		w.onBooking(halve)
		for name, bound := range map[string]payOption{
			"no worse than": noWorseThan(quote),
			"least":         minDestinationAmount(quote.DestinationAmount, quote.DestinationCurrency),
		} {
			payment, err := w.pay(bound)
			price := as[*dapi.PriceRefused](t, as[*errors.InDoubt](t, err).Cause)
			assert.NotEmpty(t, price.Bound, name)
			assert.Equal(t, moneymovement.PaymentInDoubt, payment.State, "an earlier process may have paid")
		}
		assert.Zero(t, w.Fundings())
		w.Wire.OnResponse(nil)
		_, err = w.pay(noWorseThan(quote))
		require.NoError(t, err)
	})
}

// The first price that this client saw for a payment bounds the later ones, over calls: a worse one is taken when
// somebody says so.
func TestFirstPriceHoldsOverCalls(t *testing.T) {
	w := newPayWorld(t)
	w.refuse(http.StatusForbidden, "signing_policy_refused")
	_, err := w.pay(journaled())
	as[*errors.SigningPolicyRefused](t, err)
	w.onBooking(quoteMember("destinationAmount", "11.21"))
	_, err = w.pay()
	refused := as[*dapi.PriceRefused](t, as[*errors.InDoubt](t, err).Cause)
	assert.Equal(t, dapi.BoundNoWorseThan, refused.Bound)
	assert.True(t, refused.Reference.DestinationAmount.Equal(amount("22.42")), refused.Reference.DestinationAmount)
	assert.Zero(t, w.Fundings())

	_, err = w.pay(journaled(), noWorseThan(*refused.Quote))
	require.NoError(t, err, "by saying that it is good enough")
	assert.Equal(t, 1, w.Fundings())
}

// A quote that is over is not confirmed: the payment is booked again. If the service gives the same one again, it is
// confirmed once, for only the service's own 409 reopens a payment.
func TestExpiredQuoteIsBookedAgain(t *testing.T) {
	past := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	t.Run("a price, then a fresh one", func(t *testing.T) {
		w := newPayWorld(t)
		books := 0
		w.onBooking(func(payout map[string]any) {
			if books++; books == 1 {
				quoteMember("expiresAt", past)(payout)
			}
		})
		_, err := w.pay(journaled())
		require.NoError(t, err)
		assert.Equal(t, traffic{2, 1, 0}, w.traffic())
	})
	t.Run("a price, then another that is over as well", func(t *testing.T) {
		w := newPayWorld(t)
		w.onBooking(func(payout map[string]any) {
			if w.Sent("BookPayout") == 1 {
				quoteMember("expiresAt", past)(payout)
			} else {
				quoteMember("expiresAt", time.Now().Add(-time.Minute).UTC().Truncate(time.Minute).
					Format(time.RFC3339))(payout)
			}
		})
		_, err := w.pay(journaled())
		require.NoError(t, err)
		assert.Equal(t, traffic{3, 1, 0}, w.traffic(), "which is not the same offer")
	})
	t.Run("another that is over each time", func(t *testing.T) {
		w := newPayWorld(t)
		w.onBooking(func(payout map[string]any) {
			quoteMember("expiresAt", time.Now().Add(-time.Duration(w.Sent("BookPayout"))*time.Hour).UTC().
				Format(time.RFC3339))(payout)
		})
		payment, err := w.pay(journaled())
		assert.Equal(t, "ConfirmPayout", as[*errors.NotDelivered](t, err).Operation)
		assert.Equal(t, moneymovement.PaymentNotPaid, payment.State)
		assert.Equal(t, traffic{4, 0, 1}, w.traffic())
		assert.Zero(t, w.Key.Approvals(), "nothing was signed")
	})
	t.Run("an approval without a price, and the same one again", func(t *testing.T) {
		w := newPayWorld(t)
		w.onBooking(both(withoutQuote, func(payout map[string]any) {
			payout["approval"].(map[string]any)["expiresAt"] = past
		}))
		_, err := w.pay(journaled())
		as[*signing.ApprovalRefused](t, err)
		assert.Equal(t, traffic{2, 0, 1}, w.traffic())
	})
	t.Run("a price without an approval, then both", func(t *testing.T) {
		w := newPayWorld(t)
		books := 0
		w.onBooking(func(payout map[string]any) {
			if books++; books == 1 {
				quoteMember("expiresAt", past)(payout)
				delete(payout, "approval")
			} else {
				quoteMember("expiresAt", past)(payout)
			}
		})
		_, err := w.pay(journaled())
		require.NoError(t, err)
		assert.Equal(t, traffic{3, 1, 0}, w.traffic(), "what offered nothing to sign is no same offer")
	})
	t.Run("a price, and the same one again", func(t *testing.T) {
		w := newPayWorld(t)
		w.onBooking(quoteMember("expiresAt", past))
		_, err := w.pay(journaled())
		require.NoError(t, err)
		assert.Equal(t, traffic{2, 1, 0}, w.traffic(), "it is confirmed once, and the service took it")
	})
	t.Run("a price, and the service says so, too", func(t *testing.T) {
		w := newPayWorld(t)
		w.onBooking(quoteMember("expiresAt", past))
		w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusConflict, "quote_expired").Times(100))
		_, err := w.pay(journaled())
		as[*errors.QuoteExpired](t, err)
		assert.Equal(t, traffic{3, 1, 1}, w.traffic(), "it is confirmed once")
		assert.Zero(t, w.Fundings())
	})
}

// Rule: lifetime.price
func TestQuoteLifetime(t *testing.T) {
	for after, want := range map[time.Duration]traffic{119 * time.Second: {1, 1, 0}, 121 * time.Second: {2, 2, 0}} {
		t.Run(after.String(), func(t *testing.T) {
			w := newPayWorld(t)
			w.Configure(func(s *sandbox.Settings) { s.QuoteLifetime = sandbox.DefaultSettings().QuoteLifetime })
			w.waitBeforeSigning(after, 1)
			_, err := w.pay()
			require.NoError(t, err)
			assert.Equal(t, want, w.traffic())
		})
	}
}

// A session that cannot be renewed is noticed before anything is signed.
func TestNothingIsSignedWithoutASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.asked.ContactID = w.Contact(w.account.Contacts, wallet())
		time.Sleep(59 * time.Minute) // of the token's hour
		w.Configure(func(s *sandbox.Settings) { s.LoginAvailable = false })
		w.Host.Arm("POST", "/auth/refresh", sandbox.Respond(http.StatusForbidden, "forbidden"))
		slow := beforeSigning(func(context.Context, *dapi.Payout) error {
			time.Sleep(61 * time.Second)
			return nil
		})
		_, err := w.pay(slow)
		require.Error(t, err)
		assert.Zero(t, w.Key.Approvals(), "no approval was signed")
		assert.Zero(t, w.Fundings())
	})
}

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
			payment, err := w.pay(journaled())
			if c.worse {
				worsened := as[*dapi.PriceRefused](t, err)
				assert.NotEmpty(t, worsened.Payout.ID)
				assert.Contains(t, err.Error(), "the price was refused and not signed, so this call paid nothing")
				assert.Zero(t, w.Fundings())
				return
			}
			require.NoError(t, err)
			assert.NotEmpty(t, payment.Payout.TransactionHash)
			assert.Equal(t, 1, w.Fundings())
		})
	}
}

func TestQuoteToleranceCountsFromTheFirstPrice(t *testing.T) {
	w := newPayWorld(t)
	w.Key.BeforeApproval(func(n int) {
		w.worsen([]string{"0.009", "0.018", "0.027"}[min(n, 3)-1])
		w.Host.Advance(31 * time.Second)
	})
	_, err := w.pay(journaled(), quoteTolerance(amount("0.01")))
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
		payment, err := w.pay()
		assert.Equal(t, dapi.PayoutStatusFailed, as[*dapi.PayoutNotCompleted](t, err).Payout.Status)
		assert.Equal(t, dapi.PayoutStatusFailed, payment.Payout.Status)
		assert.Equal(t, 1, w.Sent("BookPayout"))
		assert.Equal(t, 1, w.Fundings())
	})
}

func TestFundingAfterTheCallersContextEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) })
		w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit())
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		payment, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42", dapi.PayTerms{})
		assert.Equal(t, dapi.PayoutStatusFunding, payment.Payout.Status, "the last reading comes back")
		inDoubt := as[*errors.InDoubt](t, err)
		assert.Equal(t, "ConfirmPayout", inDoubt.Operation)
		pending := as[*moneymovement.StillPending](t, inDoubt.Cause)
		assert.Equal(t, "funding", pending.Status)
		assert.Equal(t, "payout", pending.Resource)
		assert.Equal(t, string(payment.Payout.ID), pending.ID)
		assert.Equal(t, moneymovement.PaymentInDoubt, payment.State)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestContextThatEndsDuringTheConfirm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", confirmPath, sandbox.Delay(time.Minute))
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		_, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42", dapi.PayTerms{})
		inDoubt := as[*errors.InDoubt](t, err)
		assert.NotEmpty(t, inDoubt.IdempotencyKey)
		assert.Equal(t, errors.MaybeMoved, inDoubt.MovedByCall())
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
