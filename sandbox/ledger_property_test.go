package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// After any calls on any surface, in any order: the ledger sums to zero in each currency and movement, only the outside
// account is negative, and each account can spend what its transactions add up to.
func TestLedgerBalancesAfterAnyCalls(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(t *rapid.T) {
		w.host.Reset()
		_, err := w.host.RegisterKey(sandbox.KeyRegistration{Email: w.email, PublicKey: w.key.public(w.t)})
		require.NoError(t, err)
		b := &bookkeeping{world: w}
		me := w.login()
		b.accounts = []*session{me, me.readyClient("acme@example.com"), me.readyClient("bolt@example.com")}
		bolt := me.must(http.StatusOK, "GET", "/clients/"+b.accounts[2].account, nil).body.text("baseSmartWallet")
		b.payees = []string{payee, bolt} // outside, and an account of the host
		for i, account := range b.accounts {
			contact := object{"crypto": object{"chain": "base", "token": "USDC", "address": b.payees[i%2]}}
			b.contacts = append(b.contacts, account.must(http.StatusCreated, "POST", "/contacts", contact).
				body.text("id"))
			account.call("POST", "/sandbox/deposits", object{"amount": "100", "currency": "USDC"})
		}
		b.openApps()
		t.Repeat(map[string]func(*rapid.T){
			"deposit": b.deposit, "book": b.book, "confirm": b.confirm, "move": b.move,
			"payin": b.payin, "arrive": b.completePayin, "escrow": b.createEscrow, "act": b.confirmEscrowAction,
			"send": b.sendToContact, "price": b.price, "sendQuote": b.sendQuote, "bankPayin": b.bankPayin,
			"issue": b.issueInvoice, "settle": b.payInvoice, "mark": b.markInvoice,
			"wait": b.wait, "change": b.changeSettings, "": b.balance,
		})
		b.checkLedger(t)
		b.checkAppLedger(t)
		b.forget(t)
	})
}

// bookkeeping is what a random walk through the calls remembers.
type bookkeeping struct {
	*world
	accounts []*session
	contacts []string // one of each account
	payees   []string
	payouts  []createdResource
	payins   []createdResource
	escrows  []createdResource
	apps     appBooks
}

// createdResource is a response with the account that asked for it.
type createdResource struct {
	by *session
	reply
}

func amounts(t *rapid.T) string {
	return decimal.New(rapid.Int64Range(1, 120_000_000).Draw(t, "micros"), -6).String()
}

func (b *bookkeeping) account(t *rapid.T) (int, *session) {
	i := rapid.IntRange(0, len(b.accounts)-1).Draw(t, "account")
	return i, b.accounts[i]
}

// remember keeps a response that succeeded.
func remember(list *[]createdResource, by *session, answered reply) {
	if answered.status == http.StatusCreated {
		*list = append(*list, createdResource{by, answered})
	}
}

// pick draws one of the responses; there may be none.
func pick(t *rapid.T, list []createdResource, use func(createdResource)) {
	if len(list) > 0 {
		use(list[rapid.IntRange(0, len(list)-1).Draw(t, "which")])
	}
}

func (b *bookkeeping) deposit(t *rapid.T) {
	_, account := b.account(t)
	currency := rapid.SampledFrom([]string{"USDC", "EURC"}).Draw(t, "currency")
	account.call("POST", "/sandbox/deposits", object{"amount": amounts(t), "currency": currency})
}

func (b *bookkeeping) book(t *rapid.T) {
	i, account := b.account(t)
	remember(&b.payouts, account,
		account.call("POST", "/payouts", object{"contactId": b.contacts[i], "amount": amounts(t), "currency": "USDC"}))
}

func (b *bookkeeping) confirm(t *rapid.T) {
	pick(t, b.payouts, func(m createdResource) { m.by.confirm(m.reply) })
}

