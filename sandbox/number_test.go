package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// If the description does not state the JSON type of an amount, it may be a string or a number.
func TestAmountOfAssumedTypeIsAcceptedAsStringAndNumber(t *testing.T) {
	p := newPayer(t)
	app := p.app()
	app.fund(1)
	bank := app.activate("sepa")
	contact := app.wallet("base", "USDC")
	contract := app.activeContract()
	document := app.expect(http.StatusCreated, "POST", "/documents/upload", object{"base64": "AAAA"}).text("id")
	card := app.activeCard()
	line := func(quantity, price any) []any {
		return []any{object{"name": "x", "quantity": quantity, "price": price}}
	}
	invoice := func(items []any) object {
		return app.expect(http.StatusCreated, "POST", invoices,
			object{"currency": "EUR", "clientEmail": "client@example.com", "items": items})
	}
	platform := func(path string, body object) object { return p.must(http.StatusCreated, "POST", path, body).body }

	for name, of := range map[string]func(amount any) (got any){
		"payin": func(amount any) any {
			return platform("/payins", object{"amount": amount, "currency": "USDT", "originChainId": 1,
				"maxAmount": amount}).at("maxAmount")
		},
		"payout": func(amount any) any {
			return platform("/payouts", object{"contactId": p.contact, "amount": amount, "currency": "USDC"}).
				at("amount")
		},
		"escrow": func(amount any) any {
			return platform("/escrow", object{"amount": amount, "currency": "USDC", "payee": payee}).at("amount")
		},
		"deposit": func(amount any) any {
			return platform("/sandbox/deposits", object{"amount": amount, "currency": "USDC"}).at("amount")
		},
		"price": func(amount any) any { return invoice(line(1, amount)).at("amount") },
		"quantity": func(amount any) any {
			return invoice(line(amount, "1")).at("amount")
		},
		"uploaded invoice": func(amount any) any {
			return app.expect(http.StatusCreated, "POST", invoices+"/uploaded", object{
				"documentId": document, "amount": amount, "currency": "EUR", "clientEmail": "client@example.com",
			}).at("amount")
		},
		"price added to a contract's": func(amount any) any {
			created := app.expect(http.StatusCreated, "POST", contracts+"/"+contract+"/create-invoice",
				object{"addItems": line(1, amount)})
			items := created.at("items").([]any)
			return object(items[len(items)-1].(map[string]any)).at("price")
		},
		"quantity in a batch": func(amount any) any {
			created := app.must(http.StatusCreated, "POST", invoices+"/batch_invoicing",
				[]any{object{"contractId": contract, "items": line(amount, "1")}})
			items := created.items()[0].at("items").([]any)
			return string(rawNumber(t, object(items[0].(map[string]any)).at("quantity")))
		},
		"contract": func(amount any) any {
			body := newContract()
			body["fields"] = object{"amount": amount, "currency": "EUR"}
			return app.expect(http.StatusCreated, "POST", contracts, body).at("amount")
		},
		"contract's change": func(amount any) any {
			return app.expect(http.StatusOK, "PATCH", contracts+"/"+contract,
				object{"fields": object{"amount": amount}}).
				at("amount")
		},
		"quote of a transfer from a chain": func(amount any) any {
			return app.expect(http.StatusOK, "POST", "/balance/payin/quote",
				object{"amount": amount, "currency": "USDT", "originChainId": 1}).at("sourceAmount")
		},
		"quote of a bank transfer": func(amount any) any {
			return app.expect(http.StatusOK, "POST", "/banks/payin/quote",
				object{"amount": amount, "bankAccountId": bank}).at("sourceAmount")
		},
		"quote of a payout": func(amount any) any {
			return app.expect(http.StatusOK, "POST", "/balance/payout/quote",
				object{"contactId": contact, "amount": amount}).at("sourceAmount")
		},
		"limit of a card": func(amount any) any {
			return string(rawNumber(t,
				app.expect(http.StatusOK, "PUT", "/cards/"+card+"/limit", object{"dailyLimit": amount}).
					at("limit", "dailyLimit")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, "12.5", of("12.5"), "a string")
			assert.Equal(t, "13.25", of(json.Number("13.25")), "a number")
			assert.Equal(t, "20", of(json.Number("2e1")), "a number with an exponent")
		})
	}
	approve := func(amount any) object {
		return app.expect(http.StatusOK, "POST", "/cards/pre-approve", object{"amount": amount, "currency": "USDC"})
	}
	assert.Equal(t, approve("12.5").text("txHash"), approve(json.Number("12.50")).text("txHash"), "the same approval")
}

