package contract_test

import (
	"io"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/public"
)

func (w *world) walkAccount() {
	ctx, app := w.Context(), w.app
	ok(app.Account.UpdateProfile(ctx, appapi.ProfileUpdate{FirstName: "Ann", LastName: "Roe"}))(w)
	assert.Equal(w, "Ann", ok(app.Account.Profile(ctx))(w).FirstName)
	ok(app.Account.KYCLink(ctx))(w)
	ok(app.Account.KYCStatus(ctx, appapi.GetKYCStatusParams{}))(w)
	assert.NotEmpty(w, ok(app.Account.Balances(ctx))(w))
	assert.True(w, ok(app.Account.WalletBalance(ctx))(w).UsdcBalance.IsPositive())
	assert.NotEmpty(w, ok(app.Account.App(ctx))(w).Scopes)

	contact := ok(app.Contacts.Create(ctx, appapi.ContactCreate{Name: "Carl", Account: appapi.Onchain(moneymovement.OnchainAccount{WalletAddress: payee, ChainID: "base", Currency: "USDC"})}))(w)
	ok(app.Contacts.Update(ctx, contact.ID, appapi.ContactUpdate{Name: "Carla"}))(w)
	found := false
	for listed, err := range app.Contacts.All(ctx, appapi.ListContactsParams{Limit: 1}) {
		require.NoError(w, err)
		found = found || listed.ID == contact.ID && listed.Name == "Carla"
	}
	assert.True(w, found)
	require.NoError(w, app.Contacts.Delete(ctx, contact.ID))
	assert.True(w, ok(app.Contacts.ValidateBank(ctx, appapi.BankDetails{Country: "DE", IBAN: "DE89370400440532013000"}))(w).Valid)

	ok(app.Banks.Activate(ctx, []string{"sepa"}))(w)
	w.pass()
}

func (w *world) lines() []moneymovement.LineItem {
	return []moneymovement.LineItem{{Name: "Design", Quantity: moneymovement.NewNumber(amount("1.5")), Price: amount("20")}}
}

// walkPaperwork issues a contract, invoices it in each way, and looks at the invoice from outside.
func (w *world) walkPaperwork() {
	ctx, app := w.Context(), w.app
	assert.NotEmpty(w, ok(app.Contracts.Templates(ctx))(w))
	contract := ok(app.Contracts.Create(ctx, appapi.ContractCreate{
		ContractorEmail: "carl@example.com", Type: moneymovement.ContractTypeService, Period: "monthly", Fields: appapi.ContractFields{Amount: amount("300"), Currency: moneymovement.FiatCurrencyUSD, JobTitle: "Designer"},
	}))(w)
	w.pass()
	ok(app.Contracts.Approve(ctx, contract.ID))(w)
	ok(app.Contracts.Update(ctx, contract.ID, appapi.ContractUpdate{Label: "Design"}))(w)
	ok(app.Contracts.ReplacePaymentMethods(ctx, contract.ID, []moneymovement.PaymentMethod{
		moneymovement.NewPaymentMethod(moneymovement.SEPAPaymentMethod{IBANNumber: "DE89370400440532013000", BeneficiaryName: "Carl"}),
	}))(w)
	assert.NotEmpty(w, ok(app.Contracts.Preview(ctx, contract.ID))(w).Text)
	assert.NotEmpty(w, ok(app.Contracts.List(ctx, appapi.ListContractsParams{}))(w).Items)
	assert.Equal(w, "Design", ok(app.Contracts.Get(ctx, contract.ID))(w).Label)

	ok(app.Invoices.CreateFromContract(ctx, contract.ID, appapi.ContractInvoiceCreate{InvoicePrefix: "C"}))(w)
	assert.Len(w, ok(app.Invoices.CreateBatch(ctx, appapi.InvoiceBatch{{ContractID: contract.ID, Period: 2, Items: w.lines()}}))(w), 1)
	document := ok(app.Documents.Upload(ctx, appapi.DocumentUpload{Content: strings.NewReader("%PDF-1.7"), Name: "Invoice", Type: appapi.DocumentKindInvoice}))(w)
	ok(app.Invoices.CreateUploaded(ctx, appapi.UploadedInvoiceCreate{DocumentID: document.ID, Amount: amount("12"), Currency: moneymovement.InvoiceCurrencyUSD, ClientEmail: "dora@example.com"}))(w)
	invoice := ok(app.Invoices.Create(ctx, appapi.InvoiceCreate{Currency: moneymovement.InvoiceCurrencyUSD, ClientEmail: "dora@example.com", Items: w.lines()}))(w)
	assert.True(w, amount("30").Equal(invoice.Amount), "%s", invoice.Amount)
	assert.Equal(w, moneymovement.InvoiceStatusPaid, ok(app.Invoices.MarkPaid(ctx, invoice.ID, appapi.Payment{}))(w).Status)
	assert.Equal(w, moneymovement.InvoiceStatusPaid, ok(app.Invoices.Get(ctx, invoice.ID))(w).Status)
	assert.GreaterOrEqual(w, len(ok(app.Invoices.List(ctx, appapi.ListInvoicesParams{}))(w).Items), 4)

	assert.Equal(w, invoice.ID, ok(w.public.Invoices.Get(ctx, invoice.ID))(w).ID)
	pdf := ok(w.public.Invoices.PDF(ctx, invoice.ID, public.RenderInvoicePDFParams{}))(w)
	defer pdf.Close()
	start := make([]byte, 5)
	_, err := io.ReadFull(pdf, start)
	require.NoError(w, err)
	assert.Equal(w, "%PDF-", string(start))

	assert.Equal(w, contract.ID, ok(w.reference.Contracts.Get(ctx, contract.ID))(w).ID)
	ok(app.Contracts.Pause(ctx, contract.ID))(w)
	require.NoError(w, app.Contracts.Delete(ctx, contract.ID))
}

