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
)

// amount is a JSON number with its own digits.
func amount(digits string) json.Number { return json.Number(digits) }

// balance is what the account has in USDC.
func (b bearer) balance() string {
	return b.must(http.StatusOK, "GET", "/apps/me", nil).body.text("balance")
}

func TestTransferToContact(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	app.fund(1)
	bob := app.wallet("base", "USDC")

	sent := app.must(http.StatusOK, "POST", "/apps/transfer",
		object{"contactId": bob, "quoteId": nil, "invoiceId": nil, "amount": amount("12.5"), "memo": "lunch"})
	assert.Regexp(t, `^0x[0-9a-f]{64}$`, sent.body.text("txHash"))
	assert.Empty(t, sent.header.Get("Idempotency-Replayed"))
	assert.Equal(t, "87.5", app.balance())

	history := app.must(http.StatusOK, "GET", "/apps/transfers", nil).items()
	require.Len(t, history, 1)
	assert.Equal(t, sent.body.text("txHash"), history[0].text("txHash"))
	assert.Equal(t, bob, history[0].text("contactId"))
	assert.InDelta(t, 12.5, history[0].at("amount"), 0, "a number, not a string")
	assert.Equal(t, "completed", history[0].text("status"))
	assert.Nil(t, history[0].at("idempotencyKey"))

	ledger := app.must(http.StatusOK, "GET", "/transactions", nil).items()
	require.Len(t, ledger, 2)
	assert.Equal(t, sent.body.text("txHash"), ledger[0].text("txHash"))
	assert.Equal(t, "lunch", ledger[0].text("memo"))
	assert.Equal(t, bob, ledger[0].text("contactId"))
	assert.Equal(t, false, ledger[0].at("incoming"))
	assert.Len(t, w.login().must(http.StatusOK, "GET", "/transactions", nil).items(), 2,
		"the platform API shows the same ledger")
	requireLedgerBalanced(t, w)
}

func TestTransferNeedsExactlyOneOfContactQuoteInvoice(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	const id = "0b0e7f0e-5d0f-4f7e-9a57-0c3a6a9f4b11"
	one := map[string]string{"contactId": "exactly_one", "quoteId": "exactly_one", "invoiceId": "exactly_one"}
	for name, c := range map[string]struct {
		body   object
		fields map[string]string
	}{
		"none":                 {object{"amount": 1}, one},
		"all null":             {object{"contactId": nil, "quoteId": nil, "invoiceId": nil, "amount": 1}, one},
		"two":                  {object{"contactId": id, "quoteId": "qt_1", "amount": 1}, one},
		"a contact, no amount": {object{"contactId": id}, map[string]string{"amount": "missing"}},
		"a quote and an amount": {object{"quoteId": "qt_1", "amount": 1},
			map[string]string{"amount": "extra_forbidden"}},
		"an invoice, an amount": {object{"invoiceId": id, "amount": 1}, map[string]string{"amount": "extra_forbidden"}},
		"nothing":               {object{"contactId": id, "amount": 0}, map[string]string{"amount": "greater_than"}},
		"less than nothing":     {object{"contactId": id, "amount": -1}, map[string]string{"amount": "greater_than"}},
		"too fine": {object{"contactId": id, "amount": amount("0.0000001")},
			map[string]string{"amount": "amount_precision"}},
		"absurd": {object{"contactId": id, "amount": amount("1e300")},
			map[string]string{"amount": "decimal_max_digits"}},
		"no number": {object{"contactId": id, "amount": "12.5"}, map[string]string{"amount": "float_type"}},
		"no UUID": {object{"contactId": "bob", "amount": 1},
			map[string]string{"contactId": "uuid_parsing"}},
	} {
		got := app.call("POST", "/apps/transfer", c.body)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, c.fields, got.fields(), name)
	}
	refused(t, http.StatusNotFound, "not_found",
		app.call("POST", "/apps/transfer", object{"contactId": id, "amount": 1}))
	refused(t, http.StatusNotFound, "not_found", app.call("POST", "/apps/transfer", object{"invoiceId": id}))
	refused(t, http.StatusNotFound, "not_found", app.call("POST", "/apps/transfer", object{"quoteId": "qt_1"}))
}