// rawNumber is a JSON number's digits.
func rawNumber(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}

// If the description states the type, the other type is refused.
func TestAmountOfStatedTypeIsRefusedInOtherType(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	app.fund(1)
	contact := app.wallet("base", "USDC")
	transfer := app.call("POST", "/apps/transfer", object{"contactId": contact, "amount": "1"})
	assert.Equal(t, map[string]string{"amount": "float_type"}, transfer.fields(), "a number, or null")
	app.must(http.StatusOK, "POST", "/apps/transfer", object{"contactId": contact, "amount": 1})

	batch := app.call("POST", invoices+"/batch_invoicing", []any{object{
		"contractId": app.activeContract(), "items": []any{object{"name": "x", "quantity": 1, "price": 1.5}},
	}})
	assert.Equal(t, map[string]string{"0.items.0.price": "string_type"}, batch.fields(),
		"the batch has its price as a string")
}

// The same rules apply to a number as to a string: decimals, sign, length.
func TestAmountAsNumberIsValidatedLikeString(t *testing.T) {
	p := newPayer(t)
	for amount, code := range map[json.Number]string{
		"0.0000001": "amount_precision", "0": "greater_than", "-1": "greater_than", "1e-7": "amount_precision",
		"1e300": "decimal_max_digits",
	} {
		asNumber := p.call("POST", "/payouts", object{"contactId": p.contact, "amount": amount, "currency": "USDC"})
		assert.Equal(t, map[string]string{"amount": code}, asNumber.fields(), "%s: %s", amount, asNumber.raw)
	}
	for _, nonsense := range []any{true, []any{}, object{}, nil, "", "ten", "1e3", "1,5"} {
		got := p.call("POST", "/payouts", object{"contactId": p.contact, "amount": nonsense, "currency": "USDC"})
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Contains(t, got.fields(), "amount", nonsense)
	}
	first := p.book("invoice-42", "20")
	replay := p.call("POST", "/payouts", object{"contactId": p.contact, "amount": json.Number("20.0"),
		"currency": "USDC"}, "Idempotency-Key", "invoice-42")
	assert.Equal(t, http.StatusOK, replay.status, "the same terms")
	assert.Equal(t, first.body, replay.body)
	limit := newWorld(t).app()
	assert.Equal(t, map[string]string{"dailyLimit": "float_type"},
		limit.call("PUT", "/cards/"+limit.activeCard()+"/limit", object{"dailyLimit": "much"}).fields())
}

