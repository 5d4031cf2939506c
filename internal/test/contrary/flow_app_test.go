package contrary_test

import (
	"io"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
)

const transfers = "transfer"

// transfer pays a contact, a quote and an invoice, and lists the transfers.
func (w *world) transfer() {
	must(w.plain.self.Sandbox.Deposit(w.Context(), dapi.DepositCreate{Amount: amount("100"), Currency: dapi.USDC}))(w)
	contact := must(w.plain.app.Contacts.Create(w.Context(), appContact()))(w)
	invoice := must(w.plain.app.Invoices.Create(w.Context(), appapi.InvoiceCreate{
		Currency: model.InvoiceCurrencyUSDC, ClientEmail: w.key.Email, ContractorEmail: "contractor@example.com",
		Items: lines(),
	}))(w)
	quote, err := w.app.Quotes.Payout(w.Context(),
		appapi.BalancePayoutQuote{ContactID: contact.ID, Amount: amount("3")})
	if !w.ok(err) || !w.sends("quote", appapi.ToQuote{QuoteID: quote.QuoteID, Memo: "a quote"}) ||
		!w.sends("contact", appapi.ToContact{ContactID: contact.ID, Amount: amount("2"), Memo: "a contact"}) ||
		!w.sends("invoice", appapi.ToInvoice{InvoiceID: invoice.ID}) {
		return
	}
	_, _, err = w.app.Transfers.ByKey(w.Context(), "contact")
	// one that cannot be read may be the one, which is said
	if _, unread := errors.AsType[*errors.UnexpectedResponse](err); !unread || !w.other {
		if !w.ok(err) {
			return
		}
	}
	for _, err := range w.app.Transfers.All(w.Context(), appapi.ListTransfersParams{}) {
		if !w.ok(err) {
			return
		}
	}
	for _, err := range w.app.Transactions.All(w.Context(), appapi.ListTransactionsParams{}) {
		if !w.ok(err) {
			return
		}
	}
	_, err = w.app.Quotes.PayinFromChain(w.Context(), appapi.BalancePayinQuote{Amount: amount("3"), Currency: "USDC",
		OriginChainID: 1})
	w.ok(err)
}

func (w *world) sends(key moneymovement.Key, to appapi.Destination) bool {
	w.Helper()
	return w.once(transfers, func() error {
		_, err := w.app.Transfers.Send(w.Context(), to, key)
		return err
	})
}

func appContact() appapi.ContactCreate {
	return appapi.ContactCreate{Name: "Bob", Relationship: "external",
		Account: appapi.Onchain(model.OnchainAccount{WalletAddress: payee, ChainID: "base", Currency: "USDC",
			Email: "bob@example.com"})}
}

func lines() []model.LineItem {
	return []model.LineItem{{Name: "Design", Quantity: model.NewNumber(amount("1.5")), Price: amount("2")}}
}

// appPayin activates a rail, prices a payin from a bank and submits it.
func (w *world) appPayin() {
	if _, err := w.app.Banks.Activate(w.Context(), []string{"sepa"}); !w.ok(err) {
		return
	}
	w.pass(time.Minute)
	if _, err := w.app.Banks.List(w.Context()); !w.ok(err) {
		return
	}
	account := ""
	for _, bank := range must(w.plain.app.Banks.List(w.Context()))(w) {
		if bank.Method == "sepa" {
			account = bank.BankAccountID
		}
	}
	quote, err := w.app.Quotes.PayinFromBank(w.Context(),
		appapi.BankPayinQuote{Amount: amount("10"), BankAccountID: account, Memo: "a payin"})
	if !w.ok(err) {
		return
	}
	_, err = w.app.Quotes.SubmitPayin(w.Context(), quote.QuoteID)
	w.ok(err)
}

