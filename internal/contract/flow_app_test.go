package contract_test

import (
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
)

func (w *world) account() {
	app := w.app
	w.step("profile", func() {
		ok(app.Account.Profile(w.Context()))(w)
		ok(app.Account.App(w.Context()))(w)
	})
	w.step("balances", func() {
		assert.NotEmpty(w, ok(app.Account.Balances(w.Context()))(w))
		ok(app.Account.WalletBalance(w.Context()))(w)
	})
	w.step("verification", func() {
		ok(app.Account.KYCStatus(w.Context(), appapi.GetKYCStatusParams{}))(w)
		ok(app.Account.KYCLink(w.Context()))(w)
	})
	w.embedded("a changed profile", func() { // of the account's owner, on a real host
		ok(app.Account.UpdateProfile(w.Context(), appapi.ProfileUpdate{
			FirstName: "Ann", LastName: "Roe", EntityName: "Roe Ltd", Address: appapi.ProfileAddress{StreetAddress: "Main Street 1", City: "Berlin", Country: "DE", Zip: "10115"},
		}))(w)
		assert.Equal(w, "Ann", ok(app.Account.Profile(w.Context()))(w).FirstName)
	})
	w.step("contacts", func() {
		contact := w.appContact()
		ok(app.Contacts.Update(w.Context(), contact, appapi.ContactUpdate{Name: "Contract suite, changed", Relationship: "external"}))(w)
		ok(app.Contacts.List(w.Context(), appapi.ListContactsParams{Limit: 1, Offset: 0}))(w)
		w.succeeds(app.Contacts.Delete(w.Context(), contact))
	})
	w.step("a contact by email", func() {
		contact := ok(app.Contacts.Create(w.Context(), appapi.ContactCreate{Name: "Contract suite", Relationship: "external", Account: appapi.EmailContact(w.email)}))(w)
		w.succeeds(app.Contacts.Delete(w.Context(), contact.ID))
	})
	w.step("bank details", func() {
		assert.True(w, ok(app.Contacts.ValidateBank(w.Context(), appapi.BankDetails{BankType: "sepa", Country: "DE", BankName: "Licensed bank", IBAN: "DE89370400440532013000", BIC: "COBADEFFXXX"}))(w).Valid)
		assert.False(w, ok(app.Contacts.ValidateBank(w.Context(), appapi.BankDetails{Country: "DE", IBAN: "DE00370400440532013000"}))(w).Valid)
	})
	w.embedded("a page is fifty", func() {
		for range 51 {
			w.appContact()
		}
		ok(app.Contacts.List(w.Context(), appapi.ListContactsParams{}))(w)
	})
}

// appContact saves a wallet of its own, for contacts are deduplicated by their destination.
func (w *world) appContact() (id string) {
	contact := ok(w.app.Contacts.Create(w.Context(), appapi.ContactCreate{Name: "Contract suite", Relationship: "external",
		Account: appapi.Onchain(moneymovement.OnchainAccount{WalletAddress: w.address(), ChainID: "base", Currency: "USDC"})}))(w)
	return contact.ID
}

func lines() []moneymovement.LineItem {
	return []moneymovement.LineItem{{Name: "Design", Quantity: moneymovement.NewNumber(amount("1.5")), Price: amount("20")}}
}