func TestTransferIsIdempotentByKey(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	app.fund(1)
	body := object{"contactId": app.wallet("base", "USDC"), "amount": 10}

	first := app.must(http.StatusOK, "POST", "/apps/transfer", body, "Idempotency-Key", "order-7")
	again := app.must(http.StatusOK, "POST", "/apps/transfer",
		object{"contactId": body["contactId"], "amount": amount("10.0")}, "Idempotency-Key", "order-7")
	assert.Equal(t, first.body, again.body, "10.0 is 10")
	assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	assert.Equal(t, "90", app.balance())

	other := app.call("POST", "/apps/transfer", object{"contactId": body["contactId"], "amount": 11}, "Idempotency-Key",
		"order-7")
	refused(t, http.StatusConflict, "idempotency_key_reused", other)
	app.must(http.StatusOK, "POST", "/apps/transfer", body, "Idempotency-Key", "order-8")
	app.must(http.StatusOK, "POST", "/apps/transfer", body)
	app.must(http.StatusOK, "POST", "/apps/transfer", body)
	assert.Equal(t, "60", app.balance(), "without a key the same body is another transfer")

	found := app.must(http.StatusOK, "GET", "/apps/transfers?idempotency_key=order-7", nil)
	require.Len(t, found.items(), 1)
	assert.Equal(t, found.items()[0].text("id"), other.body.text("error", "details", "transferId"))
	assert.Equal(t, "order-7", found.items()[0].text("idempotencyKey"))
	assert.Empty(t, app.must(http.StatusOK, "GET", "/apps/transfers?idempotency_key=order-9", nil).items())
	refused(t, http.StatusBadRequest, "idempotency_key_invalid",
		app.call("POST", "/apps/transfer", body, "Idempotency-Key", "order 7"))

	w.host.Advance(7*24*time.Hour - time.Second)
	app.must(http.StatusOK, "POST", "/apps/transfer", body, "Idempotency-Key", "order-7")
	assert.Equal(t, "60", app.balance())
	w.host.Advance(time.Second)
	app.must(http.StatusOK, "POST", "/apps/transfer", body, "Idempotency-Key", "order-7")
	assert.Equal(t, "50", app.balance(), "a key is kept for 7 days")
}

func TestRefusedTransferDoesNotUseItsKey(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	body := object{"contactId": app.wallet("base", "USDC"), "amount": 10}
	short := app.call("POST", "/apps/transfer", body, "Idempotency-Key", "order-7")
	refused(t, http.StatusConflict, "payout_not_fundable", short)
	assert.Equal(t, "0", short.body.text("error", "details", "available"))
	app.fund(1)
	sent := app.must(http.StatusOK, "POST", "/apps/transfer", body, "Idempotency-Key", "order-7")
	assert.Empty(t, sent.header.Get("Idempotency-Replayed"))
	assert.Equal(t, "9990", app.must(http.StatusOK, "GET", "/apps/me", nil).body.text("remainingSpendLimit"))
}

func TestAppKeySpendLimit(t *testing.T) {
	w := newWorld(t)
	app := w.appWith(sandbox.AppKeyRegistration{SpendLimit: dollars("25")})
	app.fund(1)
	body := object{"contactId": app.wallet("base", "USDC"), "amount": 10}

	slugs := concurrently(6, func(i int) string {
		return app.call("POST", "/apps/transfer", body, "Idempotency-Key", fmt.Sprint("order-", i)).slug()
	})
	assert.Equal(t, map[string]int{"": 2, "forbidden": 4}, slugs)

	beyond := app.call("POST", "/apps/transfer", body)
	refused(t, http.StatusForbidden, "forbidden", beyond)
	assert.Equal(t, "spendLimitExceeded", beyond.body.text("error", "details", "reason"))
	assert.Equal(t, "5", beyond.body.text("error", "details", "remainingSpendLimit"))
	assert.Equal(t, "80", app.balance())
	body["amount"] = 5
	app.must(http.StatusOK, "POST", "/apps/transfer", body)
	assert.Equal(t, "0", app.must(http.StatusOK, "GET", "/mcp/get_balance", nil).body.text("remainingAllowance"))
	requireLedgerBalanced(t, w)
}

