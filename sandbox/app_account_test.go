package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

func TestProfileDefaults(t *testing.T) {
	w := newWorld(t)
	got := w.app().must(http.StatusOK, "GET", "/user", nil).body
	assert.Equal(t, w.email, got.text("email"))
	assert.Equal(t, false, got.at("isBusiness"), "isBusiness is false by default")
	assert.Equal(t, "not_started", got.text("kycStatus"))
	assert.Regexp(t, `^0x[0-9a-f]{40}$`, got.text("walletAddress"))
}

func TestProfileUpdateKeepsAbsentMembers(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	app.must(http.StatusOK, "PUT", "/user/kyc", object{"firstName": "Ada", "lastName": "Example"})
	saved := app.must(http.StatusOK, "PUT", "/user/kyc",
		object{"address": object{"streetAddress": "1 Main St", "city": "Bonn", "country": "DE", "zip": "53111"}})
	assert.Equal(t, "Ada Example", saved.body.text("displayName"))
	assert.Equal(t, "Bonn", saved.body.text("address", "city"))
	assert.Equal(t, false, saved.body.at("isBusiness"))

	business := app.must(http.StatusOK, "PUT", "/user/kyc", object{"entityName": "Example GmbH", "firstName": ""})
	assert.Equal(t, true, business.body.at("isBusiness"))
	assert.Equal(t, "Example GmbH", business.body.text("displayName"))
	assert.Equal(t, business.body, app.must(http.StatusOK, "GET", "/user", nil).body)
	assert.Equal(t, "Example GmbH", app.must(http.StatusOK, "GET", "/apps/me", nil).body.text("userName"))
}

func TestVerificationOfTheOwner(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	status := func() string { return app.must(http.StatusOK, "GET", "/user/kyc/status", nil).body.text("status") }
	assert.Equal(t, "not_started", status())

	link := app.must(http.StatusOK, "POST", "/user/kyc_link", nil).body
	assert.Equal(t, "requested", link.text("status"))
	assert.Equal(t, link.text("url"), app.must(http.StatusOK, "POST", "/user/kyc_link", nil).body.text("url"),
		"fetched again")
	w.host.Advance(time.Hour)
	assert.Equal(t, "requested", status(), "nothing to review")

	for _, part := range []object{{"firstName": "Ada", "address": object{"country": "DE"}},
		{"lastName": "Example", "address": object{"city": "Bonn"}}} {
		app.must(http.StatusOK, "PUT", "/user/kyc", part)
		w.host.Advance(time.Hour)
		assert.Equal(t, "requested", status(), "a name and a country are what is read")
	}
	app.must(http.StatusOK, "PUT", "/user/kyc", object{"address": object{"country": "DE"}})
	assert.Equal(t, "under_review", status())
	w.host.Advance(time.Minute)
	assert.Equal(t, "approved", status())

	other := app.must(http.StatusOK, "GET", "/user/kyc/status?provider=elsewhere", nil).body
	assert.Equal(t, "not_started", other.text("status"))
	assert.Equal(t, "elsewhere", other.text("provider"))
	assert.Equal(t, "approved", app.must(http.StatusOK, "GET", "/user/kyc/status?provider=sandbox", nil).
		body.text("status"))
}

func TestRejectedVerificationIsFinal(t *testing.T) {
	w := newWorld(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.KYBDecision = sandbox.KYBDecisionReject }))
	app := w.app()
	app.must(http.StatusOK, "PUT", "/user/kyc",
		object{"entityName": "Example GmbH", "address": object{"country": "DE"}})
	app.must(http.StatusOK, "POST", "/user/kyc_link", nil)
	w.host.Advance(time.Minute)
	assert.Equal(t, "rejected", app.must(http.StatusOK, "GET", "/user", nil).body.text("kycStatus"))
	require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.KYBDecision = sandbox.KYBDecisionApprove }))
	assert.Equal(t, "rejected", app.must(http.StatusOK, "GET", "/user", nil).body.text("kycStatus"))
}

