package sandbox_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestContactsOfTheAppAPI(t *testing.T) {
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

	stranger := w.appWith(sandbox.AppKeyRegistration{Email: "stranger@example.com"})
	refused(t, http.StatusNotFound, "not_found", stranger.call("PATCH", path, object{"name": "mine"}))
	refused(t, http.StatusNotFound, "not_found", stranger.call("DELETE", path, nil))

	require.Equal(t, http.StatusNoContent, app.call("DELETE", path, nil).status)
	refused(t, http.StatusNotFound, "not_found", app.call("DELETE", path, nil))
	assert.Empty(t, app.must(http.StatusOK, "GET", "/user/contacts", nil).items())
}

func TestAnEmailContactIsAnExistingAccount(t *testing.T) {
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

// The body of a transfer alone wants a bare UUID.
// Rule: size.contact-id, size.id-prefix
func TestAContactsIDMayCarryItsPrefix(t *testing.T) {
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

func TestContactsThatMakeNoSense(t *testing.T) {
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

func TestPagesOfTheAppAPI(t *testing.T) {
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
