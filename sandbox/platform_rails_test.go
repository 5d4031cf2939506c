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

// rails lists every rail, in pages of five, by method.
func (s *session) rails() map[string]object {
	s.t.Helper()
	found := map[string]object{}
	for cursor := ""; ; {
		page := s.must(http.StatusOK, "GET", "/banks?limit=5"+cursor, nil)
		for _, item := range page.body.at("items").([]any) {
			rail := object(item.(map[string]any))
			assert.NotContains(s.t, found, rail.text("method"))
			found[rail.text("method")] = rail
		}
		next := page.body.text("nextCursor")
		if next == "" {
			return found
		}
		cursor = "&cursor=" + next
	}
}

func (s *session) openRail(method, currency string) reply {
	s.t.Helper()
	return s.call("POST", "/banks", object{"method": method, "currency": currency})
}

// activeRail opens a rail, lets it become active, and returns its virtual account's id.
func (s *session) activeRail(method, currency string) string {
	s.t.Helper()
	require.Equal(s.t, http.StatusCreated, s.openRail(method, currency).status)
	s.host.Advance(time.Duration(s.host.Settings().RailActiveAfter))
	return s.rails()[method].text("virtualAccount", "id")
}

// change changes the host's settings.
func (w *world) change(change func(*sandbox.Settings)) {
	w.t.Helper()
	require.NoError(w.t, w.host.Configure(change))
}

// Rule: rail.verification, rail.money-in, rail.states, idempotency.rail
func TestRailsOpenOnceForAVerifiedClient(t *testing.T) {
	acme := newPayer(t)
	assert.Len(t, acme.rails(), 13, "the money-in catalogue")

	unmet := acme.openRail("sepa", "EUR")
	refused(t, http.StatusUnprocessableEntity, "rail_requirements_unmet", unmet)
	var codes []string
	for _, item := range unmet.body.at("error", "details", "blockers").([]any) {
		codes = append(codes, object(item.(map[string]any)).text("code"))
	}
	assert.Equal(t, []string{"verification_not_completed", "applicant_field_missing", "applicant_field_missing",
		"document_missing"}, codes)

	acme.verify()
	opened := acme.openRail("sepa", "EUR")
	require.Equal(t, http.StatusCreated, opened.status, "%s", opened.raw)
	assert.Equal(t, object{"method": "sepa", "currency": "EUR", "status": "pending"}, opened.body)

	acme.host.Advance(time.Duration(acme.host.Settings().RailActiveAfter))
	again := acme.openRail("sepa", "EUR")
	assert.Equal(t, http.StatusOK, again.status)
	assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	assert.Equal(t, "active", again.body.text("status"))
	assert.Regexp(t, `^bnk_`, again.body.text("virtualAccount", "id"))
	assert.Regexp(t, `^DE\d{20}$`, again.body.text("virtualAccount", "requisites", "iban"))
	assert.Equal(t, again.body, acme.rails()["sepa"])

	bolt := acme.as("").readyClient("bolt@example.com")
	assert.Equal(t, "available", bolt.rails()["sepa"].text("status"), "rails are each client's own")
}

// Rule: rail.agreement, rail.partner
func TestRailAvailability(t *testing.T) {
	for name, tc := range map[string]struct {
		change           func(*sandbox.Settings)
		method, currency string
		status           int
		slug             string
	}{
		"agreement": {func(s *sandbox.Settings) {
			s.RailsDisabled = []string{"sepa"}
		}, "sepa", "EUR", 403, "rail_not_available"},
		"residency": {func(s *sandbox.Settings) {
			s.RailsHidden = []string{"sepa"}
		}, "sepa", "EUR", 403, "rail_not_available"},
		"partner": {func(s *sandbox.Settings) {
			s.PartnerDown = true
		}, "sepa", "EUR", 503, "provider_unavailable"},
		"wrong money":  {func(*sandbox.Settings) {}, "sepa", "USD", 422, "validation_failed"},
		"money out":    {func(*sandbox.Settings) {}, "fednow", "USD", 422, "validation_failed"},
		"no such":      {func(*sandbox.Settings) {}, "seppa", "EUR", 422, "validation_failed"},
		"another rail": {func(s *sandbox.Settings) { s.RailsDisabled = []string{"ach"} }, "sepa", "EUR", 201, ""},
		"channel down": {func(s *sandbox.Settings) {
			s.ChannelsUnavailable = []string{"sepa"}
		}, "sepa", "EUR", 201, ""},
		"other channel": {func(s *sandbox.Settings) {
			s.ChannelsUnavailable = []string{"ach"}
		}, "sepa", "EUR", 201, ""},
	} {
		t.Run(name, func(t *testing.T) {
			acme := newPayer(t)
			acme.verify()
			acme.change(tc.change)
			got := acme.openRail(tc.method, tc.currency)
			assert.Equal(t, tc.status, got.status, "%s", got.raw)
			assert.Equal(t, tc.slug, got.slug())
		})
	}
}

