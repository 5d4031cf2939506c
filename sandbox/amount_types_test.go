package sandbox_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where the description does not show the JSON type of an amount, a string and a number say the same.
func TestAmountsAreTakenAsStringAndAsNumber(t *testing.T) {
	p := newPayer(t)
	app := p.app()
	app.fund(1)
	bank := app.activate("sepa")
	contact := app.wallet("base", "USDC")
	contract := app.activeContract()
	document := app.got(http.StatusCreated, "POST", "/documents/upload", object{"base64": "AAAA"}).text("id")
	card := app.activeCard()
	line := func(quantity, price any) []any {
		return []any{object{"name": "x", "quantity": quantity, "price": price}}
	}
	invoice := func(items []any) object {
		return app.got(http.StatusCreated, "POST", invoices,
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
			return app.got(http.StatusCreated, "POST", invoices+"/uploaded", object{
				"documentId": document, "amount": amount, "currency": "EUR", "clientEmail": "client@example.com",
			}).at("amount")
		},
		"price added to a contract's": func(amount any) any {
			made := app.got(http.StatusCreated, "POST", contracts+"/"+contract+"/create-invoice",
				object{"addItems": line(1, amount)})
			items := made.at("items").([]any)
			return object(items[len(items)-1].(map[string]any)).at("price")
		},
		"quantity in a batch": func(amount any) any {
			made := app.must(http.StatusCreated, "POST", invoices+"/batch_invoicing",
				[]any{object{"contractId": contract, "items": line(amount, "1")}})
			items := made.items()[0].at("items").([]any)
			return string(rawNumber(t, object(items[0].(map[string]any)).at("quantity")))
		},
		"contract": func(amount any) any {
			body := newContract()
			body["fields"] = object{"amount": amount, "currency": "EUR"}
			return app.got(http.StatusCreated, "POST", contracts, body).at("amount")
		},
		"contract's change": func(amount any) any {
			return app.got(http.StatusOK, "PATCH", contracts+"/"+contract, object{"fields": object{"amount": amount}}).
				at("amount")
		},
		"quote of a transfer from a chain": func(amount any) any {
			return app.got(http.StatusOK, "POST", "/balance/payin/quote",
				object{"amount": amount, "currency": "USDT", "originChainId": 1}).at("sourceAmount")
		},
		"quote of a bank transfer": func(amount any) any {
			return app.got(http.StatusOK, "POST", "/banks/payin/quote",
				object{"amount": amount, "bankAccountId": bank}).at("sourceAmount")
		},
		"quote of a payout": func(amount any) any {
			return app.got(http.StatusOK, "POST", "/balance/payout/quote",
				object{"contactId": contact, "amount": amount}).at("sourceAmount")
		},
		"limit of a card": func(amount any) any {
			return string(rawNumber(t,
				app.got(http.StatusOK, "PUT", "/cards/"+card+"/limit", object{"dailyLimit": amount}).
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
		return app.got(http.StatusOK, "POST", "/cards/pre-approve", object{"amount": amount, "currency": "USDC"})
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

// What the description types keeps its type.
func TestAmountsOfAStatedTypeKeepIt(t *testing.T) {
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

// A number is held to what a string is: its decimals, its sign, its length.
func TestAnAmountAsANumberIsHeldToTheSameRules(t *testing.T) {
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
