package sandbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// rail is the entry of one rail in a list.
func (r reply) rail(method string) object {
	for _, rail := range r.items() {
		if rail.text("method") == method {
			return rail
		}
	}
	return nil
}

// activate opens a rail, and returns its bank account once it is active.
func (b bearer) activate(method string) string {
	b.t.Helper()
	b.must(http.StatusOK, "POST", "/banks/activate", object{"methods": []string{method}})
	b.host.Advance(time.Minute)
	return b.must(http.StatusOK, "GET", "/banks", nil).rail(method).text("bankAccountId")
}

func TestActivateBanks(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	fresh := app.must(http.StatusOK, "GET", "/banks", nil)
	assert.EqualValues(t, 13, fresh.body.at("total"))
	assert.Equal(t, object{"method": "sepa", "currency": "EUR", "status": "available"}, fresh.rail("sepa"))

	pending := app.must(http.StatusOK, "POST", "/banks/activate", object{"methods": []string{"sepa", "sepa"}})
	require.Len(t, pending.items(), 1)
	assert.Equal(t, "pending", pending.items()[0].text("status"))
	w.host.Advance(time.Minute)
	active := app.must(http.StatusOK, "GET", "/banks", nil).rail("sepa")
	assert.Equal(t, "active", active.text("status"))
	assert.Regexp(t, "^bnk_", active.text("bankAccountId"))
	assert.Regexp(t, "^DE", active.text("requisites", "iban"))

	again := app.must(http.StatusOK, "POST", "/banks/activate", object{"methods": []string{"sepa"}})
	assert.Equal(t, active, again.items()[0], "activating an active rail changes nothing")
	seen := w.login().must(http.StatusOK, "GET", "/banks", nil)
	assert.Equal(t, active.text("bankAccountId"), seen.rail("sepa").text("virtualAccount", "id"),
		"the platform API shows the same rail")

	assert.EqualValues(t, 12, app.must(http.StatusOK, "POST", "/banks/activate", object{}).body.at("total"),
		"all that were left")
}

func TestActivateUnavailableBanksIsRefused(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	unknown := app.call("POST", "/banks/activate", object{"methods": []string{"ach", "telegraph"}})
	refused(t, http.StatusUnprocessableEntity, "validation_failed", unknown)
	assert.Equal(t, "available", app.must(http.StatusOK, "GET", "/banks", nil).rail("ach").text("status"),
		"all or none")

	require.NoError(t,
		w.host.Configure(func(s *sandbox.Settings) {
			s.RailsDisabled, s.RailsHidden = []string{"ach"}, []string{"pix"}
		}))
	refused(t, http.StatusForbidden, "rail_not_available",
		app.call("POST", "/banks/activate", object{"methods": []string{"ach"}}))
	assert.Nil(t, app.must(http.StatusOK, "GET", "/banks", nil).rail("pix"))
	assert.EqualValues(t, 11, app.must(http.StatusOK, "POST", "/banks/activate", object{"methods": []string{}}).
		body.at("total"))

	require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.RailsDisabled, s.PartnerDown = nil, true }))
	refused(t, http.StatusServiceUnavailable, "provider_unavailable",
		app.call("POST", "/banks/activate", object{"methods": []string{"ach"}}))
}

// status reads the progress of a quoted payment at the reference endpoints.
func (w *world) status(quote string) object {
	w.t.Helper()
	return w.reference().must(http.StatusOK, "GET", "/api/v1/wallet/balance/transaction/status/"+quote, nil).body
}

func TestBankPayinIsQuotedSubmittedAndCompleted(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	account := app.activate("sepa")

	quote := app.must(http.StatusOK, "POST", "/banks/payin/quote",
		object{"amount": "50.00", "bankAccountId": account, "memo": "savings"}).body
	assert.Equal(t, "EUR", quote.text("sourceCurrency"))
	assert.Equal(t, "EURC", quote.text("destinationCurrency"))
	assert.Equal(t, "0", quote.text("fee"), "nothing is written as nothing")
	id := quote.text("quoteId")
	assert.Equal(t, "quoted", w.status(id).text("status"))
	complete := func() reply { return w.login().call("POST", "/sandbox/payins/"+id+"/complete", nil) }
	refused(t, http.StatusConflict, "quote_not_submitted", complete())

	submitted := app.must(http.StatusOK, "POST", "/banks/payin/quote/submit", object{"quoteId": id}).body
	assert.Equal(t, "awaiting_funds", submitted.text("status"))
	assert.Equal(t, submitted, app.must(http.StatusOK, "POST", "/banks/payin/quote/submit", object{"quoteId": id}).body)
	require.Equal(t, http.StatusOK, complete().status)

	done := w.status(id)
	assert.Equal(t, "completed", done.text("status"))
	assert.Equal(t, "payin", done.text("type"))
	assert.Equal(t, "sepa", done.text("paymentChannel"))
	assert.InDelta(t, 50, done.at("fromAmount"), 0)
	assert.Equal(t, submitted.text("id"), done.text("id"))

	found := app.must(http.StatusOK, "GET", "/transactions?bankAccountId="+account, nil).items()
	require.Len(t, found, 1)
	assert.Equal(t, done.text("destinationTxHash"), found[0].text("txHash"))
	assert.Equal(t, "savings", found[0].text("memo"))
	assert.Equal(t, id, found[0].text("quoteId"))
	requireLedgerBalanced(t, w)
}

