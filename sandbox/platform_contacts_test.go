package sandbox_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Rule: idempotency.contacts, contact.deduplicated, status.404
func TestContactLifecycle(t *testing.T) {
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

	for _, caller := range []*session{other, me} {
		refused(t, http.StatusNotFound, "not_found", caller.call("PATCH", path, object{"name": "Eve"}))
		refused(t, http.StatusNotFound, "not_found", caller.call("GET", path+"/capabilities", nil))
		refused(t, http.StatusNotFound, "not_found", caller.call("DELETE", path, nil))
	}
	refused(t, http.StatusBadRequest, "invalid_id", acme.call("DELETE", "/contacts/po_1", nil))

	gone := acme.must(http.StatusNoContent, "DELETE", path, nil)
	assert.Empty(t, gone.raw)
	assert.NotEmpty(t, gone.header.Get("X-Request-ID"))
	refused(t, http.StatusNotFound, "not_found", acme.call("DELETE", path, nil))
	acme.must(http.StatusCreated, "POST", "/contacts", body)
}

// Where the description is incomplete, unknown members are accepted. Everywhere else they are refused.
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
func TestIntegratorIsFoundByEmailBeforeFirstRequest(t *testing.T) {
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

func TestWalletContactKeepsOwnersEmail(t *testing.T) {
	me := newWorld(t).login()
	account := object{"walletAddress": payee, "chainId": "base", "currency": "USDC", "email": "bob@example.com"}
	saved := me.must(http.StatusCreated, "POST", "/contacts", object{"account": account})
	assert.Equal(t, "bob@example.com", saved.body.text("email"))
	account["email"] = nil
	assert.Equal(t, saved.body, me.must(http.StatusOK, "POST", "/contacts", object{"account": account}).body,
		"the wallet is the same")
}

func TestUnknownLegacyBankMethodIsNotInContactView(t *testing.T) {
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

// moneyOut is the coverage catalogue: the methods a contact can hold, by currency. It names each of the 57 values that
// the accountType of a bank variant has.
const moneyOut = `
	USD ach fedwire fednow rtp swift
	CAD cad_eft
	MXN spei
	BRL pix brl_local
	ARS transfers_3_0
	COP breb pse cop_local
	CLP clp_local
	BOB bob_local
	CRC crc_local
	GTQ gtq_local gtq_ewallet
	HNL hnl_local
	DOP dop_local dop_ewallet
	JMD jmd_local
	EUR sepa
	GBP ukfps
	PLN pln_local
	DKK dkk_local
	NOK nok_local
	TRY try_fast
	ILS ils_local
	AED uaefts
	SAR sar_local
	EGP egp_local
	NGN nip
	XOF xof_local
	SLE sle_local
	TZS tzs_local
	UGX ugx_local
	ZMW zmw_local
	AUD npp
	JPY jpy_local
	KRW krw_local
	CNY cny_alipay cny_wechatpay
	HKD hkd_fps
	INR inr_local inr_upi
	IDR idr_local idr_ewallet
	MYR myr_local
	PHP php_local php_ewallet
	PKR pkr_raast pkr_ewallet
	THB thb_local
	VND vnd_local
	BDT bdt_local bdt_ewallet`

// currencies maps each method to what it pays out.
func currencies(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(moneyOut)) {
		words := strings.Fields(line)
		for _, method := range words[1:] {
			found[method] = words[0]
		}
	}
	require.Len(t, found, 57)
	return found
}

// Each method is accepted with its name alone. With all identifiers it pays out its currency.
// Rule: contact.bank-methods, coverage.money-out, coverage.suffixes
func TestEveryBankMethod(t *testing.T) {
	acme := newWorld(t).login().readyClient("acme@example.com")
	for method, currency := range currencies(t) {
		bare := acme.must(http.StatusCreated, "POST", "/contacts", object{"account": object{"accountType": method}})
		assert.Equal(t, method, bare.body.text("bank", "method"))

		named := acme.must(http.StatusCreated, "POST", "/contacts", object{"name": "Bob", "account": object{
			"accountType": method, "iban": "DE89370400440532013000", "bic": "EXAMDEFF", "accountNumber": "1",
			"routingNumber": "021000021",
			"branchNumber":  "1", "pixKey": "k", "paymentKey": "k", "phoneNumber": "+15550100",
		}})
		capable := acme.must(http.StatusOK, "GET", "/contacts/"+named.body.text("id")+"/capabilities", nil)
		assert.Equal(t, true, capable.body.at("payable"), "%s", capable.raw)
		assert.Equal(t, []any{map[string]any{"method": method, "currency": currency}}, capable.body.at("methods"))

		if strings.HasSuffix(method, "_ewallet") {
			blocked := acme.must(http.StatusOK, "GET", "/contacts/"+bare.body.text("id")+"/capabilities", nil)
			blockers, _ := blocked.body.at("blockers").([]any)
			assert.True(t,
				slices.ContainsFunc(blockers, func(b any) bool {
					return object(b.(map[string]any)).text("field") == "phoneNumber"
				}),
				"%s routes by phone number: %s", method, blocked.raw)
		}
	}
	unknown := acme.call("POST", "/contacts", object{"account": object{"accountType": "eur_local"}})
	assert.Equal(t, map[string]string{"account.accountType": "union_tag_invalid"}, unknown.fields())
}

// Rule: contact.onchain, contact.crypto, contact.variants, contact.default-variant, contact.email
func TestDestinationRequirements(t *testing.T) {
	acme := newWorld(t).login().readyClient("acme@example.com")
	for name, c := range map[string]struct {
		body object
		slug string
		want map[string]string
	}{
		"an address without its chain": {object{"account": object{"accountType": "onchain", "walletAddress": payee}},
			"validation_failed",
			map[string]string{"account.chainId": "missing", "account.currency": "missing"}},
		"a chain without an address": {object{"account": object{"accountType": "onchain", "chainId": "base",
			"currency": "USDC"}}, "validation_failed",
			map[string]string{"account.walletAddress": "missing"}},
		"the on-chain default": {object{"account": object{"walletAddress": payee, "chainId": "base",
			"currency": "USDC"}}, "", nil},
		"an email of the variant": {object{"account": object{"accountType": "email"}}, "validation_failed",
			map[string]string{"account.email": "missing"}},
		"the email default": {object{"account": object{"email": "acme@example.com"}}, "", nil},
		"no default for a bank": {object{"account": object{"iban": "DE89370400440532013000"}}, "validation_failed",
			map[string]string{"account.accountType": "union_tag_not_found"}},
		"a field of another variant": {object{"account": object{"accountType": "email", "email": "acme@example.com",
			"iban": "x"}}, "validation_failed", map[string]string{"account.iban": "extra_forbidden"}},
		"an empty legacy wallet": {object{"crypto": object{}}, "validation_failed",
			map[string]string{"crypto.chain": "missing", "crypto.token": "missing", "crypto.address": "missing"}},
		"an email of nobody": {object{"email": "nobody@example.com"}, "not_found", map[string]string{}},
		"an email variant of nobody": {object{"account": object{"email": "nobody@example.com"}}, "not_found",
			map[string]string{}},
		"an email in other case": {object{"email": "ACME@example.com"}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := acme.call("POST", "/contacts", c.body)
			assert.Equal(t, c.slug, got.slug(), "%s", got.raw)
			if c.slug != "" {
				assert.Equal(t, c.want, got.fields())
				return
			}
			assert.NotEmpty(t, got.body.text("id"))
		})
	}
}