func (b *bookkeeping) move(t *rapid.T) {
	to := rapid.SampledFrom([]string{"processing", "completed", "failed", "refunded", "expired"}).Draw(t, "to")
	pick(t, b.payouts, func(m createdResource) {
		m.by.call("POST", "/sandbox/payouts/"+m.body.text("id")+"/status", object{"status": to})
	})
}

func (b *bookkeeping) payin(t *rapid.T) {
	_, account := b.account(t)
	quoted := account.payin(object{"amount": amounts(t)})
	if quoted.status == http.StatusCreated {
		account.instruct(quoted)
		remember(&b.payins, account, quoted)
	}
}

func (b *bookkeeping) completePayin(t *rapid.T) {
	key := fmt.Sprint("arrival-", rapid.IntRange(0, 3).Draw(t, "key"))
	pick(t, b.payins, func(m createdResource) { m.by.complete(key, m.reply) })
}

func (b *bookkeeping) createEscrow(t *rapid.T) {
	_, account := b.account(t)
	remember(&b.escrows, account, account.call("POST", "/escrow", object{
		"amount": amounts(t), "currency": "USDC", "payee": rapid.SampledFrom(b.payees).Draw(t, "payee"),
		"approveWithin": "1m", "holdFor": "0s",
	}))
}

func (b *bookkeeping) confirmEscrowAction(t *rapid.T) {
	kind := rapid.SampledFrom([]string{"approve", "approve", "release", "refund"}).Draw(t, "kind")
	pick(t, b.escrows, func(m createdResource) {
		prepared := m.by.call("POST", "/escrow/"+m.body.text("id")+"/actions", object{"type": kind})
		if prepared.status < http.StatusBadRequest {
			m.by.act(m.reply, prepared.action())
		}
	})
}

func (b *bookkeeping) wait(t *rapid.T) {
	b.host.Advance(rapid.SampledFrom([]time.Duration{300 * time.Millisecond, 15 * time.Second, 2 * time.Minute}).
		Draw(t, "time"))
	fresh := b.login() // before the session's hour is over
	for _, account := range b.accounts {
		account.access = fresh.access
	}
}

func (b *bookkeeping) changeSettings(t *rapid.T) {
	balance := rapid.SampledFrom([]int64{50, 1_000_000}).Draw(t, "faucet")
	back := rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "back")
	fee := decimal.New(rapid.Int64Range(0, 30).Draw(t, "fee"), -2)
	require.NoError(t, b.host.Configure(func(s *sandbox.Settings) {
		s.FaucetBalance, s.ReturnAfter, s.ReturnFee = decimal.NewFromInt(balance), sandbox.Duration(back), fee
	}))
}

// balance checks the ledger and the balances.
func (b *bookkeeping) balance(t *rapid.T) {
	books := b.host.Ledger()
	for currency, sum := range books.Sums {
		if !sum.IsZero() {
			t.Fatalf("%s sums to %s", currency, sum)
		}
	}
	movements := map[string]decimal.Decimal{}
	for _, entry := range books.Entries {
		movements[entry.Movement+" "+entry.Currency] = movements[entry.Movement+" "+entry.Currency].Add(entry.Amount)
	}
	for movement, sum := range movements {
		if !sum.IsZero() {
			t.Fatalf("movement %s sums to %s", movement, sum)
		}
	}
	for account, balances := range books.Balances {
		for currency, balance := range balances {
			if account != "outside" && balance.IsNegative() {
				t.Fatalf("%s holds %s %s", account, balance, currency)
			}
		}
	}
}

// checkLedger compares the transactions of the clients with the ledger.
func (b *bookkeeping) checkLedger(t *rapid.T) {
	books := b.host.Ledger()
	for _, client := range b.accounts[1:] {
		if told, held := client.spendable(), books.Balances[client.account]["USDC"]; !told.Equal(held) {
			t.Fatalf("%s holds %s USDC, its ledger says %s", client.account, held, told)
		}
	}
}

