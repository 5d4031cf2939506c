package sandbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A misspelled name would do nothing, or what the right one does, and look like a success.
//
// Rule: error.unknown-key
func TestNamesThatTheAppAPIDoesNotKnowAreRefused(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	app.fund(1)
	contact, card, contract := app.wallet("base", "USDC"), app.activeCard(), app.activeContract()
	invoice := app.invoice("USD", "1")
	wallet := object{"walletAddress": "0x52908400098527886E0F7030069857D2E4169EE7", "chainId": "base",
		"currency": "USDC", "addr": "x"}
	line := object{"name": "x", "quantity": 1, "price": "1", "Price": "100"}
	for _, c := range []struct {
		method, path string
		body         any
		field        string
	}{
		{"POST", "/apps/transfer", object{"contactId": contact, "amount": 1, "meno": "x"}, "meno"},
		{"POST", "/apps/transfer", object{"contactId": contact, "amount": 1, "Amount": 99}, "Amount"},
		{"PUT", "/documents/contracts/invoices/" + invoice, object{"status": "paid", "onchainTransactionID": "x"},
			"onchainTransactionID"},
		{"POST", "/documents/contracts/invoices", object{"currency": "EUR", "clientEmail": "client@example.com",
			"items": []any{line}}, "items.0.Price"},
		{"POST", "/documents/contracts/invoices/batch_invoicing",
			[]any{object{"contractId": contract}, object{"contractId": contract, "peroid": 2}}, "1.peroid"},
		{"PATCH", "/documents/contracts/" + contract, object{"fields": object{"amuont": "1"}}, "fields.amuont"},
		{"POST", "/user/contact", object{"account": wallet}, "account.addr"},
		{"PATCH", "/user/contacts/" + contact, object{"names": "x"}, "names"},
		{"PUT", "/user/kyc", object{"address": object{"street": "x"}}, "address.street"},
		{"PUT", "/cards/" + card + "/limit", object{"dailyLimt": 5}, "dailyLimt"},
		{"POST", "/banks/activate", object{"method": []string{"sepa"}}, "method"},
		{"PUT", "/documents/contracts/" + contract + "/payment_methods",
			object{"paymentMethods": []any{object{"accountType": "sepa", "iban": "x"}}}, "paymentMethods.0.iban"},
	} {
		got := app.call(c.method, c.path, c.body)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, map[string]string{c.field: "extra_forbidden"}, got.fields(), c.path)
	}
	assert.Equal(t, "sent", app.must(http.StatusOK, "GET", "/documents/contracts/invoices/"+invoice, nil).
		body.text("status"))
	assert.Equal(t, "100", app.holds())

	reference := w.reference().call("PUT", "/api/v1/documents/contracts/invoices/"+invoice,
		object{"status": "paid", "paidat": "2020-01-01T00:00:00Z"})
	assert.Equal(t, map[string]string{"body.paidat": "extra_forbidden"}, reference.details())
}

// The service shows no field of some payment methods, so that the host's are guesses and others may be right.
func TestPaymentMethodsThatAreNotShownTakeOtherNames(t *testing.T) {
	app := newWorld(t).app()
	pix := object{"accountType": "pix", "pixKey": "ada@example.com", "pixKeyBank": "x"}
	got := app.must(http.StatusOK, "PUT", "/documents/contracts/"+app.activeContract()+"/payment_methods",
		object{"paymentMethods": []any{pix}})
	assert.Equal(t, []any{map[string]any(pix)}, got.body.at("paymentMethods"))
}

func TestABodyThatIsToBeAList(t *testing.T) {
	app := newWorld(t).app()
	const path = "/documents/contracts/invoices/batch_invoicing"
	none := app.call("POST", path, []any{})
	assert.Equal(t, map[string]string{"body": "too_short"}, none.fields())
	object := app.call("POST", path, object{})
	refused(t, http.StatusBadRequest, "invalid_request", object)
	assert.Contains(t, object.body.text("error", "message"), "array")
}

func TestANumberMayBeWrittenWithAnExponent(t *testing.T) {
	app := newWorld(t).app()
	app.fund(1)
	contact := app.wallet("base", "USDC")
	for _, written := range []string{"1e1", "1.0e+1", "100e-1"} {
		app.must(http.StatusOK, "POST", "/apps/transfer", `{"contactId":"`+contact+`","amount":`+written+`}`,
			"Idempotency-Key", "ten")
	}
	assert.Equal(t, "90", app.holds(), "the same amount is the same transfer")
}

// Reading a decimal takes time that grows with the square of its digits: a million take minutes.
func TestAbsurdlyLongAmountsAreRefusedUnread(t *testing.T) {
	w := newWorld(t)
	digits := strings.Repeat("9", 300)
	for _, number := range []string{"0." + digits, "1e-20000"} {
		got := w.app().call("POST", "/apps/transfer",
			`{"contactId":"0b0e7f0e-5d0f-4f7e-9a57-0c3a6a9f4b11","amount":`+number+`}`)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, map[string]string{"amount": "decimal_max_digits"}, got.fields())
	}
	for _, got := range []reply{
		w.app().call("POST", "/balance/payin/quote", object{"amount": digits, "currency": "USDC", "originChainId": 1}),
		w.login().call("POST", "/sandbox/deposits", object{"amount": digits, "currency": "USDC"}),
	} {
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, map[string]string{"amount": "decimal_max_digits"}, got.fields())
		assert.Contains(t, string(got.raw), "too long", "by the length of the text")
	}
}