// The app acts for the integrator's own account of the platform API: a deposit there can be spent here.
func TestBalancesMatchLedger(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	app.fund(1)
	w.login().must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "7.5", "currency": "EURC"})

	held := map[string]string{}
	list := app.must(http.StatusOK, "GET", "/balance", nil)
	for _, balance := range list.items() {
		held[balance.text("currency")] = balance.text("available")
	}
	assert.Equal(t, map[string]string{"USDC": "100", "EURC": "7.5"}, held)
	assert.EqualValues(t, 2, list.body.at("total"))

	wallet := app.must(http.StatusOK, "GET", "/mcp/get_balance", nil).body
	assert.Equal(t, object{
		"walletEmail": w.email, "walletAddress": app.must(http.StatusOK, "GET", "/user", nil).
				body.text("walletAddress"),
		"usdcBalance": "100", "remainingAllowance": "10000",
	}, wallet)

	poor := w.appWith(sandbox.AppKeyRegistration{Email: "poor@example.com", SpendLimit: dollars("0")})
	got := poor.must(http.StatusOK, "GET", "/mcp/get_balance", nil).body
	assert.Equal(t, "0", got.text("usdcBalance"), "nothing is written as nothing")
	assert.Equal(t, "0", got.text("remainingAllowance"))
}

func TestAppContacts(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	saved := app.must(http.StatusCreated, "POST", "/user/contact",
		object{"name": "Bob", "relationship": "external", "account": object{
			"accountType": "onchain", "walletAddress": "0x52908400098527886E0F7030069857D2E4169EE7", "chainId": "base",
			"currency": "USDC",
		}}).body
	assert.Equal(t, "external", saved.text("relationship"))
	assert.Equal(t, "onchain", saved.text("account", "accountType"))

	again := app.must(http.StatusCreated, "POST", "/user/contact", object{"name": "Robert", "account": object{
		"walletAddress": "0x52908400098527886e0f7030069857d2e4169ee7", "chainId": "base", "currency": "usdc",
	}}).body
	assert.Equal(t, saved, again, "deduplicated by account details; the type has a default")

	path := "/user/contacts/" + saved.text("id")
	changed := app.must(http.StatusOK, "PATCH", path, object{"relationship": "supplier"}).body
	assert.Equal(t, "Bob", changed.text("name"))
	assert.Equal(t, "supplier", changed.text("relationship"))
	assert.Nil(t, app.must(http.StatusOK, "PATCH", path, object{"name": ""}).body.at("name"), "emptied")
	assert.Nil(t, app.must(http.StatusOK, "PATCH", path, object{"relationship": nil}).body.at("relationship"),
		"cleared")

	other := w.appWith(sandbox.AppKeyRegistration{Email: "stranger@example.com"})
	refused(t, http.StatusNotFound, "not_found", other.call("PATCH", path, object{"name": "mine"}))
	refused(t, http.StatusNotFound, "not_found", other.call("DELETE", path, nil))

	require.Equal(t, http.StatusNoContent, app.call("DELETE", path, nil).status)
	refused(t, http.StatusNotFound, "not_found", app.call("DELETE", path, nil))
	assert.Empty(t, app.must(http.StatusOK, "GET", "/user/contacts", nil).items())
}

func TestEmailContactNeedsExistingAccount(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	email := object{"account": object{"accountType": "email", "email": "Friend@example.com"}}
	refused(t, http.StatusNotFound, "not_found", app.call("POST", "/user/contact", email))

	w.appWith(sandbox.AppKeyRegistration{Email: "friend@example.com"}).must(http.StatusOK, "GET", "/user", nil)
	saved := app.must(http.StatusCreated, "POST", "/user/contact", email).body
	lower := object{"account": object{"email": "friend@example.com"}}
	assert.Equal(t, saved, app.must(http.StatusCreated, "POST", "/user/contact", lower).body, "the same account")

	quote := app.must(http.StatusOK, "POST", "/balance/payout/quote",
		object{"contactId": saved.text("id"), "amount": "1"}).body.text("quoteId")
	assert.Equal(t, "internal", w.status(quote).text("paymentChannel"))
}

// Only the body of a transfer needs a UUID without the prefix.
// Rule: size.contact-id, size.id-prefix
func TestContactIDWithAndWithoutPrefix(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	id := app.must(http.StatusCreated, "POST", "/user/contact", object{"name": "Bob", "account": object{
		"walletAddress": "0x52908400098527886e0f7030069857d2e4169ee7", "chainId": "base", "currency": "USDC",
	}}).body.text("id")
	assert.Equal(t, "Bobby", app.must(http.StatusOK, "PATCH", "/user/contacts/ct_"+id, object{"name": "Bobby"}).
		body.text("name"))
	app.must(http.StatusOK, "POST", "/balance/payout/quote", object{"contactId": "ct_" + id, "amount": "1"})
	refused(t, http.StatusBadRequest, "invalid_id",
		app.call("POST", "/balance/payout/quote", object{"contactId": "cl_" + id, "amount": "1"}))
	refused(t, http.StatusUnprocessableEntity, "validation_failed",
		app.call("POST", "/apps/transfer", object{"contactId": "ct_" + id, "amount": 1}))
	require.Equal(t, http.StatusNoContent, app.call("DELETE", "/user/contacts/ct_"+id, nil).status)
}