// Rule: rail.residency, rail.states, page.cursor-of-its-query
func TestRailListFollowsSettings(t *testing.T) {
	acme := newPayer(t)
	acme.verify()
	acme.activeRail("sepa", "EUR")
	acme.change(func(s *sandbox.Settings) {
		s.RailsHidden = []string{"ach", "pix"}
		s.ChannelsUnavailable = []string{"sepa", "swift"}
	})
	rails := acme.rails()
	assert.Len(t, rails, 11)
	assert.NotContains(t, rails, "ach")
	assert.Equal(t, "channel_unavailable", rails["sepa"].text("status"))
	assert.NotEmpty(t, rails["sepa"].text("virtualAccount", "id"), "the account is still there")
	assert.Equal(t, "channel_unavailable", rails["swift"].text("status"))
	assert.Nil(t, rails["swift"].at("virtualAccount"))

	page := acme.must(http.StatusOK, "GET", "/banks?limit=1", nil).body.text("nextCursor")
	refused(t, http.StatusBadRequest, "invalid_cursor", acme.as("").call("GET", "/banks?cursor="+page, nil))
}

// Rule: client.ready
func TestRailsNeedAWallet(t *testing.T) {
	w := newWorld(t,
		sandbox.WithSettings(func(s *sandbox.Settings) { s.ClientReadyAfter = sandbox.Duration(time.Hour) }))
	me := w.login()
	acme := me.as(me.must(http.StatusCreated, "POST", "/clients", object{"email": "acme@example.com"}).body.text("id"))
	refused(t, http.StatusConflict, "wallet_not_linked", acme.openRail("sepa", "EUR"))
	refused(t, http.StatusConflict, "wallet_not_linked",
		acme.call("POST", "/payins", object{"amount": "5", "currency": "USDC", "originChainId": 1}))
	refused(t, http.StatusConflict, "wallet_not_linked",
		acme.call("POST", "/escrow", object{"amount": "5", "currency": "USDC", "payee": payee}))
	assert.Equal(t, http.StatusCreated, me.openRail("sepa", "EUR").status,
		"the integrator's own account has a wallet and is verified")
}

// payee is a wallet that the host knows nothing of.
const payee = "0x52908400098527886E0F7030069857D2E4169EE7"

// verification is what GET /client/kyb returns: the status and the fields that are outstanding.
func (s *session) verification() (status string, outstanding []string) {
	s.t.Helper()
	answered := s.must(http.StatusOK, "GET", "/client/kyb", nil)
	for _, item := range answered.body.at("requirements").([]any) {
		outstanding = append(outstanding, object(item.(map[string]any)).text("field"))
	}
	return answered.body.text("status"), outstanding
}

// verify completes a verification and lets the review pass.
func (s *session) verify() {
	s.t.Helper()
	s.must(http.StatusOK, "PUT", "/client/kyb", object{
		"applicant": object{"legalName": "Acme Ltd", "country": "DE"}, "documentIds": []string{"doc_1"},
	})
	s.must(http.StatusOK, "POST", "/client/kyb/complete", nil)
	s.host.Advance(time.Duration(s.host.Settings().KYBDecisionAfter))
}