// paperwork issues a contract, and invoices it in each way.
func (w *world) paperwork() {
	app := w.app
	w.step("a contract", func() {
		assert.NotEmpty(w, ok(app.Contracts.Templates(w.Context()))(w))
		contract := ok(app.Contracts.Create(w.Context(), appapi.ContractCreate{
			ContractorEmail: "contractor@example.com", Type: moneymovement.ContractTypeService, Period: "monthly", Label: "Contract suite",
			PriorityMethods: []moneymovement.PriorityMethod{moneymovement.PriorityMethodSEPA},
			Fields:          appapi.ContractFields{Amount: amount("300"), Currency: moneymovement.FiatCurrencyUSD, JobTitle: "Designer", ScopeDescription: "Design"},
		}))(w)
		w.contract = contract.ID
		w.pass()
		ok(app.Contracts.Get(w.Context(), w.contract))(w)
		assert.NotEmpty(w, ok(app.Contracts.Preview(w.Context(), w.contract))(w).Text)
		assert.NotEmpty(w, ok(app.Contracts.List(w.Context(), appapi.ListContractsParams{Limit: 5}))(w).Items)
	})
	w.step("a contract in force", func() {
		ok(app.Contracts.Approve(w.Context(), w.contract))(w)
		ok(app.Contracts.Update(w.Context(), w.contract, appapi.ContractUpdate{Label: "Design"}))(w)
		ok(app.Contracts.ReplacePaymentMethods(w.Context(), w.contract, []moneymovement.PaymentMethod{
			moneymovement.NewPaymentMethod(moneymovement.SEPAPaymentMethod{
				IBANNumber: "DE89370400440532013000", BIC: "COBADEFFXXX", BeneficiaryName: "Carl", BankName: "Licensed bank", Currency: "EUR",
				AccountHolderType: moneymovement.AccountHolderTypeIndividual, AccountHolderFirstName: "Carl", AccountHolderLastName: "Roe",
			}),
		}))(w)
		assert.Equal(w, "Design", ok(app.Contracts.Get(w.Context(), w.contract))(w).Label)
	})
	w.step("an invoice", func() {
		invoice := ok(app.Invoices.Create(w.Context(), appapi.InvoiceCreate{
			Currency: moneymovement.InvoiceCurrencyUSD, ClientEmail: "client@example.com", ClientDisplayName: "Client", InvoicePrefix: "CS", Items: lines(),
			ClientAddress: moneymovement.PostalAddress{StreetAddress: "Main Street 1", City: "Berlin", Country: "DE", Zip: "10115"},
		}))(w)
		w.invoice = invoice.ID
		w.claim("common.yaml", "LineItem.price", "unit", amount("30").Equal(invoice.Amount), "appapi CreateInvoice", "the amount of 1.5 units at 20")
		ok(app.Invoices.Get(w.Context(), w.invoice))(w)
		assert.NotEmpty(w, ok(app.Invoices.List(w.Context(), appapi.ListInvoicesParams{Limit: 5}))(w).Items)
	})
	w.step("an invoice paid offline", func() {
		assert.Equal(w, moneymovement.InvoiceStatusPaid, ok(app.Invoices.MarkPaid(w.Context(), w.invoice, appapi.Payment{}))(w).Status)
	})
	w.step("invoices of the contract", func() {
		ok(app.Invoices.CreateFromContract(w.Context(), w.contract, appapi.ContractInvoiceCreate{InvoicePrefix: "C", AddItems: lines()}))(w)
		assert.Len(w, ok(app.Invoices.CreateBatch(w.Context(), appapi.InvoiceBatch{{ContractID: w.contract, Period: 2, Memo: "second", Items: lines()}}))(w), 1)
		ok(app.Contracts.Get(w.Context(), w.contract))(w) // with its latest invoice
	})
	w.step("an invoice from a document", func() {
		document := ok(app.Documents.Upload(w.Context(), appapi.DocumentUpload{Content: strings.NewReader("%PDF-1.7"), Name: "Invoice", Type: appapi.DocumentKindInvoice}))(w)
		ok(app.Invoices.CreateUploaded(w.Context(), appapi.UploadedInvoiceCreate{DocumentID: document.ID, Amount: amount("12"), Currency: moneymovement.InvoiceCurrencyUSD, ClientEmail: "client@example.com"}))(w)
	})
	w.step("a contract that ends", func() {
		contract := ok(app.Contracts.Create(w.Context(), appapi.ContractCreate{
			ContractorEmail: "contractor@example.com", Type: moneymovement.ContractTypeService, Period: "monthly", Fields: appapi.ContractFields{Amount: amount("300"), Currency: moneymovement.FiatCurrencyUSD},
		}))(w)
		w.pass()
		ok(app.Contracts.Approve(w.Context(), contract.ID))(w)
		ok(app.Contracts.Pause(w.Context(), contract.ID))(w)
		w.succeeds(app.Contracts.Delete(w.Context(), contract.ID))
	})
}

