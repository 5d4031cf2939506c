package contract_test

import (
	"strings"
	"time"

	"github.com/stretchr/testify/assert"

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