func TestInvalidAppContacts(t *testing.T) {
	app := newWorld(t).app()
	for name, c := range map[string]struct {
		body   any
		fields map[string]string
	}{
		"no account": {object{"name": "Bob"}, map[string]string{"account": "missing"}},
		"no address": {object{"account": object{"accountType": "onchain", "chainId": "base", "currency": "USDC"}},
			map[string]string{"account.walletAddress": "missing"}},
		"another variant": {object{"account": object{"accountType": "sepa", "iban": "DE89370400440532013000"}},
			map[string]string{"account.accountType": "union_tag_invalid"}},
		"a long name": {object{"name": fmt.Sprintf("%0201d", 0), "account": object{"email": "a@example.com"}},
			map[string]string{"name": "string_too_long"}},
	} {
		got := app.call("POST", "/user/contact", c.body)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, c.fields, got.fields(), name)
	}
	refused(t, http.StatusNotFound, "not_found", app.call("DELETE", "/user/contacts/ct_1", nil))
	foreign := app.call("DELETE", "/user/contacts/po_1", nil)
	refused(t, http.StatusBadRequest, "invalid_id", foreign)
	assert.Equal(t, "ct_", foreign.body.text("error", "details", "expectedPrefix"))
	refused(t, http.StatusBadRequest, "invalid_id", app.call("DELETE", "/user/contacts/ct_1%20", nil))
	got := app.call("DELETE", "/documents/contracts/1", nil)
	refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
	assert.Equal(t, "path", got.body.text("error", "details", "location"))
	refused(t, http.StatusBadRequest, "invalid_request", app.call("POST", "/user/contact", `{"name":`))
	refused(t, http.StatusMethodNotAllowed, "method_not_allowed", app.call("PUT", "/user/contact", object{}))
}

func TestAppAPIPagination(t *testing.T) {
	app := newWorld(t).app()
	for i := range 53 {
		app.must(http.StatusCreated, "POST", "/user/contact", object{"name": fmt.Sprint(i), "account": object{
			"walletAddress": fmt.Sprintf("0x%040x", i), "chainId": "base", "currency": "USDC",
		}})
	}
	for query, want := range map[string]struct {
		count int
		first string
	}{
		"": {50, "0"}, "?limit=2": {2, "0"}, "?limit=2&offset=52": {1, "52"}, "?offset=53": {0, ""},
		"?limit=100&offset=3": {50, "3"},
	} {
		page := app.must(http.StatusOK, "GET", "/user/contacts"+query, nil)
		assert.Len(t, page.items(), want.count, query)
		assert.EqualValues(t, 53, page.body.at("total"), query)
		if want.count > 0 {
			assert.Equal(t, want.first, page.items()[0].text("name"), query)
		}
	}
	for query, fields := range map[string]map[string]string{
		"?limit=0": {"limit": "greater_than_equal"}, "?limit=101": {"limit": "less_than_equal"},
		"?offset=-1": {"offset": "greater_than_equal"}, "?limit=many": {"limit": "int_parsing"},
	} {
		got := app.call("GET", "/user/contacts"+query, nil)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, fields, got.fields(), query)
		assert.Equal(t, "query", got.body.text("error", "details", "location"))
	}
}