func (w *world) account() {
	account := w.app.Account
	_, err := account.UpdateProfile(w.Context(), from[appapi.ProfileUpdate](w,
		`{"firstName":"Ann","lastName":"Roe","entityName":"Roe Ltd",`+
			`"address":{"streetAddress":"Main Street 1","city":"Berlin","country":"DE","zip":"10115"}}`))
	if !w.ok(err) {
		return
	}
	for _, read := range []func() error{
		func() error { _, err := account.Profile(w.Context()); return err },
		func() error { _, err := account.App(w.Context()); return err },
		func() error { _, err := account.Balances(w.Context()); return err },
		func() error { _, err := account.WalletBalance(w.Context()); return err },
		func() error {
			_, err := account.KYCStatus(w.Context(), appapi.GetKYCStatusParams{Provider: "default"})
			return err
		},
		func() error { _, err := account.KYCLink(w.Context()); return err },
	} {
		if !w.ok(read()) {
			return
		}
	}
}

func (w *world) appContacts() {
	contacts := w.app.Contacts
	for _, asked := range []appapi.ContactCreate{appContact(),
		{Name: "Ann", Relationship: "external", Account: appapi.EmailContact(w.key.Email)}} {
		contact, err := contacts.Create(w.Context(), asked)
		if !w.ok(err) {
			return
		}
		if _, err = contacts.Update(w.Context(), contact.ID,
			from[appapi.ContactUpdate](w, `{"name":"Robert","relationship":"external"}`)); !w.ok(err) {
			return
		}
		for _, err := range contacts.All(w.Context(), appapi.ListContactsParams{Limit: 1}) {
			if !w.ok(err) {
				return
			}
		}
		if !w.ok(contacts.Delete(w.Context(), contact.ID)) {
			return
		}
	}
	for _, iban := range []string{"DE89370400440532013000", "DE00370400440532013000"} {
		if _, err := contacts.ValidateBank(w.Context(),
			appapi.BankDetails{BankType: "sepa", Country: "DE", BankName: "Licensed bank", IBAN: iban,
				BIC: "TESTDEFF"}); !w.ok(err) {
			return
		}
	}
}

func contract() appapi.ContractCreate {
	return appapi.ContractCreate{
		ContractorEmail: "contractor@example.com", Type: model.ContractTypeService, Period: "monthly", Label: "Design",
		PriorityMethods: []model.PriorityMethod{model.PriorityMethodSEPA},
		Fields: appapi.ContractFields{Amount: amount("300"), Currency: model.FiatCurrencyUSD,
			JobTitle: "Designer", ScopeDescription: "Design"},
	}
}

// contracts issues a contract, brings it in force, invoices it and ends it.
func (w *world) contracts() {
	contracts := w.app.Contracts
	made, err := contracts.Create(w.Context(), contract())
	if !w.ok(err) {
		return
	}
	w.pass(time.Hour)
	for _, step := range []func() error{
		func() error { _, err := contracts.Templates(w.Context()); return err },
		func() error { _, err := contracts.Approve(w.Context(), made.ID); return err },
		func() error {
			_, err := contracts.Update(w.Context(), made.ID, from[appapi.ContractUpdate](w, `{"label":"Designs"}`))
			return err
		},
		func() error {
			_, err := contracts.ReplacePaymentMethods(w.Context(), made.ID, paymentMethods())
			return err
		},
		func() error { _, err := contracts.Preview(w.Context(), made.ID); return err },
		func() error {
			_, err := w.app.Invoices.CreateFromContract(w.Context(), made.ID,
				appapi.ContractInvoiceCreate{InvoicePrefix: "C", AddItems: lines()})
			return err
		},
		func() error {
			_, err := w.app.Invoices.CreateBatch(w.Context(),
				appapi.InvoiceBatch{{ContractID: made.ID, Period: 2, Memo: "second", Items: lines()}})
			return err
		},
		func() error { _, err := contracts.Get(w.Context(), made.ID); return err },
		func() error { _, err := contracts.List(w.Context(), appapi.ListContractsParams{}); return err },
		func() error { _, err := contracts.Pause(w.Context(), made.ID); return err },
		func() error { return contracts.Delete(w.Context(), made.ID) },
	} {
		if !w.ok(step()) {
			return
		}
	}
}