func TestPayinFromAnotherChainOverAppAPI(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	quote := app.must(http.StatusOK, "POST", "/balance/payin/quote",
		object{"amount": "20", "currency": "USDC", "originChainId": 1}).body
	assert.Regexp(t, "^0x", quote.text("depositAddress"))
	id := quote.text("quoteId")
	waiting := w.status(id)
	assert.Equal(t, "awaiting_funds", waiting.text("status"))
	assert.Equal(t, quote.text("depositAddress"), waiting.text("depositAddress"))
	refused(t, http.StatusConflict, "conflict", app.call("POST", "/banks/payin/quote/submit", object{"quoteId": id}))
	require.Equal(t, http.StatusOK, w.login().call("POST", "/sandbox/payins/"+id+"/complete", nil).status)
	assert.Equal(t, "19.7", app.balance())

	late := app.must(http.StatusOK, "POST", "/balance/payin/quote",
		object{"amount": "21", "currency": "USDC", "originChainId": 1}).body.text("quoteId")
	w.host.Advance(2 * time.Minute)
	assert.Equal(t, "expired", w.status(late).text("status"))
	assert.NotEmpty(t, w.status(late).text("errorMessage"))
}

func TestInvalidQuotes(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	for path, cases := range map[string][]struct {
		body   object
		fields map[string]string
	}{
		"/balance/payin/quote": {
			{object{"amount": "1", "currency": "USDC"}, map[string]string{"originChainId": "missing"}},
			{object{"amount": "1", "currency": "USDC", "originChainId": 5},
				map[string]string{"originChainId": "chain_not_live"}},
			{object{"amount": "1", "currency": "SOL", "originChainId": 1},
				map[string]string{"currency": "token_not_listed"}},
			{object{"amount": "0", "currency": "USDC", "originChainId": 1},
				map[string]string{"amount": "greater_than"}},
			{object{"amount": "1.0000001", "currency": "USDC", "originChainId": 1},
				map[string]string{"amount": "amount_precision"}},
			{object{"amount": true, "currency": "USDC", "originChainId": 1},
				map[string]string{"amount": "string_type"}},
		},
		"/banks/payin/quote": {
			{object{"amount": "1"}, map[string]string{"bankAccountId": "missing"}},
		},
		"/balance/payout/quote": {
			{object{"contactId": app.wallet("base", "USDC"), "amount": "0.0000001"},
				map[string]string{"amount": "amount_precision"}},
			{object{"contactId": app.wallet("arbitrum", "USDT"), "amount": "0.30"},
				map[string]string{"amount": "amount_below_fee"}},
		},
	} {
		for _, c := range cases {
			got := app.call("POST", path, c.body)
			refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
			assert.Equal(t, c.fields, got.fields(), "%s %v", path, c.body)
		}
	}
	refused(t, http.StatusNotFound, "not_found",
		app.call("POST", "/banks/payin/quote", object{"amount": "1", "bankAccountId": "bnk_none"}))
	refused(t, http.StatusNotFound, "not_found",
		app.call("POST", "/banks/payin/quote/submit", object{"quoteId": "pi_none"}))
	refused(t, http.StatusNotFound, "not_found",
		app.call("POST", "/balance/payout/quote", object{"contactId": app.wallet("base", "USDC"), "amount": "1",
			"bankAccountId": "bnk_none"}))
}