func (w *world) walkCards() {
	ctx, cards := w.Context(), w.app.Cards
	ok(cards.KYCLink(ctx))(w)
	w.pass()
	ok(cards.PreApprove(ctx, appapi.CardPreApprovalCreate{Amount: amount("100"), Currency: "USDC"}))(w)
	card := ok(cards.Create(ctx, appapi.CardCreate{Format: appapi.CardFormatVirtual}))(w)
	w.pass()
	assert.Equal(w, moneymovement.CardStatusActive, ok(cards.Get(ctx, card.ID))(w).Status)
	ok(cards.SetLabel(ctx, card.ID, "Travel"))(w)
	limit := moneymovement.NewNumber(amount("99.95"))
	limited := ok(cards.SetLimit(ctx, card.ID, appapi.CardLimitUpdate{DailyLimit: &limit}))(w)
	assert.True(w, limit.Equal(limited.Limit.DailyLimit.Decimal))
	details := ok(cards.Details(ctx, card.ID, w.host.Credentials().Wallet))(w)
	assert.Len(w, details.CardNumber, 16)
	assert.Equal(w, moneymovement.CardStatusFrozen, ok(cards.Freeze(ctx, card.ID))(w).Status)
	assert.Equal(w, moneymovement.CardStatusActive, ok(cards.Unfreeze(ctx, card.ID))(w).Status)
	assert.Len(w, ok(cards.List(ctx))(w).Cards, 1)
	w.pass() // a nonce is used once, on whichever surface
	assert.Len(w, ok(w.reference.Cards.List(ctx))(w).Cards, 1)
	assert.Equal(w, details.CardNumber, ok(w.reference.Cards.Details(ctx, card.ID, w.host.Credentials().Wallet))(w).CardNumber)
}

// walkTransfers prices money in and out, and sends some.
func (w *world) walkTransfers() {
	ctx, app := w.Context(), w.app
	var account string
	for _, bank := range ok(app.Banks.List(ctx))(w) {
		if bank.Method == "sepa" {
			account = bank.BankAccountID
		}
	}
	ok(app.Quotes.PayinFromChain(ctx, appapi.BalancePayinQuote{Amount: amount("10"), Currency: "USDC", OriginChainID: 1}))(w)
	quote := ok(app.Quotes.PayinFromBank(ctx, appapi.BankPayinQuote{Amount: amount("10"), BankAccountID: account}))(w)
	ok(app.Quotes.SubmitPayin(ctx, quote.QuoteID))(w)
	assert.Equal(w, quote.QuoteID, ok(w.reference.Quotes.Status(ctx, quote.QuoteID))(w).QuoteID)

	contact := ok(app.Contacts.Create(ctx, appapi.ContactCreate{Name: "Bob", Account: appapi.Onchain(moneymovement.OnchainAccount{WalletAddress: payee, ChainID: "base", Currency: "USDC"})}))(w)
	payout := ok(app.Quotes.Payout(ctx, appapi.BalancePayoutQuote{ContactID: contact.ID, Amount: amount("10")}))(w)
	ok(app.Transfers.Send(ctx, appapi.ToQuote{QuoteID: payout.QuoteID}))(w)
	receipt := ok(app.Transfers.Send(ctx, appapi.ToContact{ContactID: contact.ID, Amount: amount("0.25"), Memo: "tea"}, moneymovement.IdempotencyKey("tea-1")))(w)
	sent, found, err := app.Transfers.ByKey(ctx, "tea-1")
	require.NoError(w, err)
	require.True(w, found)
	assert.Equal(w, receipt.TxHash, sent.TxHash)
	assert.NotEmpty(w, ok(app.Transactions.List(ctx, appapi.ListTransactionsParams{}))(w).Items)
}
