package sandbox_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

// Every method is taken with nothing but its name, and with every identifier it pays out its currency.
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
func TestWhatDestinationsNeed(t *testing.T) {
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

// Rule: contact.answer, contact.name, contact.deduplicated
func TestACreatedContactSaysWhatItIs(t *testing.T) {
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
