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
func TestPartnerMovesReturnTheMoney(t *testing.T) {
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
func TestCreditsFollowTheFaucet(t *testing.T) {
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
func TestTheLedgerSinceATime(t *testing.T) {
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
func TestChainsNameWhatContactsAndPayoutsNeed(t *testing.T) {
	me := newWorld(t).login()
	chains := me.must(http.StatusOK, "GET", "/chains", nil).body.at("items").([]any)
	base := object(chains[0].(map[string]any))
	assert.Equal(t, "base", base.text("code"))
	assert.EqualValues(t, 8453, base.at("chainId"))
	tokens := base.at("tokens").([]any)
	assert.Equal(t, object{"symbol": "USDC", "decimals": 6.0, "address": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"},
		object(tokens[0].(map[string]any)))
}