// forget has the host forget every payout that is over, which changes no balance.
func (b *bookkeeping) forget(t *rapid.T) {
	b.host.Advance(2 * time.Minute) // nothing is on its way any more
	before := b.host.Ledger()
	require.NoError(t, b.host.Configure(forgetAfter(time.Minute)))
	b.host.Advance(2 * time.Minute)
	after := b.host.Ledger()
	require.Equal(t, balancesOf(before), balancesOf(after))
	requireBalanced(t, after)
	for _, entry := range after.Entries {
		require.NotContains(t, []string{"payout_settlement", "payout_return", "payout_refund"}, entry.Kind)
	}
}

// spendable adds up the account's ledger, in USDC.
func (s *session) spendable() (sum decimal.Decimal) {
	for cursor := ""; ; {
		page := s.must(http.StatusOK, "GET", "/transactions?limit=100"+cursor, nil)
		for _, item := range page.body.at("items").([]any) {
			entry := object(item.(map[string]any))
			amount := decimal.RequireFromString(entry.text("amount"))
			switch {
			case entry.text("currency") != "USDC" || entry.text("status") == "failed":
			case entry.text("direction") == "in":
				sum = sum.Add(amount)
			default:
				sum = sum.Sub(amount)
			}
		}
		next := page.body.text("nextCursor")
		if next == "" {
			return sum
		}
		cursor = "&cursor=" + next
	}
}

// appBooks is what a random walk remembers of the app API. The app acts for the account that the walk's first session
// acts for, and a contractor's for an account of its own.
type appBooks struct {
	app, contractor bearer
	paid            []string // contacts
	quotes          []string
	invoices        []issuedInvoice
	bank            string // a bank account
}

// issuedInvoice is an invoice with the app that issued it.
type issuedInvoice struct {
	by bearer
	id string
}

func (i issuedInvoice) call(method string, body any) reply {
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

func (b *bookkeeping) sendToContact(t *rapid.T) {
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

func (b *bookkeeping) issueInvoice(t *rapid.T) {
	by := rapid.SampledFrom([]bearer{b.apps.contractor, b.apps.contractor, b.apps.app}).Draw(t, "contractor")
	currency := rapid.SampledFrom([]string{"USD", "EUR"}).Draw(t, "currency")
	price := decimal.New(rapid.Int64Range(1, 3000).Draw(t, "cents"), -2).String()
	b.apps.invoices = append(b.apps.invoices, issuedInvoice{by, by.invoice(currency, price)})
}

func (b *bookkeeping) payInvoice(t *rapid.T) {
	b.anInvoice(t, func(invoice issuedInvoice) { b.transfer(t, object{"invoiceId": invoice.id}) })
}

func (b *bookkeeping) markInvoice(t *rapid.T) {
	status := rapid.SampledFrom([]string{"draft", "sent", "sent", "sent", "paid", "cancelled"}).Draw(t, "status")
	b.anInvoice(t, func(invoice issuedInvoice) { invoice.call("PUT", object{"status": status}) })
}

// anInvoice draws one of the invoices; there may be none.
func (b *bookkeeping) anInvoice(t *rapid.T, use func(issuedInvoice)) {
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

// checkAppLedger holds what the app is told against what is booked: its balance, its limit and its invoices.
func (b *bookkeeping) checkAppLedger(t *rapid.T) {
	app := b.apps.app
	held := decimal.RequireFromString(app.balance())
	if told := b.accounts[0].spendable(); !told.Equal(held) {
		t.Fatalf("the account holds %s USDC, its ledger on the platform API says %s", held, told)
	}
	told := decimal.Zero
	for _, entry := range listAll[object](app, "/transactions") {
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
	for _, sent := range listAll[transferred](app, "/apps/transfers") {
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

// listAll are the entries of every page of a list.
func listAll[T any](b bearer, path string) (entries []T) {
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
