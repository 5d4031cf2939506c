package sandbox_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Rule: idempotency.contacts, contact.deduplicated, status.404
func TestContactsOverTheirLife(t *testing.T) {
	me := newWorld(t).login()
	acme, other := me.readyClient("acme@example.com"), me.readyClient("other@example.com")
	body := object{
		"name": "Bob", "isExternal": true, "address": object{"city": "Paris"},
		"account": object{"accountType": "sepa", "iban": "DE89370400440532013000"},
	}
	created := acme.must(http.StatusCreated, "POST", "/contacts", body)
	assert.NotContains(t, created.header, "Idempotency-Replayed")
	path := "/contacts/" + created.body.text("id")

	again := acme.must(http.StatusOK, "POST", "/contacts", body, "Idempotency-Key", "anchors-nothing")
	assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	assert.Equal(t, created.body.text("id"), again.body.text("id"))

	changed := acme.must(http.StatusOK, "PATCH", path, object{"name": "Robert"})
	assert.Equal(t, "Robert", changed.body.text("name"))
	assert.Equal(t, "Paris", changed.body.text("address", "city"), "absent stays")
	cleared := acme.must(http.StatusOK, "PATCH", path, object{"address": nil})
	assert.Nil(t, cleared.body.at("address"), "null clears")
	assert.Equal(t, "Robert", cleared.body.text("name"))

	for _, stranger := range []*session{other, me} {
		refused(t, http.StatusNotFound, "not_found", stranger.call("PATCH", path, object{"name": "Eve"}))
		refused(t, http.StatusNotFound, "not_found", stranger.call("GET", path+"/capabilities", nil))
		refused(t, http.StatusNotFound, "not_found", stranger.call("DELETE", path, nil))
	}
	refused(t, http.StatusBadRequest, "invalid_id", acme.call("DELETE", "/contacts/po_1", nil))

	gone := acme.must(http.StatusNoContent, "DELETE", path, nil)
	assert.Empty(t, gone.raw)
	assert.NotEmpty(t, gone.header.Get("X-Request-ID"))
	refused(t, http.StatusNotFound, "not_found", acme.call("DELETE", path, nil))
	acme.must(http.StatusCreated, "POST", "/contacts", body)
}

// What the description cuts off can have other keys than the host knows. Everywhere else an unknown key is refused.
//
// Rule: error.unknown-key
func TestUnknownKeysInsideAContact(t *testing.T) {
	acme := newWorld(t).login().readyClient("acme@example.com")
	sepa := func(changed object) object {
		account := object{"accountType": "sepa", "iban": "DE89370400440532013000"}
		maps.Copy(account, changed)
		return object{"name": "Bob", "account": account}
	}
	contact := "/contacts/" + acme.must(http.StatusCreated, "POST", "/contacts", sepa(nil)).body.text("id")
	address := object{"city": "Paris", "county": "x"}
	for _, c := range []struct {
		method, path string
		body         object
		field        string
	}{
		{"POST", "/contacts", object{"email": "acme@example.com", "address": address}, "address.county"},
		{"PATCH", contact, object{"address": address}, "address.county"},
		{"POST", "/contacts", sepa(object{"ibn": "x"}), "account.ibn"},
		{"POST", "/contacts", object{"crypto": object{"chain": "base", "token": "USDC", "address": payee, "memo": "x"}},
			"crypto.memo"},
	} {
		got := acme.call(c.method, c.path, c.body)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, map[string]string{c.field: "extra_forbidden"}, got.fields(), c.path)
	}
	unknown := object{"county": "x"}
	acme.must(http.StatusOK, "POST", "/contacts", sepa(object{"bankAddress": unknown}))
	acme.must(http.StatusOK, "POST", "/contacts", sepa(object{"intermediaryBank": object{"more": "x",
		"bankAddress": unknown}}))
	acme.must(http.StatusCreated, "POST", "/contacts", object{"bank": object{"method": "ach", "currency": "USD",
		"fields": unknown, "holder": object{"address": unknown}, "bankAddress": unknown, "more": "x"}})
}

