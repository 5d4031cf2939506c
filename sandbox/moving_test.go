package sandbox_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// newBankPayer is a payer whose contact has a bank account, so that its payouts have a fee and a rate.
func newBankPayer(t testing.TB, change func(*sandbox.Settings)) *payer {
	t.Helper()
	p := newPayer(t, sandbox.WithSettings(change))
	p.contact = p.must(http.StatusCreated, "POST", "/contacts", object{"name": "Bob", "account": object{
		"accountType": "sepa", "iban": "DE89370400440532013000"}}).body.text("id")
	return p
}

// price is the rate and the fee of a booked payout.
func price(booked reply) string {
	return booked.body.text("quote", "rate") + " " + booked.body.text("quote", "fee")
}

// Each price of a payout has its own drift, and another host with the same seed has the same ones, whatever the order.
func TestPricesDrift(t *testing.T) {
	drifting := func(seed int64) func(*sandbox.Settings) {
		return func(s *sandbox.Settings) {
			s.PriceDrift, s.Seed = decimal.RequireFromString("0.02"), seed
		}
	}
	usual := decimal.RequireFromString("0.9154")
	first, second, other := newBankPayer(t, drifting(7)), newBankPayer(t, drifting(7)), newBankPayer(t, drifting(8))
	prices := map[string]bool{}
	const payments = 20
	for i := range payments {
		booked := first.book(fmt.Sprint("k", i), "2")
		rate := decimal.RequireFromString(booked.body.text("quote", "rate"))
		fee := decimal.RequireFromString(booked.body.text("quote", "fee"))
		assert.LessOrEqual(t, rate.Sub(usual).Abs().Div(usual).InexactFloat64(), 0.02)
		assert.Equal(t, rate.LessThan(usual), fee.GreaterThan(decimal.RequireFromString("0.5")), "both get worse")
		assert.Equal(t, price(booked), price(first.book(fmt.Sprint("k", i), "2")),
			"a replay has the price of the first")
		prices[price(booked)] = true
	}
	assert.Greater(t, len(prices), payments/2)
	same := 0
	for i := payments - 1; i >= 0; i-- {
		booked := second.book(fmt.Sprint("k", i), "2")
		assert.True(t, prices[price(booked)], "k%d", i)
		if price(booked) == price(other.book(fmt.Sprint("k", i), "2")) {
			same++
		}
	}
	assert.Less(t, same, payments/2, "another seed has other prices")

	before := price(first.book("k1", "2"))
	first.host.Advance(2 * time.Minute)
	assert.NotEqual(t, before, price(first.book("k1", "2")), "a new price drifts anew")
}

func TestTheFeeCanGrow(t *testing.T) {
	increase := func(s *sandbox.Settings) { s.FeeIncrease = decimal.RequireFromString("0.25") }
	assert.Equal(t, "0.75", newBankPayer(t, increase).book("k", "20").body.text("quote", "fee"))
	direct := newPayer(t, sandbox.WithSettings(increase)).book("k", "20")
	assert.Equal(t, "0", direct.body.text("quote", "fee"))
}

// ends pays some payments of one USDC, lets them end, and counts how.
func (p *payer) ends(payments int) map[string]int {
	p.t.Helper()
	for i := range payments {
		require.Equal(p.t, http.StatusOK, p.confirm(p.book(fmt.Sprint("k", i), "1")).status)
	}
	p.step()
	p.step()
	ended := map[string]int{}
	for i := range payments {
		ended[p.status(p.book(fmt.Sprint("k", i), "1"))]++
	}
	return ended
}

func TestSomePayoutsFailAndSomeComeBack(t *testing.T) {
	outcomes := func(s *sandbox.Settings) { s.FailOneIn, s.RefundOneIn, s.Seed = 4, 3, 3 }
	p := newPayer(t, sandbox.WithSettings(outcomes))
	ended := p.ends(60)
	assert.Equal(t, ended, newPayer(t, sandbox.WithSettings(outcomes)).ends(60), "by the keys alone")
	assert.Equal(t, 60, ended["failed"]+ended["refunded"]+ended["completed"], ended)
	assert.InDelta(t, 15, ended["failed"], 8)
	assert.InDelta(t, 15, ended["refunded"], 8)
	assert.Equal(t, fmt.Sprint(100-ended["completed"]), p.balance())
	for currency, sum := range p.host.Ledger().Sums {
		assert.True(t, sum.IsZero(), currency)
	}
	other := newPayer(t, sandbox.WithSettings(outcomes), sandbox.WithSettings(func(s *sandbox.Settings) { s.Seed = 4 }))
	assert.NotEqual(t, ended, other.ends(60))
}