func TestQuoteIsSingleUseAndExpiresAfterTwoMinutes(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	app.fund(1)
	bob := app.wallet("arbitrum", "USDT")
	quoted := func() object {
		return app.must(http.StatusOK, "POST", "/balance/payout/quote", object{"contactId": bob, "amount": "20"}).body
	}
	quote := quoted()
	id := quote.text("quoteId")
	assert.Equal(t, "0.3", quote.text("fee"))
	assert.Equal(t, "19.7", quote.text("destinationAmount"))
	assert.Equal(t, "quoted", w.status(id).text("status"))
	require.Equal(t, http.StatusNoContent, app.call("DELETE", "/user/contacts/"+bob, nil).status,
		"the quote keeps its destination")

	w.host.Advance(2*time.Minute - time.Second)
	sent := app.must(http.StatusOK, "POST", "/apps/transfer", object{"quoteId": id})
	assert.Equal(t, "80", app.balance())
	done := w.status(id)
	assert.Equal(t, "completed", done.text("status"))
	assert.Equal(t, "payout", done.text("type"))
	assert.Equal(t, sent.body.text("txHash"), done.text("originTxHash"))
	refused(t, http.StatusConflict, "conflict", app.call("POST", "/apps/transfer", object{"quoteId": id}))

	bob = app.wallet("arbitrum", "USDT")
	late := quoted().text("quoteId")
	w.host.Advance(2 * time.Minute)
	refused(t, http.StatusConflict, "quote_expired", app.call("POST", "/apps/transfer", object{"quoteId": late}))
	assert.Equal(t, "expired", w.status(late).text("status"))
	assert.Equal(t, "80", app.balance())

	payin := app.must(http.StatusOK, "POST", "/balance/payin/quote",
		object{"amount": "20", "currency": "USDC", "originChainId": 1}).body.text("quoteId")
	refused(t, http.StatusConflict, "conflict", app.call("POST", "/apps/transfer", object{"quoteId": payin}))
	refused(t, http.StatusConflict, "conflict", app.call("POST", "/banks/payin/quote/submit", object{"quoteId": late}))
	requireLedgerBalanced(t, w)
}

func TestQuoteBelongsToItsAccount(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	id := app.must(http.StatusOK, "POST", "/balance/payout/quote",
		object{"contactId": app.wallet("base", "USDC"), "amount": "1"}).body.text("quoteId")
	other := w.appWith(sandbox.AppKeyRegistration{Email: "stranger@example.com"})
	refused(t, http.StatusNotFound, "not_found", other.call("POST", "/apps/transfer", object{"quoteId": id}))
	refused(t, http.StatusNotFound, "not_found",
		w.reference().call("GET", "/api/v1/wallet/balance/transaction/status/qt_none", nil))
}

func TestTransactionsAreFiltered(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	me := w.login()
	app.fund(1)
	account := app.activate("ach")
	quote := app.must(http.StatusOK, "POST", "/banks/payin/quote", object{"amount": "30", "bankAccountId": account}).
		body.text("quoteId")
	app.must(http.StatusOK, "POST", "/banks/payin/quote/submit", object{"quoteId": quote})
	me.must(http.StatusOK, "POST", "/sandbox/payins/"+quote+"/complete", nil)
	app.must(http.StatusOK, "POST", "/apps/transfer", object{"contactId": app.wallet("base", "USDC"), "amount": 5})
	contact := me.must(http.StatusCreated, "POST", "/contacts", object{"name": "Bob", "account": object{
		"accountType": "sepa", "iban": "DE89370400440532013000", "accountHolderName": "Bob Example", "currency": "EUR",
	}}).body.text("id")
	booked := me.must(http.StatusCreated, "POST", "/payouts",
		object{"contactId": contact, "amount": "10", "currency": "USDC"})
	require.Equal(t, http.StatusOK, me.confirm(booked).status)

	for query, want := range map[string][]string{
		"":                          {"sepa", "crypto", "ach", "crypto"},
		"?type=ach":                 {"ach"},
		"?type=ach,sepa":            {"sepa", "ach"},
		"?type=wire":                {},
		"?status=pending":           {"sepa"},
		"?status=completed":         {"crypto", "ach", "crypto"},
		"?incomeOnly=true":          {"ach", "crypto"},
		"?incomeOnly=false":         {"sepa", "crypto", "ach", "crypto"},
		"?bankAccountId=" + account: {"ach"},
		"?bankAccountId=bnk_none":   {},
		"?limit=2&offset=1":         {"crypto", "ach"},
		"?type=crypto&incomeOnly=true&status=completed": {"crypto"},
	} {
		page := app.must(http.StatusOK, "GET", "/transactions"+query, nil)
		types := []string{}
		for _, entry := range page.items() {
			types = append(types, entry.text("type"))
		}
		assert.Equal(t, want, types, query)
	}
	got := app.call("GET", "/transactions?incomeOnly=maybe", nil)
	refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
	assert.Equal(t, map[string]string{"incomeOnly": "bool_parsing"}, got.fields())
}