// Rule: contact.variants, contact.email
func TestDestinationsOfAContact(t *testing.T) {
	me := newWorld(t).login()
	me.readyClient("acme@example.com")
	wallet := object{"chain": "base", "token": "USDC", "address": "0x52908400098527886E0F7030069857D2E4169EE7"}
	for name, tc := range map[string]struct {
		body object
		slug string
	}{
		"typed on-chain": {object{"account": object{"accountType": "onchain", "chainId": "base", "currency": "USDC",
			"walletAddress": "0x1"}}, ""},
		"typed email": {object{"account": object{"accountType": "email", "email": "acme@example.com"}}, ""},
		"typed bank": {object{"account": object{"accountType": "pix", "pixKey": "bob@example.com",
			"pixKeyType": "email"}}, ""},
		"legacy wallet": {object{"crypto": wallet}, ""},
		"legacy bank": {object{"bank": object{"method": "ach", "currency": "USD",
			"fields": object{"accountNumber": "1", "routingNumber": "021000021"},
			"holder": object{"name": "Bob"}}}, ""},
		"email of nobody": {object{"email": "nobody@example.com"}, "not_found"},
		"none":            {object{"name": "Bob"}, "invalid_request"},
		"two":             {object{"email": "acme@example.com", "crypto": wallet}, "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) {
			answered := me.call("POST", "/contacts", tc.body)
			assert.Equal(t, tc.slug, answered.slug(), "%s", answered.raw)
		})
	}
}

// Rule: contact.email
func TestAnIntegratorIsFoundByItsEmailBeforeItsFirstRequest(t *testing.T) {
	p := newPayer(t)
	other := newSigner(t)
	_, err := p.host.RegisterKey(sandbox.KeyRegistration{Email: "other@example.com", PublicKey: other.public(t)})
	require.NoError(t, err)
	for _, email := range []string{p.email, "Other@example.com"} {
		saved := p.must(http.StatusCreated, "POST", "/contacts", object{"email": email})
		assert.NotEmpty(t, saved.body.text("userId"))
		p.contact = saved.body.text("id")
		require.Equal(t, http.StatusOK, p.confirm(p.book(saved.body.text("id"), "20")).status)
	}
	p.step()
	p.step()
	for _, receiver := range []*session{p.as(""), p.loginAs("other@example.com", other)} {
		entries := receiver.must(http.StatusOK, "GET", "/transactions?type=deposit", nil).body.at("items").([]any)
		require.Len(t, entries, 1)
		assert.Equal(t, "20", object(entries[0].(map[string]any)).text("amount"))
	}
}

func TestTheOwnersEmailOfAWalletIsKept(t *testing.T) {
	me := newWorld(t).login()
	account := object{"walletAddress": payee, "chainId": "base", "currency": "USDC", "email": "bob@example.com"}
	saved := me.must(http.StatusCreated, "POST", "/contacts", object{"account": account})
	assert.Equal(t, "bob@example.com", saved.body.text("email"))
	account["email"] = nil
	assert.Equal(t, saved.body, me.must(http.StatusOK, "POST", "/contacts", object{"account": account}).body,
		"the wallet is the same")
}

func TestALegacyMethodThatIsNoneIsNotShownAsOne(t *testing.T) {
	me := newWorld(t).login()
	saved := me.must(http.StatusCreated, "POST", "/contacts", object{
		"name": "Bob", "bank": object{"method": "cash", "currency": "USD", "fields": object{}, "holder": object{}},
	})
	assert.Nil(t, saved.body.at("bank", "method"))
	capable := me.must(http.StatusOK, "GET", "/contacts/"+saved.body.text("id")+"/capabilities", nil)
	assert.Contains(t, string(capable.raw), "method_not_supported")
}

// Rule: contact.blockers
func TestBlockersAreTheSameInCapabilitiesAndInTheRefusal(t *testing.T) {
	me := newWorld(t).login()
	acme := me.readyClient("acme@example.com")
	for name, account := range map[string]object{
		"account_detail_missing": {"accountType": "sepa", "accountHolderName": "Bob"},
		"account_detail_invalid": {"accountType": "sepa", "accountHolderName": "Bob", "iban": "DE89370400440532013001"},
		"holder_name_missing":    {"accountType": "sepa", "iban": "DE89370400440532013000"},
		"currency_not_supported": {"accountType": "sepa", "accountHolderName": "Bob", "iban": "DE89370400440532013000",
			"currency": "GBP"},
		"chain_not_live": {"accountType": "onchain", "chainId": "moonbase", "currency": "USDC",
			"walletAddress": "0x52908400098527886E0F7030069857D2E4169EE7"},
	} {
		t.Run(name, func(t *testing.T) {
			id := acme.must(http.StatusCreated, "POST", "/contacts", object{"account": account}).body.text("id")
			capable := acme.must(http.StatusOK, "GET", "/contacts/"+id+"/capabilities", nil)
			blockers, _ := capable.body.at("blockers").([]any)
			if assert.Len(t, blockers, 1, "%s", capable.raw) {
				assert.Equal(t, name, object(blockers[0].(map[string]any)).text("code"))
			}
			booking := acme.call("POST", "/payouts", object{"contactId": id, "amount": "5", "currency": "USDC"})
			refused(t, http.StatusConflict, "contact_not_payable", booking)
			assert.Equal(t, blockers, booking.body.at("error", "details", "blockers"))
		})
	}
}