func TestBankDetailsAreValidated(t *testing.T) {
	app := newWorld(t).app()
	for name, c := range map[string]struct {
		body object
		want map[string]string
	}{
		"an IBAN": {object{"bankType": "sepa", "country": "DE", "bankName": "Bank",
			"iban": "DE89370400440532013000", "bic": "TESTDEFF", "routingNumber": nil}, nil},
		"a wrong checksum": {object{"bankType": "sepa", "iban": "DE88370400440532013000"},
			map[string]string{"iban": "iban_checksum"}},
		"separators": {object{"iban": "DE89 3704 0044 0532 0130 00"},
			map[string]string{"iban": "iban_checksum"}},
		"an IBAN of another country": {object{"country": "FR", "iban": "DE89370400440532013000"},
			map[string]string{"iban": "iban_country"}},
		"no IBAN for SEPA": {object{"bankType": "sepa", "bic": "TESTDEFF"},
			map[string]string{"iban": "missing"}},
		"a wrong BIC":      {object{"bic": "COBADE"}, map[string]string{"bic": "bic_form"}},
		"a routing number": {object{"bankType": "ach", "country": "US", "routingNumber": "021000021"}, nil},
		"a wrong routing number": {object{"bankType": "ach", "routingNumber": "021000022"},
			map[string]string{"routingNumber": "routing_number_checksum"}},
		"a clearing number elsewhere": {object{"bankType": "ukfps", "country": "GB", "routingNumber": "040004"}, nil},
		"a country that is none": {object{"country": "Germany", "iban": "DE89370400440532013000"},
			map[string]string{"country": "country_form", "iban": "iban_country"}},
		"nothing": {object{}, map[string]string{"iban": "missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := app.must(http.StatusOK, "POST", "/user/contact/bank/validate", c.body).body
			found := map[string]string{}
			errors, _ := got.at("errors").([]any)
			for _, wrong := range errors {
				found[object(wrong.(map[string]any)).text("field")] = object(wrong.(map[string]any)).text("code")
			}
			assert.Equal(t, len(c.want) == 0, got.at("valid"), "%v", got)
			if len(c.want) > 0 {
				assert.Equal(t, c.want, found)
			}
		})
	}
}

// activeCard issues a card and lets the host's time pass until it can be used.
func (b bearer) activeCard() string {
	b.t.Helper()
	issued := b.expect(http.StatusCreated, "POST", "/cards", object{"format": "virtual"})
	require.Equal(b.t, "pending", issued.text("status"))
	b.host.Advance(time.Minute)
	id := issued.text("id")
	require.Equal(b.t, "active", b.expect(http.StatusOK, "GET", "/cards/"+id, nil).text("status"))
	return id
}

// proof is what the wallet signs to see a card.
func proof(t testing.TB, key *wallet.Key, card string, nonce int64) object {
	t.Helper()
	signature, err := key.SignMessage(t.Context(), fmt.Appendf(nil, "Reveal card %s at %d", card, nonce))
	require.NoError(t, err)
	return object{"messageSignature": signature, "nonce": nonce}
}

func TestCardDefaults(t *testing.T) {
	w := newWorld(t)
	me := w.app()
	for _, list := range []object{
		me.expect(http.StatusOK, "GET", "/cards", nil),
		w.reference().expect(http.StatusOK, "GET", "/api/v1/accounts/cards", nil),
	} {
		assert.Equal(t, object{"cards": []any{}, "total": 0.0, "created": false, "kycStatus": "not_started",
			"phoneVerified": false}, list)
	}
	issued := me.expect(http.StatusCreated, "POST", "/cards", object{})
	assert.Equal(t, false, issued.at("activated"))
	for _, usage := range [][]string{{"dailySpend"}, {"limit", "dailyUsage"}, {"limit", "monthlyUsage"},
		{"limit", "lifetimeUsage"}} {
		assert.InDelta(t, 0, issued.at(usage...), 0, usage)
	}
	assert.Equal(t, true, me.expect(http.StatusOK, "GET", "/cards", nil).at("created"))
	assert.Equal(t, "requested", me.expect(http.StatusOK, "POST", "/cards/kyc/link", nil).text("status"))
	assert.Equal(t, false, me.expect(http.StatusOK, "GET", "/cards", nil).at("phoneVerified"),
		"not before it is approved")
	w.host.Advance(time.Minute)
	assert.Equal(t, "approved", me.expect(http.StatusOK, "GET", "/cards", nil).text("kycStatus"))
	preApproval := me.expect(http.StatusOK, "POST", "/cards/pre-approve", object{"amount": "100"})
	assert.Equal(t, true, preApproval.at("approved"))
}

func TestCardFreezeLabelAndLimit(t *testing.T) {
	me := newWorld(t).app()
	path := "/cards/" + me.activeCard()
	assert.Equal(t, "frozen", me.expect(http.StatusOK, "POST", path+"/freeze", nil).text("status"))
	assert.Equal(t, "active", me.expect(http.StatusOK, "POST", path+"/unfreeze", nil).text("status"))
	assert.Equal(t, "Travel", me.expect(http.StatusOK, "PUT", path+"/label", object{"label": "Travel"}).text("label"))
	limited := me.expect(http.StatusOK, "PUT", path+"/limit", object{"dailyLimit": 12.5, "monthlyLimit": nil})
	assert.InDelta(t, 12.5, limited.at("limit", "dailyLimit"), 0)
	assert.InDelta(t, 10_000, limited.at("limit", "monthlyLimit"), 0, "what is absent stays")
	assert.Equal(t, map[string]string{"dailyLimit": "less_than_equal"},
		me.call("PUT", path+"/limit", object{"dailyLimit": 10_001}).fields())
	assert.Equal(t, limited, me.expect(http.StatusOK, "GET", path, nil))
	refused(t, http.StatusNotFound, "not_found", me.call("GET", "/cards/card_of_nobody", nil))
}

