package sandbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Rule: status.409
func TestMovePayoutReturnsMoney(t *testing.T) {
	for name, tc := range map[string]struct {
		path    []string // moves after the confirm
		slug    string   // of the last one
		balance string
	}{
		"delivered":               {[]string{"processing", "completed"}, "", "80"},
		"failed":                  {[]string{"failed"}, "", "100"},
		"returned":                {[]string{"completed", "refunded"}, "", "100"},
		"failed after delivery":   {[]string{"completed", "failed"}, "conflict", "80"},
		"delivered after failure": {[]string{"failed", "completed"}, "conflict", "100"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPayer(t)
			booked := p.book("invoice-42", "20")
			require.Equal(t, http.StatusOK, p.confirm(booked).status)
			var last reply
			for i, to := range tc.path {
				last = p.move(fmt.Sprint("move-", i), booked, to)
			}
			assert.Equal(t, tc.slug, last.slug(), "%s", last.raw)
			assert.Equal(t, tc.balance, p.balance())
			for currency, sum := range p.host.Ledger().Sums {
				assert.True(t, sum.IsZero(), currency)
			}
		})
	}
}

// Rule: sandbox.settlement-routes, idempotency.sandbox
func TestUnfundedPayoutsAreNotSettled(t *testing.T) {
	p := newPayer(t)
	booked := p.book("invoice-42", "20")
	refused(t, http.StatusConflict, "quote_not_submitted", p.move("m1", booked, "completed"))
	assert.Equal(t, http.StatusOK, p.move("m2", booked, "expired").status)
	refused(t, http.StatusConflict, "payout_not_fundable", p.move("m3", booked, "completed"))
	refused(t, http.StatusConflict, "funding_attempt_expired", p.confirm(booked))
	reopened := p.book("invoice-42", "20")
	require.Equal(t, http.StatusOK, p.confirm(reopened).status)

	failed := p.move("m4", booked, "failed")
	again := p.move("m4", booked, "failed")
	assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	assert.Equal(t, failed.body, again.body)
	reused := p.move("m4", booked, "refunded")
	refused(t, http.StatusConflict, "idempotency_key_reused", reused)
	assert.Equal(t, booked.body.text("id"), reused.body.text("error", "details", "payoutId"))
	refused(t, http.StatusConflict, "approval_consumed", p.confirm(reopened))
	assert.Equal(t, "100", p.balance())
}

// Rule: sandbox.minimum, sandbox.maximum, sandbox.faucet-covers, idempotency.sandbox
func TestDepositsAreLimitedByFaucet(t *testing.T) {
	p := newPayer(t)
	credit := func(key, amount string) reply {
		return p.call("POST", "/sandbox/deposits", object{"amount": amount, "currency": "EURC"}, "Idempotency-Key", key)
	}
	for _, amount := range []string{"0.099999", "0.00", "-1"} {
		refused(t, http.StatusUnprocessableEntity, "amount_below_minimum", credit("c1", amount))
	}
	assert.Equal(t, http.StatusCreated, credit("c2", "0.10").status)

	require.NoError(t, p.host.Configure(func(s *sandbox.Settings) { s.MaxCredit = decimal.NewFromInt(50) }))
	treasury := p.must(http.StatusOK, "GET", "/sandbox/treasury", nil)
	over := credit("c3", "50.000001")
	refused(t, http.StatusUnprocessableEntity, "amount_above_maximum", over)
	assert.Equal(t, treasury.body.text("maxCredit"), over.body.text("error", "details", "maxCredit"))

	require.NoError(t, p.host.Configure(func(s *sandbox.Settings) { s.FaucetBalance = decimal.NewFromInt(50) }))
	first := credit("c4", "50")
	assert.Equal(t, http.StatusCreated, first.status, "the faucet has just that")
	again := credit("c4", "50")
	assert.Equal(t, http.StatusOK, again.status)
	assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	assert.Equal(t, first.body, again.body)
	refused(t, http.StatusConflict, "idempotency_key_reused", credit("c4", "49"))

	for _, empty := range []func(*sandbox.Settings){
		func(s *sandbox.Settings) { s.FaucetGas = decimal.Decimal{} },
		func(s *sandbox.Settings) {
			s.FaucetGas, s.FaucetBalance = decimal.NewFromInt(1), decimal.RequireFromString("0.5")
		},
	} {
		require.NoError(t, p.host.Configure(empty))
		down := credit("c5", "1")
		refused(t, http.StatusServiceUnavailable, "provider_unavailable", down)
		assert.NotEmpty(t, down.body.text("error", "details", "requestId"))
	}
}