// The refusal does not depend on the Go release or on the wording of its decoder.
//
// Rule: error.fields, status.422
func TestUnreadableNumberFieldIsNamed(t *testing.T) {
	const uuid = "0b0e7f0e-5d0f-4f7e-9a57-0c3a6a9f4b11"
	long := strings.Repeat("9", 300)
	w := newWorld(t)
	app := w.app()
	type fields = map[string]string
	for body, want := range map[string]fields{
		`{"contactId":"` + uuid + `","amount":0.` + long + `}`: {"amount": "decimal_max_digits"},
		`{"contactId":"` + uuid + `","amount":1e-20000}`:       {"amount": "decimal_max_digits"},
		// the validation sees this first
		`{"contactId":"` + uuid + `","amount":1e400}`: {"amount": "float_type"},
		`{"contactId":"` + uuid + `","amount":"1"}`:   {"amount": "float_type"},
		`{"contactId":"` + uuid + `","amount":[1]}`:   {"amount": "float_type"},
		`{"contactId":"` + uuid + `","amount":null}`:  {"amount": "missing"},
	} {
		got := app.call("POST", "/apps/transfer", body)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, want, got.fields(), body)
	}

	for number, code := range map[string]string{
		"9223372036854775807": "chain_not_live", // is read
		"9223372036854775808": "int_type", "1.0": "int_type", "1e0": "int_type", "1.5": "int_type", "1e400": "int_type",
		"null": "int_type", "true": "int_type", `"1"`: "int_type", "-1": "greater_than_equal",
	} {
		got := w.login().call("POST", "/payins", `{"amount":"50","currency":"USDC","originChainId":`+number+`}`)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, fields{"originChainId": code}, got.fields(), number)
	}

	lines := app.call("POST", "/documents/contracts/invoices",
		`{"currency":"EUR","clientEmail":"client@example.com","items":[`+
			`{"name":"a","quantity":0.`+long+`,"price":"1"},{"name":"b","quantity":1,"price":"1"},{"name":"c",`+
			`"quantity":1e-20000,"price":"1"}]}`)
	refused(t, http.StatusUnprocessableEntity, "validation_failed", lines)
	assert.Equal(t, fields{"items.0.quantity": "decimal_max_digits", "items.2.quantity": "decimal_max_digits"},
		lines.fields(), "each is named")

	batch := app.call("POST", "/documents/contracts/invoices/batch_invoicing",
		`[{"contractId":"`+uuid+`","period":1},{"contractId":"`+uuid+`","period":1e2}]`)
	refused(t, http.StatusUnprocessableEntity, "validation_failed", batch)
	assert.Equal(t, fields{"1.period": "int_type"}, batch.fields(), "in a list")
}

// An object without described fields is stored as it was sent, unless it has a number out of range.
func TestHugeNumberInOpenObject(t *testing.T) {
	body := func(number string) string {
		return `{"name":"Bob","bank":{"method":"sepa","currency":"EUR","fields":{"iban":"DE89370400440532013000","x":` +
			number + `},"holder":{"name":"Bob"}}}`
	}
	me := newWorld(t).login()
	refused(t, http.StatusBadRequest, "invalid_request", me.call("POST", "/contacts", body("1e400")))
	me.must(http.StatusCreated, "POST", "/contacts", body("1e300"))
}

// A misspelled member must not be ignored: the request would look like a success.
//
// Rule: error.unknown-key
func TestAppAPIRefusesUnknownMembers(t *testing.T) {
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
	assert.Equal(t, "100", app.balance())

	reference := w.reference().call("PUT", "/api/v1/documents/contracts/invoices/"+invoice,
		object{"status": "paid", "paidat": "2020-01-01T00:00:00Z"})
	assert.Equal(t, map[string]string{"body.paidat": "extra_forbidden"}, reference.details())
}

// The description shows no fields of some payment methods. The host's fields are assumptions, so it accepts others.
func TestUndescribedPaymentMethodsAcceptOtherMembers(t *testing.T) {
	app := newWorld(t).app()
	pix := object{"accountType": "pix", "pixKey": "ada@example.com", "pixKeyBank": "x"}
	got := app.must(http.StatusOK, "PUT", "/documents/contracts/"+app.activeContract()+"/payment_methods",
		object{"paymentMethods": []any{pix}})
	assert.Equal(t, []any{map[string]any(pix)}, got.body.at("paymentMethods"))
}

func TestBodyMustBeArray(t *testing.T) {
	app := newWorld(t).app()
	const path = "/documents/contracts/invoices/batch_invoicing"
	none := app.call("POST", path, []any{})
	assert.Equal(t, map[string]string{"body": "too_short"}, none.fields())
	object := app.call("POST", path, object{})
	refused(t, http.StatusBadRequest, "invalid_request", object)
	assert.Contains(t, object.body.text("error", "message"), "array")
}

func TestNumberWithExponentIsAccepted(t *testing.T) {
	app := newWorld(t).app()
	app.fund(1)
	contact := app.wallet("base", "USDC")
	for _, written := range []string{"1e1", "1.0e+1", "100e-1"} {
		app.must(http.StatusOK, "POST", "/apps/transfer", `{"contactId":"`+contact+`","amount":`+written+`}`,
			"Idempotency-Key", "ten")
	}
	assert.Equal(t, "90", app.balance(), "the same amount is the same transfer")
}

// The time to parse a decimal grows with the square of its digits: a million digits take minutes.
func TestVeryLongAmountIsRefusedWithoutParsing(t *testing.T) {
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