func TestTransfersBelongToTheirApp(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	app.fund(1)
	bob := app.wallet("base", "USDC")
	body := object{"contactId": bob, "amount": 1}
	first := app.must(http.StatusOK, "POST", "/apps/transfer", body, "Idempotency-Key", "order-7")

	sibling := w.appWith(sandbox.AppKeyRegistration{})
	assert.Equal(t, first.body, sibling.must(http.StatusOK, "POST", "/apps/transfer", body, "Idempotency-Key",
		"order-7").body, "a key of the same app")
	bot := w.appWith(sandbox.AppKeyRegistration{App: "Bot"})
	assert.Equal(t, first.body, bot.must(http.StatusOK, "POST", "/apps/transfer", body, "Idempotency-Key", "order-7").
		body, "a key of the same account")
	assert.Empty(t, bot.must(http.StatusOK, "GET", "/apps/transfers", nil).items(), "the history is the app's own")
	second := bot.must(http.StatusOK, "POST", "/apps/transfer", body, "Idempotency-Key", "order-8")
	assert.NotEqual(t, first.body, second.body)
	assert.Len(t, bot.must(http.StatusOK, "GET", "/transactions", nil).items(), 3, "one account, one ledger")

	other := w.appWith(sandbox.AppKeyRegistration{Email: "stranger@example.com"})
	refused(t, http.StatusNotFound, "not_found", other.call("POST", "/apps/transfer", body, "Idempotency-Key",
		"order-7"))
	assert.Empty(t, other.must(http.StatusOK, "GET", "/transactions", nil).items())
}

func TestTransferToAccountOfTheHost(t *testing.T) {
	w := newWorld(t)
	friend := w.appWith(sandbox.AppKeyRegistration{Email: "friend@example.com"})
	friend.must(http.StatusOK, "GET", "/user", nil)
	app := w.app()
	app.fund(1)
	contact := app.must(http.StatusCreated, "POST", "/user/contact",
		object{"account": object{"email": "friend@example.com"}}).body.text("id")
	app.must(http.StatusOK, "POST", "/apps/transfer", object{"contactId": contact, "amount": amount("33.333333")})
	assert.Equal(t, "33.333333", friend.balance())
	assert.Equal(t, "66.666667", app.balance())

	received := friend.must(http.StatusOK, "GET", "/transactions?incomeOnly=true", nil).items()
	require.Len(t, received, 1)
	assert.Equal(t, "33.333333", received[0].text("amount"))
	assert.Nil(t, received[0].at("contactId"), "whom the sender calls a contact is the sender's own affair")
	requireLedgerBalanced(t, w)
}

func TestContactNotPayable(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	app.fund(1)
	nowhere := app.wallet("atlantis", "USDC")
	for path, body := range map[string]object{
		"/apps/transfer":        {"contactId": nowhere, "amount": 1},
		"/balance/payout/quote": {"contactId": nowhere, "amount": "1"},
	} {
		got := app.call("POST", path, body)
		refused(t, http.StatusConflict, "contact_not_payable", got)
		assert.NotEmpty(t, got.body.at("error", "details", "blockers"))
	}
	assert.Equal(t, "100", app.balance())
	assert.Equal(t, "10000", app.must(http.StatusOK, "GET", "/apps/me", nil).body.text("remainingSpendLimit"))
}