// Rule: page.cursor-of-its-query, page.next-cursor, page.limit
func TestTransactionsArePagedByACursorOfTheirQuery(t *testing.T) {
	p := newPayer(t)
	for i := range 6 {
		p.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": fmt.Sprint(i + 1), "currency": "USDC"},
			"Idempotency-Key", fmt.Sprint("d", i))
	}
	var amounts []string
	query := url.Values{"limit": {"3"}}
	for {
		page := p.must(http.StatusOK, "GET", "/transactions?"+query.Encode(), nil)
		for _, item := range page.body.at("items").([]any) {
			amounts = append(amounts, object(item.(map[string]any)).text("amount"))
		}
		if page.body.text("nextCursor") == "" {
			break
		}
		query.Set("cursor", page.body.text("nextCursor"))
	}
	assert.Equal(t, []string{"6", "5", "4", "3", "2", "1", "100"}, amounts, "newest first")

	refused(t, http.StatusBadRequest, "invalid_cursor", p.call("GET", "/transactions?type=payout&"+query.Encode(), nil))
	refused(t, http.StatusBadRequest, "invalid_cursor", p.call("GET", "/chains?"+query.Encode(), nil))
	refused(t, http.StatusBadRequest, "invalid_cursor", p.as("").call("GET", "/transactions?"+query.Encode(), nil))
	refused(t, http.StatusBadRequest, "invalid_cursor", p.call("GET", "/transactions?cursor=nonsense", nil))
	for _, limit := range []string{"0", "101"} {
		out := p.call("GET", "/transactions?limit="+limit, nil)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", out)
		assert.Equal(t, "query", out.body.text("error", "details", "location"))
	}
	none := p.must(http.StatusOK, "GET", "/transactions?type=refund", nil)
	assert.Equal(t, []any{}, none.body.at("items"))
}

// Rule: page.cursor-of-its-query
func TestTransactionsSince(t *testing.T) {
	p := newPayer(t)
	for i := range 3 {
		p.host.Advance(time.Second)
		p.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"},
			"Idempotency-Key", fmt.Sprint("d-", i))
	}
	since := func(ago time.Duration) string {
		return "since=" + p.host.Now().Add(-ago).Truncate(time.Millisecond).Format(time.RFC3339Nano)
	}
	page := p.must(http.StatusOK, "GET", "/transactions?limit=1&"+since(time.Second), nil)
	cursor := "&cursor=" + page.body.text("nextCursor")
	assert.Len(t, p.must(http.StatusOK, "GET", "/transactions?"+since(time.Second)+cursor, nil).body.at("items"), 1,
		"two are as young as that")
	refused(t, http.StatusBadRequest, "invalid_cursor",
		p.call("GET", "/transactions?"+since(2*time.Second)+cursor, nil))
}

