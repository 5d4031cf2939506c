package sandbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// payin quotes 50 USDT from Ethereum, or what the change makes of it.
func (s *session) payin(change object) reply {
	s.t.Helper()
	body := object{"amount": "50", "currency": "USDT", "originChainId": 1}
	for name, value := range change {
		if body[name] = value; value == nil {
			delete(body, name)
		}
	}
	return s.call("POST", "/payins", body)
}

func (s *session) instruct(quoted reply) reply {
	s.t.Helper()
	return s.call("POST", "/payins/"+quoted.body.text("id")+"/instructions", nil)
}

func (s *session) complete(key string, quoted reply) reply {
	s.t.Helper()
	return s.call("POST", "/sandbox/payins/"+quoted.body.text("id")+"/complete", nil, "Idempotency-Key", key)
}

func (s *session) payinStatus(quoted reply) string {
	s.t.Helper()
	return s.must(http.StatusOK, "GET", "/payins/"+quoted.body.text("id"), nil).body.text("status")
}

// Rule: idempotency.payin, idempotency.sandbox, sandbox.settlement-routes
func TestPayinFromAnotherChain(t *testing.T) {
	p := newPayer(t)
	quoted := p.payin(nil)
	require.Equal(t, http.StatusCreated, quoted.status, "%s", quoted.raw)
	assert.Equal(t, "quoted", quoted.body.text("status"))
	assert.Equal(t, "0.3", quoted.body.text("quote", "fee"))
	assert.Equal(t, "49.7", quoted.body.text("quote", "destinationAmount"))
	assert.Equal(t, "USDC", quoted.body.text("quote", "destinationCurrency"))
	again := p.payin(object{"amount": "50.00"})
	assert.Equal(t, http.StatusOK, again.status)
	assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	assert.Equal(t, quoted.body, again.body, "the terms are the natural key")
	refused(t, http.StatusConflict, "quote_not_submitted", p.complete("early", quoted))

	instructions := p.instruct(quoted)
	assert.Equal(t, http.StatusCreated, instructions.status)
	assert.Equal(t, quoted.body.text("depositAddress"), instructions.body.text("requisites", "walletAddress"))
	assert.NotEmpty(t, instructions.body.text("requisites", "reference"))
	replayed := p.instruct(quoted)
	assert.Equal(t, http.StatusOK, replayed.status)
	assert.Equal(t, instructions.body, replayed.body)
	assert.Equal(t, "awaiting_funds", p.payinStatus(quoted))
	another := p.payin(nil)
	assert.NotEqual(t, quoted.body.text("id"), another.body.text("id"),
		"a quote that was taken up is not offered again")

	completed := p.complete("c1", quoted)
	require.Equal(t, http.StatusOK, completed.status, "%s", completed.raw)
	assert.NotContains(t, completed.header, "Idempotency-Replayed")
	assert.Equal(t, "completed", completed.body.text("status"))
	assert.Equal(t, "true", p.complete("c1", quoted).header.Get("Idempotency-Replayed"))
	refused(t, http.StatusConflict, "idempotency_key_reused", p.complete("c1", another))
	assert.Equal(t, "completed", p.complete("c2", quoted).body.text("status"))
	assert.Equal(t, "149.7", p.balance(), "the credit happens once")
	p.host.Advance(2 * time.Minute)
	assert.Equal(t, "completed", p.payinStatus(quoted))

	entries := p.must(http.StatusOK, "GET", "/transactions?type=payin", nil).body.at("items").([]any)
	require.Len(t, entries, 1)
	assert.Equal(t, quoted.body.text("id"), object(entries[0].(map[string]any)).text("payinId"))
}

// Rule: sandbox.settlement-routes, rail.partner
func TestPayinOverAVirtualAccount(t *testing.T) {
	p := newPayer(t)
	p.verify()
	bank := p.activeRail("sepa", "EUR")
	euros := object{"currency": "EUR", "bankId": bank, "originChainId": nil}
	quoted := p.payin(euros)
	require.Equal(t, http.StatusCreated, quoted.status, "%s", quoted.raw)
	assert.Equal(t, "EURC", quoted.body.text("quote", "destinationCurrency"))
	assert.Equal(t, "50", quoted.body.text("quote", "destinationAmount"), "euros become the euro asset one to one")
	assert.Nil(t, quoted.body.at("depositAddress"))

	requisites := p.instruct(quoted).body.at("requisites").(map[string]any)
	rail := p.rails()["sepa"]
	for name, value := range rail.at("virtualAccount", "requisites").(map[string]any) {
		assert.Equal(t, value, requisites[name])
	}
	assert.NotEmpty(t, requisites["reference"])

	p.change(func(s *sandbox.Settings) { s.ChannelsUnavailable = []string{"sepa"} })
	refused(t, http.StatusConflict, "payout_not_fundable", p.complete("c1", quoted))
	refused(t, http.StatusServiceUnavailable, "provider_unavailable",
		p.payin(object{"currency": "EUR", "bankId": bank, "originChainId": nil, "amount": "51"}))
	p.change(func(s *sandbox.Settings) { s.ChannelsUnavailable = nil })
	assert.Equal(t, http.StatusOK, p.complete("c1", quoted).status, "a refused key anchors nothing")
	assert.Equal(t, "50", p.host.Ledger().Balances[p.account]["EURC"].String())

	stranger := p.as("").readyClient("bolt@example.com")
	refused(t, http.StatusNotFound, "not_found", stranger.payin(euros))
	refused(t, http.StatusNotFound, "not_found", stranger.call("GET", "/payins/"+quoted.body.text("id"), nil))
}