// paymentMethods are one of each variant.
func paymentMethods() (methods []model.PaymentMethod) {
	for _, variant := range []model.PaymentMethodVariant{
		model.SEPAPaymentMethod{IBANNumber: "DE89370400440532013000", BIC: "TESTDEFF", BeneficiaryName: "Carl Roe"},
		model.USExternalPaymentMethod{AccountNumber: "000123456789", RoutingNumber: "021000021",
			BeneficiaryName: "Roe Ltd"},
		model.SWIFTPaymentMethod{AccountNumber: "000123456789", BIC: "TESTDEFF", BeneficiaryName: "Carl Roe"},
		model.PIXPaymentMethod{BeneficiaryName: "Carl Roe", PIXKey: "52998224725", PIXKeyType: "cpf"},
		model.LocalRailPaymentMethod{Method: "inr_upi", BeneficiaryName: "Carl Roe", PaymentKey: "carl@upi"},
		model.ProviderUSDPaymentMethod{AccountNumber: "000123456789", RoutingNumber: "021000021",
			BeneficiaryName: "Carl Roe"},
	} {
		methods = append(methods, model.NewPaymentMethod(variant))
	}
	return methods
}

// invoices issues an invoice, from lines and from a document, and has it paid offline.
func (w *world) invoices() {
	invoices := w.app.Invoices
	invoice, err := invoices.Create(w.Context(), appapi.InvoiceCreate{
		Currency: model.InvoiceCurrencyUSD, ClientEmail: "client@example.com", ClientDisplayName: "Client",
		InvoicePrefix: "CS", Items: lines(),
		ClientAddress: model.PostalAddress{StreetAddress: "Main Street 1", City: "Berlin", Country: "DE", Zip: "10115"},
	})
	if !w.ok(err) {
		return
	}
	if _, err = invoices.MarkPaid(w.Context(), invoice.ID,
		appapi.InvoicePayment{Reference: "a reference"}); !w.ok(err) {
		return
	}
	if _, err = invoices.Get(w.Context(), invoice.ID); !w.ok(err) {
		return
	}
	document, err := w.app.Documents.Upload(w.Context(), appapi.DocumentUpload{Content: strings.NewReader("%PDF-1.7"),
		Name: "Invoice", Type: appapi.DocumentKindInvoice})
	if !w.ok(err) {
		return
	}
	if _, err = invoices.CreateUploaded(w.Context(), appapi.UploadedInvoiceCreate{
		DocumentID: document.ID, Amount: amount("12"), Currency: model.InvoiceCurrencyUSD,
		ClientEmail: "client@example.com",
	}); !w.ok(err) {
		return
	}
	for _, err := range invoices.All(w.Context(), appapi.ListInvoicesParams{}) {
		if !w.ok(err) {
			return
		}
	}
}

// issued is a card, past the contrary host.
func (w *world) issued() (id string) {
	w.Helper()
	must(w.plain.app.Cards.KYCLink(w.Context()))(w)
	w.pass(time.Hour)
	must(w.plain.app.Cards.PreApprove(w.Context(),
		appapi.CardPreApprovalCreate{Amount: amount("100"), Currency: "USDC"}))(w)
	id = must(w.plain.app.Cards.Create(w.Context(), appapi.CardCreate{Format: appapi.CardFormatVirtual}))(w).ID
	w.pass(time.Hour)
	return id
}