// Rule: coverage.chains
func TestListChainsHasCodesAndTokens(t *testing.T) {
	me := newWorld(t).login()
	chains := me.must(http.StatusOK, "GET", "/chains", nil).body.at("items").([]any)
	base := object(chains[0].(map[string]any))
	assert.Equal(t, "base", base.text("code"))
	assert.EqualValues(t, 8453, base.at("chainId"))
	tokens := base.at("tokens").([]any)
	assert.Equal(t, object{"symbol": "USDC", "decimals": 6.0, "address": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"},
		object(tokens[0].(map[string]any)))
}

// refunds lists what came back: the payouts that it was attributed to, and the amounts, oldest first.
func (p *payer) refunds() (payoutIDs, amounts []string) {
	p.t.Helper()
	items, _ := p.must(http.StatusOK, "GET", "/transactions?type=refund", nil).body.at("items").([]any)
	for i := len(items) - 1; i >= 0; i-- {
		entry := object(items[i].(map[string]any))
		payoutIDs, amounts = append(payoutIDs, entry.text("payoutId")), append(amounts, entry.text("amount"))
	}
	return payoutIDs, amounts
}

// Two payouts are refunded, the later one first, and both returns are pending at the same time.
// Rule: sandbox.returned-money
func TestReturnIsMatchedByAmount(t *testing.T) {
	for name, c := range map[string]struct {
		second, fee string
		swapped     bool
	}{
		"amounts that differ by more than the tolerance": {"20.200001", "0", false},
		"amounts that differ by the tolerance":           {"20.2", "0", true},
		"equal amounts":                                  {"20", "0", true},
		"after a fee, amounts apart":                     {"25", "0.2", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPayer(t, sandbox.WithSettings(func(s *sandbox.Settings) {
				s.ReturnAfter = sandbox.Duration(time.Minute)
				s.ReturnFee = decimal.RequireFromString(c.fee)
			}))
			first := p.book("first", "20")
			p.host.Advance(time.Second)
			second := p.book("second", c.second)
			for _, booked := range []reply{first, second} {
				require.Equal(t, http.StatusOK, p.confirm(booked).status)
			}
			for _, booked := range []reply{second, first} {
				require.Equal(t, "refunded", p.move("refund-"+booked.body.text("idempotencyKey"), booked, "refunded").
					body.text("status"))
				p.host.Advance(time.Second)
			}
			none, _ := p.refunds()
			assert.Empty(t, none, "it is on its way")

			p.host.Advance(time.Minute)
			attributed, _ := p.refunds()
			want := []string{second.body.text("id"), first.body.text("id")}
			if c.swapped {
				want[0], want[1] = want[1], want[0]
			}
			assert.Equal(t, want, attributed)
		})
	}
}

// Rule: sandbox.returned-money
func TestReturnWithoutMatchingPayout(t *testing.T) {
	for fee, fits := range map[string]bool{"0": true, "0.2": true, "0.200001": false} {
		t.Run(fee, func(t *testing.T) {
			kept := decimal.RequireFromString(fee)
			p := newPayer(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.ReturnFee = kept }))
			booked := p.book("invoice-42", "20")
			require.Equal(t, http.StatusOK, p.confirm(booked).status)
			require.Equal(t, http.StatusOK, p.move("m1", booked, "refunded").status)

			attributed, amounts := p.refunds()
			want := ""
			if fits {
				want = booked.body.text("id")
			}
			assert.Equal(t, []string{want}, attributed)
			assert.Equal(t, []string{decimal.NewFromInt(20).Sub(kept).String()}, amounts)
			assert.Equal(t, decimal.NewFromInt(100).Sub(kept).String(), p.balance())
			for currency, sum := range p.host.Ledger().Sums {
				assert.True(t, sum.IsZero(), currency)
			}
		})
	}
}

// forgetAfter is a change of settings.
func forgetAfter(d time.Duration) func(*sandbox.Settings) {
	return func(s *sandbox.Settings) { s.ForgetFinishedAfter = sandbox.Duration(d) }
}

// requireBalanced asserts that the ledger sums to zero, in each currency and in each movement, and are what the
// balances say.
func requireBalanced(t require.TestingT, ledger sandbox.Ledger) {
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

func TestForgottenPayoutsKeepTheLedgerBalanced(t *testing.T) {
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
	requireBalanced(t, before)
	requireBalanced(t, after)
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
	requireBalanced(t, w.host.Ledger())
}

// Rule: idempotency.lifetimes
func TestKeysOfForgottenPayoutsAreGone(t *testing.T) {
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

func TestPayoutWithPendingReturnIsNotForgotten(t *testing.T) {
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
	requireBalanced(t, p.host.Ledger())
}

func TestForgetFinishedAfterBoundsRecords(t *testing.T) {
	c := newPayingClient(t, sandbox.WithSettings(forgetAfter(time.Second)))
	const payouts = 200
	for i := range payouts {
		c.pay(fmt.Sprint("key-", i))
		c.host.Advance(time.Second)
	}
	c.host.Advance(time.Minute)
	ledger := c.host.Ledger()
	requireBalanced(t, ledger)
	assert.LessOrEqual(t, len(ledger.Entries), 20)
	assert.LessOrEqual(t, c.host.Records(), payouts+100, "a key of each payout, and next to nothing else")
}