// A payout of a named amount is completed, stays so for a week, and then comes back.
func TestPayoutsOfAnAmountFailOrComeBackLater(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	require.Equal(t, http.StatusOK, p.world.call("PUT", "/_host/settings", object{"failAmount": "3",
		"refundAmount": "4.00", "refundAfter": "168h", "returnAfter": "1h", "forgetFinishedAfter": "24h"}).status)
	paid, failing, returning := p.book("paid", "2"), p.book("failing", "3"), p.book("returning", "4")
	for _, booked := range []reply{paid, failing, returning} {
		require.Equal(t, http.StatusOK, p.confirm(booked).status)
	}
	p.step()
	assert.Equal(t, "processing", p.status(failing))
	p.step()
	assert.Equal(t, "completed", p.status(paid))
	assert.Equal(t, "failed", p.status(failing))
	assert.Equal(t, "completed", p.status(returning))
	assert.Equal(t, "94", p.balance())

	p.host.Advance(7*24*time.Hour - time.Nanosecond)
	p.session = p.loginAs(p.email, p.key).as(p.account)
	assert.Equal(t, "completed", p.status(returning), "it is not forgotten before it comes back")
	refused(t, http.StatusNotFound, "not_found", p.call("GET", "/payouts/"+paid.body.text("id"), nil))
	p.host.Advance(time.Millisecond)
	assert.Equal(t, "refunded", p.status(returning))
	assert.Equal(t, "94", p.balance(), "the money is on its way")
	p.host.Advance(time.Hour)
	p.session = p.loginAs(p.email, p.key).as(p.account)
	attributed, amounts := p.refunds()
	assert.Equal(t, []string{returning.body.text("id")}, attributed)
	assert.Equal(t, []string{"4"}, amounts)
	assert.Equal(t, "98", p.balance())
}

func TestAPayoutIsMovedByTheTest(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	first, second := p.book("first", "2"), p.book("second", "3")
	refused(t, http.StatusConflict, "quote_not_submitted",
		withID(p.world.call("POST", "/_host/payouts/"+first.body.text("id"), object{"status": "failed"})))
	for _, booked := range []reply{first, second} {
		require.Equal(t, http.StatusOK, p.confirm(booked).status)
	}
	require.NoError(t, p.host.MovePayout(first.body.text("id"), "failed"))
	assert.Equal(t, "failed", p.status(first))
	moved := p.world.call("POST", "/_host/payouts/"+second.body.text("id"), object{"status": "refunded"})
	assert.Equal(t, http.StatusNoContent, moved.status)
	assert.Equal(t, "refunded", p.status(second))
	assert.Equal(t, "100", p.balance())

	assert.ErrorContains(t, p.host.MovePayout("po_none", "failed"), "not_found")
	assert.ErrorContains(t, p.host.MovePayout(first.body.text("id"), "completed"), "conflict")
	assert.ErrorContains(t, p.host.MovePayout(first.body.text("id"), "lost"), "lost")
}

// withID gives a control call's refusal what refusals of the service have.
func withID(got reply) reply {
	got.header.Set("X-Request-ID", "none")
	return got
}

// Of many payouts that come back at the same moment, each comes back once.
func TestManyPayoutsComeBackTogether(t *testing.T) {
	c := newPayingClient(t, sandbox.WithAudit(), sandbox.WithSettings(func(s *sandbox.Settings) {
		s.PayoutStepAfter, s.RefundOneIn, s.ReturnAfter = 0, 1, sandbox.Duration(time.Hour)
		s.ReturnFee = decimal.RequireFromString("0.1")
	}))
	const payments = 300
	for i := range payments {
		c.pay(fmt.Sprint("k", i))
	}
	c.host.Advance(time.Hour)
	returned := 0
	for payment := range c.host.Audit() {
		returned += payment.Returns
	}
	assert.Zero(t, returned, "nothing happens before the next request")
	assert.Equal(t, "99999970", c.host.Ledger().Balances[c.account]["USDC"].String())
	for payment := range c.host.Audit() {
		returned += payment.Returns
		assert.Equal(t, "12.4", payment.Returned.String())
	}
	assert.Equal(t, payments, returned)
}
