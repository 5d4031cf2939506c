package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// appBooks is what a random walk remembers of the app API. The app acts for the account that the walk's first session
// acts for, and a contractor's for an account of its own.
type appBooks struct {
	app, contractor bearer
	paid            []string // contacts
	quotes          []string
	invoices        []issued
	bank            string // a bank account
}

// issued is an invoice with the app that issued it.
type issued struct {
	by bearer
	id string
}

func (i issued) call(method string, body any) reply {
	return i.by.call(method, invoices+"/"+i.id, body)
}

// openApps gives the walk its apps, with contacts inside and outside the host, and a bank account.
func (b *bookkeeping) openApps() {
	app := b.world.app()
	contact := func(account object) string {
		return app.must(http.StatusCreated, "POST", "/user/contact", object{"account": account}).body.text("id")
	}
	b.apps = appBooks{
		app: app, contractor: b.appWith(sandbox.AppKeyRegistration{Email: "contractor@example.com"}),
		paid: []string{
			app.wallet("base", "USDC"), app.wallet("arbitrum", "USDT"), app.wallet("base", "EURC"),
			contact(object{"walletAddress": b.payees[1], "chainId": "base", "currency": "USDC"}),
			contact(object{"email": "acme@example.com"}),
		},
		bank: app.activate("sepa"),
	}
}

func (b *bookkeeping) transfer(t *rapid.T, body object) {
	var key []string
	if chosen := rapid.IntRange(0, 5).Draw(t, "key"); chosen > 2 {
		key = []string{"Idempotency-Key", fmt.Sprint("order-", chosen)}
	}
	b.apps.app.call("POST", "/apps/transfer", body, key...)
}

func (b *bookkeeping) send(t *rapid.T) {
	contact := rapid.SampledFrom(b.apps.paid).Draw(t, "contact")
	b.transfer(t, object{"contactId": contact, "amount": amount(amounts(t))})
}

func (b *bookkeeping) price(t *rapid.T) {
	contact := rapid.SampledFrom(b.apps.paid).Draw(t, "contact")
	quoted := b.apps.app.call("POST", "/balance/payout/quote", object{"contactId": contact, "amount": amounts(t)})
	if quoted.status == http.StatusOK {
		b.apps.quotes = append(b.apps.quotes, quoted.body.text("quoteId"))
	}
}

func (b *bookkeeping) sendQuote(t *rapid.T) {
	if len(b.apps.quotes) > 0 {
		b.transfer(t, object{"quoteId": rapid.SampledFrom(b.apps.quotes).Draw(t, "quote")})
	}
}

func (b *bookkeeping) issue(t *rapid.T) {
	by := rapid.SampledFrom([]bearer{b.apps.contractor, b.apps.contractor, b.apps.app}).Draw(t, "contractor")
	currency := rapid.SampledFrom([]string{"USD", "EUR"}).Draw(t, "currency")
	price := decimal.New(rapid.Int64Range(1, 3000).Draw(t, "cents"), -2).String()
	b.apps.invoices = append(b.apps.invoices, issued{by, by.invoice(currency, price)})
}

func (b *bookkeeping) settle(t *rapid.T) {
	b.anInvoice(t, func(invoice issued) { b.transfer(t, object{"invoiceId": invoice.id}) })
}

func (b *bookkeeping) mark(t *rapid.T) {
	status := rapid.SampledFrom([]string{"draft", "sent", "sent", "sent", "paid", "cancelled"}).Draw(t, "status")
	b.anInvoice(t, func(invoice issued) { invoice.call("PUT", object{"status": status}) })
}

// anInvoice draws one of the invoices; there may be none.
func (b *bookkeeping) anInvoice(t *rapid.T, use func(issued)) {
	if len(b.apps.invoices) > 0 {
		use(b.apps.invoices[rapid.IntRange(0, len(b.apps.invoices)-1).Draw(t, "invoice")])
	}
}

func (b *bookkeeping) bankPayin(t *rapid.T) {
	app := b.apps.app
	id := app.must(http.StatusOK, "POST", "/banks/payin/quote",
		object{"amount": decimal.New(rapid.Int64Range(1, 9000).Draw(t, "cents"), -2).String(),
			"bankAccountId": b.apps.bank}).body.text("quoteId")
	app.must(http.StatusOK, "POST", "/banks/payin/quote/submit", object{"quoteId": id})
	if rapid.Bool().Draw(t, "arrives") {
		// may be refused: too little, or the faucet is empty
		b.accounts[0].call("POST", "/sandbox/payins/"+id+"/complete", nil)
	}
}

// agreeOfApp holds what the app is told against what is booked: its balance, its limit and its invoices.
func (b *bookkeeping) agreeOfApp(t *rapid.T) {
	app := b.apps.app
	held := decimal.RequireFromString(app.holds())
	if told := b.accounts[0].spendable(); !told.Equal(held) {
		t.Fatalf("the account holds %s USDC, its ledger on the platform API says %s", held, told)
	}
	told := decimal.Zero
	for _, entry := range all[object](app, "/transactions") {
		moved := decimal.RequireFromString(entry.text("amount"))
		if entry.at("incoming") != true {
			moved = moved.Neg()
		}
		if entry.text("currency") == "USDC" && entry.text("status") != "failed" {
			told = told.Add(moved)
		}
	}
	if !told.Equal(held) {
		t.Fatalf("the account holds %s USDC, its transactions on the app API say %s", held, told)
	}

	spent, settled := decimal.Zero, map[string]string{}
	for _, sent := range all[transferred](app, "/apps/transfers") {
		spent = spent.Add(decimal.RequireFromString(sent.Amount.String()))
		if settled[sent.InvoiceID] != "" {
			t.Fatalf("invoice %s was paid twice", sent.InvoiceID)
		}
		if sent.InvoiceID != "" {
			settled[sent.InvoiceID] = sent.TxHash
		}
	}
	left := decimal.RequireFromString(app.must(http.StatusOK, "GET", "/apps/me", nil).body.text("remainingSpendLimit"))
	if !left.Add(spent).Equal(decimal.NewFromInt(sandbox.AppSpendLimit)) {
		t.Fatalf("%s was spent and %s is left of the limit", spent, left)
	}
	for _, invoice := range b.apps.invoices {
		read := invoice.call("GET", nil)
		if hash := settled[invoice.id]; hash != read.body.text("transaction", "txHash") || hash != "" &&
			read.body.text("status") != "paid" {
			t.Fatalf("invoice %s was paid by %q and says %s", invoice.id, hash, read.raw)
		}
	}
}

// transferred is a transfer in the history, whose amount is a number that is read digit by digit.
type transferred struct {
	Amount            json.Number
	InvoiceID, TxHash string
}

// all are the entries of every page of a list.
func all[T any](b bearer, path string) (entries []T) {
	b.t.Helper()
	for {
		answered := b.must(http.StatusOK, "GET", fmt.Sprintf("%s?limit=100&offset=%d", path, len(entries)), nil)
		var page struct{ Items []T }
		require.NoError(b.t, json.Unmarshal(answered.raw, &page))
		if len(page.Items) == 0 {
			return entries
		}
		entries = append(entries, page.Items...)
	}
}