// Rule: contact.response, contact.name, contact.deduplicated
func TestContactViewPerDestination(t *testing.T) {
	acme := newWorld(t).login().readyClient("acme@example.com")
	account := object{"accountType": "sepa", "iban": "DE89370400440532013000", "accountHolderName": "Bob"}
	created := acme.must(http.StatusCreated, "POST", "/contacts", object{"account": account})
	assert.Regexp(t, `^(?:ct_)?[A-Za-z0-9._:\-]{1,216}$`, created.body.text("id"))
	assert.Contains(t, created.body, "name", "it is there")
	assert.Empty(t, created.body.text("name"), "and empty by default")
	assert.IsType(t, true, created.body.at("isExternal"))
	at, err := time.Parse(time.RFC3339, created.body.text("createdAt"))
	require.NoError(t, err)
	assert.Equal(t, time.UTC, at.Location())

	same := acme.must(http.StatusOK, "POST", "/contacts", object{"name": "Robert", "account": account})
	assert.Equal(t, created.body.text("id"), same.body.text("id"), "another name is the same account")
	account["iban"] = "GB82WEST12345698765432"
	assert.NotEqual(t, created.body.text("id"),
		acme.must(http.StatusCreated, "POST", "/contacts", object{"account": account}).body.text("id"))
}