// cards make one card; cards cannot be deleted, so that on a real host the first one there is is used, and left as it was.
func (w *world) cards() {
	cards := w.app.Cards
	w.step("list", func() {
		if listed := ok(cards.List(w.Context()))(w); len(listed.Cards) > 0 {
			w.card = listed.Cards[0].ID
		}
	})
	w.embedded("issue", func() {
		ok(cards.KYCLink(w.Context()))(w)
		w.pass()
		ok(cards.PreApprove(w.Context(), appapi.CardPreApprovalCreate{Amount: amount("100"), Currency: "USDC"}))(w)
		w.card = ok(cards.Create(w.Context(), appapi.CardCreate{Format: appapi.CardFormatVirtual}))(w).ID
		w.pass()
		assert.Equal(w, moneymovement.CardStatusActive, ok(cards.Get(w.Context(), w.card))(w).Status)
	})
	w.embedded("label and limit", func() {
		ok(cards.SetLabel(w.Context(), w.card, "Travel"))(w)
		limit := moneymovement.NewNumber(amount("99.95"))
		limited := ok(cards.SetLimit(w.Context(), w.card, appapi.CardLimitUpdate{DailyLimit: &limit, MonthlyLimit: &limit, LifetimeLimit: &limit}))(w)
		assert.True(w, limit.Equal(limited.Limit.DailyLimit.Decimal))
	})
	w.embedded("freeze and unfreeze", func() {
		assert.Equal(w, moneymovement.CardStatusFrozen, ok(cards.Freeze(w.Context(), w.card))(w).Status)
		assert.Equal(w, moneymovement.CardStatusActive, ok(cards.Unfreeze(w.Context(), w.card))(w).Status)
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

// transfers price money in and out, and send some. The account was credited by the payouts.
func (w *world) transfers() {
	app := w.app
	var contact string
	w.step("rails", func() { ok(app.Banks.List(w.Context()))(w) })
	w.step("price a payin from a chain", func() {
		ok(app.Quotes.PayinFromChain(w.Context(), appapi.BalancePayinQuote{Amount: w.sum(), Currency: "USDC", OriginChainID: 1}))(w)
	})
	w.step("price a payout, and send it", func() {
		contact = w.appContact()
		payout := ok(app.Quotes.Payout(w.Context(), appapi.BalancePayoutQuote{ContactID: contact, Amount: w.sum()}))(w)
		w.quote = payout.QuoteID
		ok(app.Transfers.Send(w.Context(), appapi.ToQuote{QuoteID: payout.QuoteID, Memo: "contract suite"}))(w)
	})
	w.step("send to a contact, once", func() {
		key := w.unique("transfer")
		to := appapi.ToContact{ContactID: contact, Amount: w.sum(), Memo: "contract suite"}
		receipt := ok(app.Transfers.Send(w.Context(), to, moneymovement.IdempotencyKey(key)))(w)
		again := ok(app.Transfers.Send(w.Context(), to, moneymovement.IdempotencyKey(key)))(w)
		assert.Equal(w, receipt.TxHash, again.TxHash)
		sent, found, err := app.Transfers.ByKey(w.Context(), key)
		w.succeeds(err)
		require.True(w, found)
		assert.Equal(w, receipt.TxHash, sent.TxHash)
	})
	w.step("history", func() {
		ok(app.Transfers.List(w.Context(), appapi.ListTransfersParams{Limit: 5}))(w)
		assert.NotEmpty(w, ok(app.Transactions.List(w.Context(), appapi.ListTransactionsParams{Limit: 5}))(w).Items)
		ok(app.Transactions.List(w.Context(), appapi.ListTransactionsParams{Type: []string{"transfer", "payout"}, IncomeOnly: true}))(w)
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
		quote := ok(app.Quotes.PayinFromBank(w.Context(), appapi.BankPayinQuote{Amount: amount("10"), BankAccountID: account, Memo: "contract suite"}))(w)
		ok(app.Quotes.SubmitPayin(w.Context(), quote.QuoteID))(w)
	})
}
