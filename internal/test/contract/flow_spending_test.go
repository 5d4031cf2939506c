package contract_test

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"time"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/model"
)

// cards make one card; cards cannot be deleted, so that on a real host the first one there is is used, and left as it
// was.
func (w *world) cards() {
	cards := w.app.Cards
	w.step("list", func() {
		if listed := ok(cards.List(w.Context()))(w); len(listed.Cards) > 0 {
			w.card = listed.Cards[0].ID
		}
	})
	if w.card == "" { // a real host keeps the card of an earlier run
		w.step("issue", func() { w.issueCard() })
	}
	w.embedded("label and limit", func() {
		ok(cards.SetLabel(w.Context(), w.card, "Travel"))(w)
		limit := model.NewNumber(amount("99.95"))
		limited := ok(cards.SetLimit(w.Context(), w.card,
			appapi.CardLimitUpdate{DailyLimit: model.Set(limit), MonthlyLimit: model.Set(limit),
				LifetimeLimit: model.Set(limit)}))(w)
		assert.True(w, limit.Equal(limited.Limit.DailyLimit.Decimal))
	})
	w.embedded("freeze and unfreeze", func() {
		assert.Equal(w, model.CardStatusFrozen, ok(cards.Freeze(w.Context(), w.card))(w).Status)
		assert.Equal(w, model.CardStatusActive, ok(cards.Unfreeze(w.Context(), w.card))(w).Status)
	})
	w.step("read", func() {
		w.needs(w.card != "", "a card of the account")
		ok(cards.Get(w.Context(), w.card))(w)
		ok(cards.List(w.Context()))(w)
	})
	w.step("details", func() {
		w.needs(w.wallet != nil, "the wallet of the account's cards")
		assert.NotEmpty(w, ok(cards.Details(w.Context(), w.card, w.wallet))(w).CardNumber)
	})
}

// issueCard issues a card, and waits until it is active.
func (w *world) issueCard() {
	cards := w.app.Cards
	ok(cards.KYCLink(w.Context()))(w)
	w.pass()
	ok(cards.PreApprove(w.Context(), appapi.CardPreApprovalCreate{Amount: amount("100"), Currency: "USDC"}))(w)
	w.card = ok(cards.Create(w.Context(), appapi.CardCreate{Format: appapi.CardFormatVirtual}))(w).ID
	w.pass()
	for soon := w.soon(); soon.Err() == nil; time.Sleep(w.suite.pause) {
		if ok(cards.Get(w.Context(), w.card))(w).Status == model.CardStatusActive {
			return
		}
	}
	w.needs(false, "a card that becomes active within two minutes")
}

// transfers price money in and out, and send some. The account was credited by the payouts.
func (w *world) transfers() {
	app := w.app
	var contact string
	w.step("rails", func() { ok(app.Banks.List(w.Context()))(w) })
	w.step("price a payin from a chain", func() {
		ok(app.Quotes.PayinFromChain(w.Context(),
			appapi.BalancePayinQuote{Amount: w.sum(), Currency: "USDC", OriginChainID: 1}))(w)
	})
	w.step("price a payout, and send it", func() {
		contact = w.appContact()
		payout := ok(app.Quotes.Payout(w.Context(), appapi.BalancePayoutQuote{ContactID: contact, Amount: w.sum()}))(w)
		w.quote = payout.QuoteID
		ok(app.Transfers.Send(w.Context(), appapi.ToQuote{QuoteID: payout.QuoteID, Memo: "contract suite"},
			w.uniqueKey("quote")))(w)
	})
	w.step("send to a contact, once", func() {
		key := w.uniqueKey("transfer")
		to := appapi.ToContact{ContactID: contact, Amount: w.sum(), Memo: "contract suite"}
		receipt := ok(app.Transfers.Send(w.Context(), to, key))(w)
		again := ok(app.Transfers.Send(w.Context(), to, key))(w)
		assert.Equal(w, receipt.TxHash, again.TxHash)
		sent, found, err := app.Transfers.ByKey(w.Context(), key)
		w.succeeds(err)
		require.True(w, found)
		assert.Equal(w, receipt.TxHash, sent.TxHash)
	})
	w.step("history", func() {
		ok(app.Transfers.List(w.Context(), appapi.ListTransfersParams{Limit: 5}))(w)
		assert.NotEmpty(w, ok(app.Transactions.List(w.Context(), appapi.ListTransactionsParams{Limit: 5}))(w).Items)
		ok(app.Transactions.List(w.Context(), appapi.ListTransactionsParams{Type: []string{"transfer", "payout"},
			IncomeOnly: true, Status: "completed"}))(w)
	})
	w.embedded("activate a rail, and pay in from a bank", func() {
		ok(app.Banks.Activate(w.Context(), []string{"sepa"}))(w)
		w.pass()
		var account string
		for _, bank := range ok(app.Banks.List(w.Context()))(w) {
			if bank.Method == "sepa" {
				account = bank.BankAccountID
			}
		}
		quote := ok(app.Quotes.PayinFromBank(w.Context(),
			appapi.BankPayinQuote{Amount: amount("10"), BankAccountID: account, Memo: "contract suite"}))(w)
		ok(app.Quotes.SubmitPayin(w.Context(), quote.QuoteID))(w)
		ok(app.Transactions.List(w.Context(), appapi.ListTransactionsParams{BankAccountID: account}))(w)
	})
	w.embedded("pay an invoice", func() { // that somebody else issued, on a real host
		invoice := ok(app.Invoices.Create(w.Context(),
			appapi.InvoiceCreate{Currency: model.InvoiceCurrencyUSDC, ClientEmail: w.email,
				ContractorEmail: "contractor@example.com", Items: lines()}))(w)
		ok(app.Transfers.Send(w.Context(), appapi.ToInvoice{InvoiceID: invoice.ID}, w.uniqueKey("invoice")))(w)
		ok(app.Transfers.List(w.Context(), appapi.ListTransfersParams{Limit: 5}))(w)
		ok(app.Transactions.List(w.Context(), appapi.ListTransactionsParams{Limit: 5}))(w)
	})
}