// The description shows only the value virtual.
func TestCardFormatIsOpen(t *testing.T) {
	me := newWorld(t).app()
	for _, format := range []string{"virtual", "physical", "Metal, engraved", ""} {
		assert.Equal(t, "pending", me.expect(http.StatusCreated, "POST", "/cards", object{"format": format}).
			text("status"), format)
	}
	assert.Equal(t, map[string]string{"format": "string_type"}, me.call("POST", "/cards", object{"format": 1}).fields())
}

func TestCardDetailsAreRevealedToItsWallet(t *testing.T) {
	w := newWorld(t)
	me, reference, key := w.app(), w.reference(), w.host.Credentials().Wallet
	id := me.activeCard()
	assert.Equal(t, key.Address(), me.expect(http.StatusOK, "GET", "/cards/"+id, nil).text("walletAddress"))
	now := w.host.Now().Unix()
	view := me.expect(http.StatusOK, "POST", "/cards/"+id+"/details", proof(t, key, id, now))
	assert.Regexp(t, `^\d{16}$`, view.text("cardNumber"))
	assert.Regexp(t, `^\d{3}$`, view.text("cvv"))
	assert.Equal(t, view, reference.expect(http.StatusOK, "POST", "/api/v1/accounts/cards/"+id+"/details",
		proof(t, key, id, now+1)))

	refused(t, http.StatusConflict, "conflict", reference.call("POST", "/api/v1/accounts/cards/"+id+"/details",
		proof(t, key, id, now)))
	other, err := wallet.Generate()
	require.NoError(t, err)
	refused(t, http.StatusBadRequest, "signature_invalid",
		me.call("POST", "/cards/"+id+"/details", proof(t, other, id, now+2)))
	stale := proof(t, key, id, now-301-60)
	assert.Equal(t, map[string]string{"nonce": "nonce_expired"}, me.call("POST", "/cards/"+id+"/details", stale).
		fields())
	got := reference.call("POST", "/api/v1/accounts/cards/"+id+"/details", stale)
	assert.Equal(t, http.StatusUnprocessableEntity, got.status)
	assert.Equal(t, map[string]string{"body.nonce": "nonce_expired"}, got.details())
}

func TestCardNonceIsValidForFiveMinutes(t *testing.T) {
	w := newWorld(t)
	me, key := w.app(), w.host.Credentials().Wallet
	id := me.activeCard()
	reveal := func(nonce int64) reply { return me.call("POST", "/cards/"+id+"/details", proof(t, key, id, nonce)) }
	now := w.host.Now().Unix()
	for _, off := range []int64{-301, 301} {
		assert.Equal(t, map[string]string{"nonce": "nonce_expired"}, reveal(now+off).fields(), off)
	}
	for _, off := range []int64{-300, -299, 299, 300} {
		assert.Equal(t, http.StatusOK, reveal(now+off).status, off)
	}
	w.host.Advance(time.Millisecond)
	assert.Equal(t, map[string]string{"nonce": "nonce_expired"}, reveal(now-300).fields(), "five minutes and a moment")
	refused(t, http.StatusConflict, "conflict", reveal(now-299))
	assert.Equal(t, map[string]string{"nonce": "nonce_expired"}, reveal(now+301).fields(),
		"five minutes but for a moment")
	w.host.Advance(time.Second - time.Millisecond)
	assert.Equal(t, http.StatusOK, reveal(now+301).status)
}

func TestProductsOnSaleAreListedByDefault(t *testing.T) {
	reference := newWorld(t).reference()
	count := func(query string) int {
		got := reference.call("GET", "/api/v1/transactions/merchant/products"+query, nil)
		require.Equal(t, http.StatusOK, got.status)
		var products []object
		require.NoError(t, json.Unmarshal(got.raw, &products))
		return len(products)
	}
	assert.Equal(t, count("?active_only=true"), count(""))
	assert.Greater(t, count("?active_only=false"), count(""))
}
