package contract_test

import (
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/model"
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
		ok(app.Account.KYCStatus(w.Context(), appapi.GetKYCStatusParams{Provider: "default"}))(w)
		ok(app.Account.KYCLink(w.Context()))(w)
	})
	w.embedded("a changed profile", func() { // of the account's owner, on a real host
		ok(app.Account.UpdateProfile(w.Context(), appapi.ProfileUpdate{
			FirstName: model.Set("Ann"), LastName: model.Set("Roe"), EntityName: model.Set("Roe Ltd"),
			Address: model.Set(appapi.ProfileAddress{StreetAddress: "Main Street 1", City: "Berlin", Country: "DE",
				Zip: "10115"}),
		}))(w)
		assert.Equal(w, "Ann", ok(app.Account.Profile(w.Context()))(w).FirstName)
	})
	w.step("contacts", func() {
		contact := w.appContact()
		ok(app.Contacts.Update(w.Context(), contact, appapi.ContactUpdate{Name: model.Set("Contract suite, changed"),
			Relationship: model.Set("external")}))(w)
		ok(app.Contacts.List(w.Context(), appapi.ListContactsParams{Limit: 1, Offset: 0}))(w)
		w.succeeds(app.Contacts.Delete(w.Context(), contact))
	})
	w.step("a contact by email", func() {
		contact := ok(app.Contacts.Create(w.Context(),
			appapi.ContactCreate{Name: "Contract suite", Relationship: "external",
				Account: appapi.EmailContact(w.email)}))(w)
		w.succeeds(app.Contacts.Delete(w.Context(), contact.ID))
	})
	w.step("bank details", func() {
		for valid, details := range map[bool]appapi.BankDetails{
			true: {BankType: "sepa", Country: "DE", BankName: "Licensed bank", IBAN: "DE89370400440532013000",
				BIC: "TESTDEFF"},
			false: {Country: "DE", IBAN: "DE00370400440532013000"},
		} {
			assert.Equal(w, &valid, ok(app.Contacts.ValidateBank(w.Context(), details))(w).Valid)
		}
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
	contact := ok(w.app.Contacts.Create(w.Context(),
		appapi.ContactCreate{Name: "Contract suite", Relationship: "external",
			Account: appapi.Onchain(model.OnchainAccount{WalletAddress: w.address(), ChainID: "base", Currency: "USDC",
				Email: w.email})}))(w)
	return contact.ID
}

func lines() []model.LineItem {
	return []model.LineItem{{Name: "Design", Quantity: model.NewNumber(amount("1.5")), Price: amount("20")}}
}

// paperwork issues a contract, and invoices it in each way.
func (w *world) paperwork() {
	app := w.app
	w.step("a contract", func() {
		assert.NotEmpty(w, ok(app.Contracts.Templates(w.Context()))(w))
		contract := ok(app.Contracts.Create(w.Context(), appapi.ContractCreate{
			ContractorEmail: "contractor@example.com", Type: model.ContractTypeService, Period: "monthly",
			Label:           "Contract suite",
			PriorityMethods: []model.PriorityMethod{model.PriorityMethodSEPA},
			Fields: appapi.ContractFields{Amount: amount("300"), Currency: model.FiatCurrencyUSD,
				JobTitle: "Designer", ScopeDescription: "Design"},
		}))(w)
		w.contract = contract.ID
		w.pass()
		ok(app.Contracts.Get(w.Context(), w.contract))(w)
		assert.NotEmpty(w, ok(app.Contracts.Preview(w.Context(), w.contract))(w).Text)
		assert.NotEmpty(w, ok(app.Contracts.List(w.Context(), appapi.ListContractsParams{Limit: 5}))(w).Items)
	})
	w.step("a contract in force", func() {
		ok(app.Contracts.Approve(w.Context(), w.contract))(w)
		ok(app.Contracts.Update(w.Context(), w.contract, appapi.ContractUpdate{
			Label: model.Set("Design"), Period: model.Set("monthly"),
			PriorityMethods: model.Set([]model.PriorityMethod{model.PriorityMethodSEPA}),
			Fields: appapi.ContractFieldsUpdate{
				Amount: model.Set(amount("310")), Currency: model.Set(model.FiatCurrencyUSD),
				JobTitle: model.Set("Designer"),
			},
			ActivationAt: model.Set(time.Now().Add(time.Hour)),
			ExpirationAt: model.Set(time.Now().Add(90 * 24 * time.Hour)),
		}))(w)
		ok(app.Contracts.ReplacePaymentMethods(w.Context(), w.contract, []model.PaymentMethod{
			model.NewPaymentMethod(model.SEPAPaymentMethod{
				IBANNumber: "DE89370400440532013000", BIC: "TESTDEFF", BeneficiaryName: "Carl",
				BankName: "Licensed bank", Currency: "EUR",
				AccountHolderType: model.AccountHolderTypeIndividual, AccountHolderFirstName: "Carl",
				AccountHolderLastName: "Roe",
			}),
		}))(w)
		assert.Equal(w, "Design", ok(app.Contracts.Get(w.Context(), w.contract))(w).Label)
	})
	w.step("payment methods of each variant", func() {
		methods := paymentMethods()
		assert.Len(w, ok(app.Contracts.ReplacePaymentMethods(w.Context(), w.contract, methods))(w).PaymentMethods,
			len(methods))
	})
	w.step("an invoice", func() {
		invoice := ok(app.Invoices.Create(w.Context(), appapi.InvoiceCreate{
			Currency: model.InvoiceCurrencyUSD, ClientEmail: "client@example.com", ClientDisplayName: "Client",
			InvoicePrefix: "CS", Items: lines(),
			ClientAddress: model.PostalAddress{StreetAddress: "Main Street 1", City: "Berlin", Country: "DE",
				Zip: "10115"},
		}))(w)
		w.invoice = invoice.ID
		w.claim("common.yaml", "LineItem.price", "unit", amount("30").Equal(invoice.Amount), "appapi CreateInvoice",
			"the amount of 1.5 units at 20")
		ok(app.Invoices.Get(w.Context(), w.invoice))(w)
		assert.NotEmpty(w, ok(app.Invoices.List(w.Context(), appapi.ListInvoicesParams{Limit: 5}))(w).Items)
	})
	w.step("an invoice paid offline", func() {
		assert.Equal(w, model.InvoiceStatusPaid,
			ok(app.Invoices.MarkPaid(w.Context(), w.invoice, appapi.InvoicePayment{}))(w).
				Status)
	})
	w.step("invoices of the contract", func() {
		ok(app.Invoices.CreateFromContract(w.Context(), w.contract,
			appapi.ContractInvoiceCreate{InvoicePrefix: "C", AddItems: lines()}))(w)
		assert.Len(w,
			ok(app.Invoices.CreateBatch(w.Context(),
				appapi.InvoiceBatch{{ContractID: w.contract, Period: 2, Memo: "second", Items: lines()}}))(w), 1)
		ok(app.Contracts.Get(w.Context(), w.contract))(w) // with its latest invoice
	})
	w.step("an invoice from a document", func() {
		document := ok(app.Documents.Upload(w.Context(), appapi.DocumentUpload{Content: strings.NewReader("%PDF-1.7"),
			Name: "Invoice", Type: appapi.DocumentKindInvoice}))(w)
		ok(app.Invoices.CreateUploaded(w.Context(),
			appapi.UploadedInvoiceCreate{DocumentID: document.ID, Amount: amount("12"),
				Currency: model.InvoiceCurrencyUSD, ClientEmail: "client@example.com",
				ContractorEmail: w.email, DueDate: model.DateOf(time.Now().AddDate(0, 1, 0))}))(w)
	})
	w.step("a contract that ends", func() {
		contract := ok(app.Contracts.Create(w.Context(), appapi.ContractCreate{
			ContractorEmail: "contractor@example.com", Type: model.ContractTypeService, Period: "monthly",
			Fields: appapi.ContractFields{Amount: amount("300"), Currency: model.FiatCurrencyUSD},
		}))(w)
		w.pass()
		ok(app.Contracts.Approve(w.Context(), contract.ID))(w)
		ok(app.Contracts.Pause(w.Context(), contract.ID))(w)
		w.succeeds(app.Contracts.Delete(w.Context(), contract.ID))
	})
}

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

// paymentMethods are one of each variant, with every field that is assumed of it.
func paymentMethods() []model.PaymentMethod {
	bank := model.InstitutionAddress{AddressLine1: "Main Street 1", City: "Berlin", State: "BE", PostalCode: "10115",
		Country: "DE"}
	holder := model.PostalAddress{StreetAddress: "Main Street 1", AddressLine2: "Floor 2", City: "Berlin", State: "BE",
		Country: "DE", Zip: "10115"}
	var methods []model.PaymentMethod
	for _, variant := range []model.PaymentMethodVariant{
		model.SEPAPaymentMethod{
			IBANNumber: "DE89370400440532013000", BIC: "TESTDEFF", BeneficiaryName: "Carl Roe",
			BankName: "Licensed bank", BankAddress: bank, Currency: "EUR",
			AccountHolderType: model.AccountHolderTypeIndividual, AccountHolderFirstName: "Carl",
			AccountHolderLastName: "Roe", AccountHolderAddress: holder,
		},
		model.USExternalPaymentMethod{
			AccountNumber: "000123456789", RoutingNumber: "021000021", AccountKind: "checking",
			BankName: "Licensed bank", BankAddress: bank, Currency: "USD",
			BeneficiaryName: "Roe Ltd", AccountHolderType: model.AccountHolderTypeBusiness,
			AccountHolderBusinessName: "Roe Ltd",
			AccountHolderFirstName:    "Carl", AccountHolderLastName: "Roe", AccountHolderAddress: holder,
			PaymentReference: "contract suite",
		},
		model.SWIFTPaymentMethod{
			AccountNumber: "000123456789", IBANNumber: "DE89370400440532013000", BIC: "TESTDEFF",
			BankName: "Licensed bank", BankAddress: bank, Currency: "USD",
			BeneficiaryName: "Carl Roe", AccountHolderType: model.AccountHolderTypeIndividual,
			AccountHolderAddress: holder, PaymentReference: "contract suite",
		},
		model.PIXPaymentMethod{BeneficiaryName: "Carl Roe", Currency: "BRL", PIXKey: "52998224725", PIXKeyType: "cpf",
			HolderTaxID: "52998224725"},
		model.LocalRailPaymentMethod{
			Method: "inr_upi", Currency: "INR", BeneficiaryName: "Carl Roe", BankName: "Licensed bank",
			AccountNumber: "000123456789", RoutingNumber: "SBIN0000001",
			PaymentKey: "carl@upi", PhoneNumber: "+919999900000", PaymentReference: "contract suite",
		},
		model.ProviderUSDPaymentMethod{
			AccountNumber: "000123456789", RoutingNumber: "021000021", BankName: "Licensed bank", BankAddress: bank,
			Currency: "USD", BeneficiaryName: "Carl Roe",
			PaymentReference: "contract suite",
		},
	} {
		methods = append(methods, model.NewPaymentMethod(variant))
	}
	return methods
}