func (w *world) cards() {
	cards := w.app.Cards
	if _, err := cards.KYCLink(w.Context()); !w.ok(err) {
		return
	}
	w.pass(time.Hour)
	if _, err := cards.PreApprove(w.Context(),
		appapi.CardPreApprovalCreate{Amount: amount("100"), Currency: "USDC"}); !w.ok(err) {
		return
	}
	card, err := cards.Create(w.Context(), appapi.CardCreate{Format: appapi.CardFormatVirtual})
	if !w.ok(err) {
		return
	}
	w.pass(time.Hour)
	for _, step := range []func() error{
		func() error { _, err := cards.SetLabel(w.Context(), card.ID, "Travel"); return err },
		func() error {
			_, err := cards.SetLimit(w.Context(), card.ID, from[appapi.CardLimitUpdate](w, `{"dailyLimit":99.95}`))
			return err
		},
		func() error { _, err := cards.Freeze(w.Context(), card.ID); return err },
		func() error { _, err := cards.Unfreeze(w.Context(), card.ID); return err },
		func() error { _, err := cards.Get(w.Context(), card.ID); return err },
		func() error { _, err := cards.List(w.Context()); return err },
		func() error { _, err := cards.Details(w.Context(), card.ID, w.host.Credentials().Wallet); return err },
	} {
		if !w.ok(step()) {
			return
		}
	}
}

// referenceEndpoints read what the app API made, past the contrary host.
func (w *world) referenceEndpoints() {
	reference, card := w.reference, w.issued()
	contract := must(w.plain.app.Contracts.Create(w.Context(), contract()))(w)
	invoice := must(w.plain.app.Invoices.Create(w.Context(),
		appapi.InvoiceCreate{Currency: model.InvoiceCurrencyUSD, ClientEmail: "client@example.com", Items: lines()}))(w)
	quote := must(w.plain.app.Quotes.PayinFromChain(w.Context(),
		appapi.BalancePayinQuote{Amount: amount("3"), Currency: "USDC", OriginChainID: 1}))(w)
	wallet := w.host.Credentials().Wallet
	signature := must(wallet.SignMessage(w.Context(), []byte("Log in")))(w)
	paid := from[model.InvoiceUpdate](w, `{"status":"paid"}`)
	for _, step := range []func() error{
		func() error { _, err := reference.Cards.List(w.Context()); return err },
		func() error {
			_, err := reference.Products.List(w.Context(), refapi.ListMerchantProductsParams{ActiveOnly: new(false)})
			return err
		},
		func() error { _, err := reference.Contracts.Get(w.Context(), contract.ID); return err },
		func() error { _, err := reference.Invoices.Update(w.Context(), invoice.ID, paid); return err },
		func() error {
			_, err := reference.Invoices.UpdateOnInvoicesPath(w.Context(), invoice.ID, paid)
			return err
		},
		func() error { _, err := reference.Quotes.Status(w.Context(), quote.QuoteID); return err },
		func() error { _, err := reference.Cards.Details(w.Context(), card, wallet); return err },
		func() error {
			_, err := reference.Wallet.LogIn(w.Context(),
				refapi.WalletLogin{Message: "Log in",
					Signatures: []moneymovement.Secret{moneymovement.NewSecret(signature)}},
				refapi.LogInWalletParams{DeviceID: "a device"})
			return err
		},
		func() error {
			_, err := reference.Webhooks.Send(w.Context(), "partner",
				refapi.WebhookEvent{EventType: "payment.completed", EntityID: "1", EntityType: "invoice",
					CreatedAt: "2026-01-02T03:04:05Z"})
			return err
		},
	} {
		if !w.ok(step()) {
			return
		}
	}
}

func (w *world) publicUtilities() {
	invoice := must(w.plain.app.Invoices.Create(w.Context(),
		appapi.InvoiceCreate{Currency: model.InvoiceCurrencyUSD, ClientEmail: "client@example.com", Items: lines()}))(w)
	if _, err := w.public.Rates.Get(w.Context(), "EUR"); !w.ok(err) {
		return
	}
	if _, err := w.public.Invoices.Get(w.Context(), invoice.ID); !w.ok(err) {
		return
	}
	copied, err := w.public.Invoices.PDF(w.Context(), invoice.ID, public.RenderInvoicePDFParams{})
	if !w.ok(err) {
		return
	}
	defer copied.Close()
	_, err = io.ReadAll(copied)
	w.ok(err)
}