// Rule: verification.completed-explicitly, idempotency.verification, status.409
func TestKYBIsSavedReadAndCompleted(t *testing.T) {
	acme := newPayer(t)
	save := func(body object) { acme.must(http.StatusOK, "PUT", "/client/kyb", body) }

	status, outstanding := acme.verification()
	assert.Equal(t, "not_started", status)
	assert.Equal(t, []string{"applicant.legalName", "applicant.country", "documentIds"}, outstanding)
	refused(t, http.StatusConflict, "conflict", acme.call("POST", "/client/kyb/complete", nil))
	save(object{})
	status, _ = acme.verification()
	assert.Equal(t, "not_started", status, "nothing was saved")

	save(object{"applicant": object{"legalName": "Acme Ltd", "country": "Germany"}})
	status, outstanding = acme.verification()
	assert.Equal(t, "pending", status)
	assert.Equal(t, []string{"applicant.country", "documentIds"}, outstanding, "a country is its code")

	save(object{"applicant": object{"country": "DE"}})
	save(object{"documentIds": []string{"doc_1", "doc_1"}})
	_, outstanding = acme.verification()
	assert.Empty(t, outstanding, "what was saved before is kept")

	submitted := acme.must(http.StatusOK, "POST", "/client/kyb/complete", nil)
	assert.Equal(t, "under_review", submitted.body.text("status"))
	again := acme.must(http.StatusOK, "POST", "/client/kyb/complete", nil)
	assert.Equal(t, submitted.body, again.body, "completing is its own natural key")

	acme.host.Advance(time.Duration(acme.host.Settings().KYBDecisionAfter))
	status, _ = acme.verification()
	assert.Equal(t, "approved", status)
	decided := acme.must(http.StatusOK, "POST", "/client/kyb/complete", nil)
	assert.Equal(t, object{"status": "approved", "snapshotId": submitted.body.text("snapshotId")}, decided.body)
}

// Rule: verification.snapshot
func TestSavingKYBDoesNotChangeSubmission(t *testing.T) {
	acme := newPayer(t)
	acme.verify()
	first := acme.must(http.StatusOK, "POST", "/client/kyb/complete", nil).body.text("snapshotId")

	acme.must(http.StatusOK, "PUT", "/client/kyb", object{"applicant": object{"legalName": nil}})
	status, outstanding := acme.verification()
	assert.Equal(t, "approved", status, "what was approved stays so")
	assert.Equal(t, []string{"applicant.legalName"}, outstanding, "null takes a member out")
	refused(t, http.StatusConflict, "conflict", acme.call("POST", "/client/kyb/complete", nil))

	require.NoError(t, acme.host.Configure(func(s *sandbox.Settings) { s.KYBDecision = sandbox.KYBDecisionReject }))
	acme.must(http.StatusOK, "PUT", "/client/kyb", object{"applicant": object{"legalName": "Acme International Ltd"}})
	second := acme.must(http.StatusOK, "POST", "/client/kyb/complete", nil)
	assert.Equal(t, "under_review", second.body.text("status"))
	assert.NotEqual(t, first, second.body.text("snapshotId"))
	acme.host.Advance(time.Minute)
	status, _ = acme.verification()
	assert.Equal(t, "rejected", status)
	require.NoError(t, acme.host.Configure(func(s *sandbox.Settings) { s.KYBDecision = sandbox.KYBDecisionApprove }))
	status, _ = acme.verification()
	assert.Equal(t, "rejected", status, "a decision that was made stays")
}

// Rule: error.location
func TestKYBNeedsAClient(t *testing.T) {
	me := newWorld(t).login()
	for _, call := range []struct {
		method, path string
		body         any
	}{{"GET", "/client/kyb", nil}, {"PUT", "/client/kyb", object{}}, {"POST", "/client/kyb/complete", nil}} {
		got := me.call(call.method, call.path, call.body)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, map[string]string{"X-Service-Account": "missing"}, got.fields())
		assert.Equal(t, "header", got.body.text("error", "details", "location"))
	}
}

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

	other := p.as("").readyClient("bolt@example.com")
	refused(t, http.StatusNotFound, "not_found", other.payin(euros))
	refused(t, http.StatusNotFound, "not_found", other.call("GET", "/payins/"+quoted.body.text("id"), nil))
}

// Rule: error.amount-precision
func TestInvalidPayinTerms(t *testing.T) {
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
func TestPayinsAreLimitedByFaucet(t *testing.T) {
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
