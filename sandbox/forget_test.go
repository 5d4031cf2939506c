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

// forgetAfter is a change of settings.
func forgetAfter(d time.Duration) func(*sandbox.Settings) {
	return func(s *sandbox.Settings) { s.ForgetFinishedAfter = sandbox.Duration(d) }
}

// addsUp asserts that the books sum to zero, in each currency and in each movement, and are what the balances say.
func addsUp(t require.TestingT, ledger sandbox.Ledger) {
	type place struct{ of, currency string }
	movements, accounts := map[place]decimal.Decimal{}, map[place]decimal.Decimal{}
	for _, entry := range ledger.Entries {
		in, at := place{entry.Movement, entry.Currency}, place{entry.Account, entry.Currency}
		movements[in] = movements[in].Add(entry.Amount)
		accounts[at] = accounts[at].Add(entry.Amount)
	}
	for currency, sum := range ledger.Sums {
		assert.True(t, sum.IsZero(), currency)
	}
	for in, sum := range movements {
		assert.True(t, sum.IsZero(), "%v", in)
	}
	for account, held := range ledger.Balances {
		for currency, balance := range held {
			assert.True(t, balance.Equal(accounts[place{account, currency}]), "%s %s", account, currency)
		}
	}
}

func balancesOf(ledger sandbox.Ledger) map[string]string {
	balances := map[string]string{}
	for account, held := range ledger.Balances {
		for currency, balance := range held {
			balances[account+" "+currency] = balance.String()
		}
	}
	return balances
}

func TestFinishedPayoutsAreForgottenAndTheBooksStayRight(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	bolt := me.readyClient("bolt@example.com")
	acme := me.readyClient("acme@example.com")
	acme.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "100", "currency": "USDC"})
	contacts := []string{
		acme.walletContact(),
		acme.must(http.StatusCreated, "POST", "/contacts", object{"email": "bolt@example.com"}).body.text("id"),
	}
	p := &payer{session: acme}
	paid := map[string]reply{}
	for i, end := range []string{"completed", "failed", "refunded", "completed, then refunded", "to a client"} {
		p.contact = contacts[i/4]
		booked := p.book(fmt.Sprint("key-", i), "7.25")
		require.Equal(t, http.StatusOK, p.confirm(booked).status)
		switch end {
		case "failed", "refunded", "completed":
			require.Equal(t, http.StatusOK, p.move(end, booked, end).status)
		case "completed, then refunded":
			require.Equal(t, http.StatusOK, p.move("first", booked, "completed").status)
			require.Equal(t, http.StatusOK, p.move("second", booked, "refunded").status)
		}
		paid[end] = booked
	}
	p.contact = contacts[0]
	w.host.Advance(2 * time.Minute) // what is in flight completes
	open, running := p.book("open", "1"), p.book("running", "2")
	require.Equal(t, http.StatusOK, p.confirm(running).status)

	before := w.host.Ledger()
	require.NoError(t, w.host.Configure(forgetAfter(time.Minute)))
	assert.Equal(t, "7.25", bolt.must(http.StatusOK, "GET", "/clients/"+bolt.account, nil).
		body.at("balances").([]any)[0].(map[string]any)["available"])
	after := w.host.Ledger()
	addsUp(t, before)
	addsUp(t, after)
	assert.Equal(t, balancesOf(before), balancesOf(after))
	assert.Less(t, len(after.Entries), len(before.Entries))
	for end, booked := range paid {
		id := booked.body.text("id")
		refused(t, http.StatusNotFound, "not_found", p.call("GET", "/payouts/"+id, nil))
		refused(t, http.StatusNotFound, "not_found", p.confirm(booked))
		for _, entry := range after.Entries {
			assert.NotEqual(t, id, entry.ResourceID, end)
		}
		assert.NotContains(t, string(p.must(http.StatusOK, "GET", "/transactions", nil).raw), id, end)
	}
	assert.Equal(t, "awaiting_approval", p.status(open), "not finished")
	assert.Equal(t, "funding", p.status(running), "not finished")
	require.Equal(t, http.StatusOK, p.confirm(open).status)
	w.host.Advance(time.Second)
	assert.Equal(t, "completed", p.status(open), "not long enough ago")
	w.host.Advance(time.Minute)
	refused(t, http.StatusNotFound, "not_found", p.call("GET", "/payouts/"+open.body.text("id"), nil))
	addsUp(t, w.host.Ledger())
}

// Rule: idempotency.lifetimes
func TestTheKeysOfForgottenPayoutsBookNothing(t *testing.T) {
	p := newPayer(t, sandbox.WithSettings(forgetAfter(time.Minute)))
	explicit, derived := p.book("invoice-42", "5"), p.book("", "6")
	require.Equal(t, http.StatusOK, p.confirm(explicit).status)
	require.Equal(t, http.StatusOK, p.confirm(derived).status)
	require.Equal(t, http.StatusOK, p.move("move-1", explicit, "completed").status)
	p.host.Advance(2 * time.Minute)
	p.call("GET", "/chains", nil)
	balance := p.balance()

	refused(t, http.StatusGone, "gone", p.book("invoice-42", "5"))
	refused(t, http.StatusGone, "gone", p.book("", "6"))
	refused(t, http.StatusConflict, "idempotency_key_reused", p.book("invoice-42", "5.5"))
	refused(t, http.StatusGone, "gone", p.move("move-1", explicit, "completed"))

	p.host.Advance(2 * time.Hour)
	p.relogin()
	refused(t, http.StatusGone, "gone", p.book("invoice-42", "5"))
	assert.Equal(t, http.StatusCreated, p.book("", "6").status, "a derived key replays for two hours")
	p.host.Advance(7 * 24 * time.Hour)
	p.relogin()
	assert.Equal(t, http.StatusCreated, p.book("invoice-42", "5").status, "an explicit key replays for seven days")
	assert.Equal(t, balance, p.balance())
}

func TestMoneyOnItsWayBackKeepsItsPayout(t *testing.T) {
	p := newPayer(t, sandbox.WithSettings(func(s *sandbox.Settings) {
		forgetAfter(time.Minute)(s)
		// attributed to no payout
		s.ReturnAfter, s.ReturnFee = sandbox.Duration(time.Hour), decimal.RequireFromString("0.5")
	}))
	booked := p.book("invoice-42", "5")
	require.Equal(t, http.StatusOK, p.confirm(booked).status)
	require.Equal(t, http.StatusOK, p.move("back", booked, "refunded").status)
	p.host.Advance(30 * time.Minute)
	assert.Equal(t, "refunded", p.status(booked))
	p.host.Advance(30 * time.Minute)
	p.relogin()
	assert.Equal(t, "refunded", p.status(booked))
	assert.Equal(t, "99.5", p.balance())
	p.host.Advance(time.Minute)
	refused(t, http.StatusNotFound, "not_found", p.call("GET", "/payouts/"+booked.body.text("id"), nil))
	assert.Equal(t, "99.5", p.balance())
	addsUp(t, p.host.Ledger())
}

func TestAHostThatForgetsDoesNotGrow(t *testing.T) {
	c := newPayingClient(t, sandbox.WithSettings(forgetAfter(time.Second)))
	const payouts = 200
	for i := range payouts {
		c.pay(fmt.Sprint("key-", i))
		c.host.Advance(time.Second)
	}
	c.host.Advance(time.Minute)
	ledger := c.host.Ledger()
	addsUp(t, ledger)
	assert.LessOrEqual(t, len(ledger.Entries), 20)
	assert.LessOrEqual(t, c.host.Records(), payouts+100, "a key of each payout, and next to nothing else")
}