// Rule: error.amount-precision
func TestPayinTermsThatAreRefused(t *testing.T) {
	p := newPayer(t)
	p.verify()
	bank := p.activeRail("ukfps", "GBP")
	for name, tc := range map[string]struct {
		change object
		fields map[string]string
	}{
		"neither source": {object{"originChainId": nil},
			map[string]string{"bankId": "exactly_one", "originChainId": "exactly_one"}},
		"both sources": {object{"bankId": bank},
			map[string]string{"bankId": "exactly_one", "originChainId": "exactly_one"}},
		"unlisted chain":   {object{"originChainId": 56}, map[string]string{"originChainId": "chain_not_live"}},
		"Base itself":      {object{"originChainId": 8453}, map[string]string{"originChainId": "chain_mismatch"}},
		"unlisted token":   {object{"currency": "WETH"}, map[string]string{"currency": "token_not_listed"}},
		"too fine":         {object{"amount": "50.0000001"}, map[string]string{"amount": "amount_precision"}},
		"nothing":          {object{"amount": "0"}, map[string]string{"amount": "greater_than"}},
		"under the fee":    {object{"amount": "0.3"}, map[string]string{"amount": "amount_below_fee"}},
		"maximum too low":  {object{"maxAmount": "49.99"}, map[string]string{"maxAmount": "greater_than_equal"}},
		"maximum too fine": {object{"maxAmount": "50.0000001"}, map[string]string{"maxAmount": "amount_precision"}},
		"wrong money": {object{"originChainId": nil, "bankId": bank},
			map[string]string{"currency": "currency_mismatch"}},
		"fine pennies": {object{"originChainId": nil, "bankId": bank, "currency": "GBP", "amount": "1.005"},
			map[string]string{"amount": "amount_precision"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := p.payin(tc.change)
			refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
			assert.Equal(t, tc.fields, got.fields())
		})
	}
	refused(t, http.StatusBadRequest, "invalid_id", p.payin(object{"bankId": "po_1", "originChainId": nil}))
	assert.Equal(t, http.StatusCreated, p.payin(object{"maxAmount": "50"}).status)
	assert.Equal(t, http.StatusCreated, p.payin(object{"currency": "DAI", "amount": "1.000000000000000001"}).status,
		"DAI has 18 decimals")
}

// Rule: lifetime.payin-price
func TestPayinPriceHoldsTwoMinutes(t *testing.T) {
	p := newPayer(t)
	waiting, taken := p.payin(nil), p.payin(object{"amount": "51"})
	require.Equal(t, http.StatusCreated, p.instruct(taken).status)
	p.host.Advance(2*time.Minute - time.Millisecond)
	assert.Equal(t, "quoted", p.payinStatus(waiting))
	assert.Equal(t, "awaiting_funds", p.payinStatus(taken))

	p.host.Advance(time.Millisecond)
	for _, late := range []reply{waiting, taken} {
		assert.Equal(t, "expired", p.payinStatus(late))
		refused(t, http.StatusConflict, "quote_expired", p.instruct(late))
		refused(t, http.StatusConflict, "quote_expired", p.complete("c", late))
	}
	assert.Equal(t, http.StatusCreated, p.payin(nil).status, "an expired quote is no replay")
	assert.Equal(t, "100", p.balance())
}

// Rule: sandbox.minimum, sandbox.maximum, sandbox.faucet-covers
func TestPayinsFollowTheFaucet(t *testing.T) {
	p := newPayer(t)
	for amount, slug := range map[string]string{"0.35": "amount_below_minimum", "100.300001": "amount_above_maximum"} {
		quoted := p.payin(object{"amount": amount})
		require.Equal(t, http.StatusCreated, p.instruct(quoted).status)
		refused(t, http.StatusUnprocessableEntity, slug, p.complete("c-"+amount, quoted))
	}
	quoted := p.payin(nil)
	require.Equal(t, http.StatusCreated, p.instruct(quoted).status)
	p.change(func(s *sandbox.Settings) { s.FaucetGas = decimal.Decimal{} })
	refused(t, http.StatusServiceUnavailable, "provider_unavailable", p.complete("c", quoted))
	assert.Equal(t, "100", p.balance())
}