// invoice issues an invoice in the caller's name.
func (b bearer) invoice(currency, price string) string {
	b.t.Helper()
	return b.must(http.StatusCreated, "POST", "/documents/contracts/invoices", object{
		"currency": currency, "clientEmail": "client@example.com",
		"items": []object{{"name": "Work", "quantity": 2, "price": price}},
	}).body.text("id")
}

func TestTransferPaysInvoice(t *testing.T) {
	w := newWorld(t)
	client := w.app()
	client.fund(2)
	contractor := w.appWith(sandbox.AppKeyRegistration{Email: "contractor@example.com"})
	invoice := contractor.invoice("EUR", "23.00")

	w.host.Advance(time.Hour)
	sent := client.must(http.StatusOK, "POST", "/apps/transfer", object{"invoiceId": invoice, "memo": "thanks"})
	paid := contractor.must(http.StatusOK, "GET", "/documents/contracts/invoices/"+invoice, nil).body
	assert.Equal(t, "paid", paid.text("status"))
	assert.Equal(t, sent.body.text("txHash"), paid.text("transaction", "txHash"))
	at, err := time.Parse(time.RFC3339, paid.text("paidAt"))
	require.NoError(t, err)
	assert.WithinDuration(t, w.host.Now(), at, time.Second)

	const cost = "50.251257" // 46 EUR at 0.92 with half a percent of spread, rounded up from 50.25125628
	assert.Equal(t, cost, contractor.balance())
	assert.InDelta(t, 50.251257, client.must(http.StatusOK, "GET", "/apps/transfers", nil).items()[0].at("amount"),
		1e-9)
	entry := client.must(http.StatusOK, "GET", "/transactions?type=internal", nil).items()
	require.Len(t, entry, 1)
	assert.Equal(t, invoice, entry[0].text("invoiceId"))

	refused(t, http.StatusConflict, "conflict", client.call("POST", "/apps/transfer", object{"invoiceId": invoice}))
	refused(t, http.StatusConflict, "conflict",
		client.call("POST", "/apps/transfer", object{"invoiceId": contractor.invoice("BTC", "0.1")}))
	assert.Equal(t, cost, contractor.balance())
	requireLedgerBalanced(t, w)
}

// The host has a price for each fiat currency of invoices, so each invoice can be paid.
func TestInvoiceInEachFiatCurrencyIsPayable(t *testing.T) {
	w := newWorld(t)
	client, contractor := w.app(), w.appWith(sandbox.AppKeyRegistration{Email: "contractor@example.com"})
	client.fund(1)
	left := client.balance()
	for _, currency := range []string{"USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "NZD", "SEK", "NOK", "AED",
		"HKD"} {
		rate := w.call("GET", "/utils/rates/"+currency, nil)
		require.Equal(t, http.StatusOK, rate.status, "%s: %s", currency, rate.raw)
		client.must(http.StatusOK, "POST", "/apps/transfer", object{"invoiceId": contractor.invoice(currency, "1")})
		assert.NotEqual(t, left, client.balance(), currency)
		left = client.balance()
	}
	requireLedgerBalanced(t, w)
}

func TestInvoiceStaysUnpaidIfTransferFails(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	invoice := app.invoice("USD", "500")
	refused(t, http.StatusConflict, "payout_not_fundable",
		app.call("POST", "/apps/transfer", object{"invoiceId": invoice}))
	small := w.appWith(sandbox.AppKeyRegistration{SpendLimit: dollars("999.999999")})
	refused(t, http.StatusForbidden, "forbidden", small.call("POST", "/apps/transfer", object{"invoiceId": invoice}))
	assert.Equal(t, "sent", app.must(http.StatusOK, "GET", "/documents/contracts/invoices/"+invoice, nil).
		body.text("status"))
	assert.Empty(t, app.must(http.StatusOK, "GET", "/apps/transfers", nil).items())
}
