package appapi_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
)

// These examples are compiled and not run: they would need a service.

// An app issues an invoice and pays it from its balance.
func Example() {
	ctx := context.Background()
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	invoice, err := app.Invoices.Create(ctx, appapi.InvoiceCreate{
		Currency:    model.InvoiceCurrencyUSDC,
		ClientEmail: "client@example.com",
		Items: []model.LineItem{
			{Name: "Design", Quantity: model.NewNumber(decimal.RequireFromString("1.5")),
				Price: decimal.RequireFromString("20.50")},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := app.Transfers.Send(ctx, appapi.ToInvoice{InvoiceID: invoice.ID},
		moneymovement.DeriveKey("invoice", invoice.ID))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(receipt.TxHash)
}

// A program checks at its start whose key it holds and what the key may spend.
func ExampleAccount_App() {
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	owner, err := app.Account.App(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(owner.AppName, owner.UserEmail, owner.Balance)
	if owner.RemainingSpendLimit != nil { // nil if the service reports no limit
		fmt.Println("may spend", owner.RemainingSpendLimit)
	}
}

// The owner completes the profile, and verifies themselves under a link.
func ExampleAccount_KYCLink() {
	ctx := context.Background()
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	if _, err = app.Account.UpdateProfile(ctx, appapi.ProfileUpdate{
		FirstName: model.Set("Ann"), LastName: model.Set("Roe"), // the other fields stay as they are
	}); err != nil {
		log.Fatal(err)
	}
	link, err := app.Account.KYCLink(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("show the owner a link:", link.URL)
}

// An activated rail has a bank account. Its requisites are what a payer needs to send money there.
func ExampleBanks_Activate() {
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	banks, err := app.Banks.Activate(context.Background(), []string{"sepa"})
	if err != nil {
		log.Fatal(err)
	}
	for _, bank := range banks {
		fmt.Println(bank.Method, bank.Currency, bank.Status, bank.Requisites)
	}
}

// The card's wallet signs, and the service returns the number. The details do not print by accident.
func ExampleCards_Details() {
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	details, err := app.Cards.Details(context.Background(), "card_1", wallet)
	if err != nil {
		log.Fatal(err)
	}
	show(details.CardNumber.Reveal())
}

// wallet is such as a *wallet.Key of package signing/wallet.
var wallet model.CardSigner

// show shows the number of a card to its holder.
func show(string) {}

// A limit that is not set stays as it is.
func ExampleCards_SetLimit() {
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	card, err := app.Cards.SetLimit(context.Background(), "card_1", appapi.CardLimitUpdate{
		DailyLimit: model.Set(model.NewNumber(decimal.NewFromInt(250))),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("may spend", card.Limit.DailyLimit, card.Limit.Currency, "a day")
}

func ExampleContacts_All() {
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	for contact, err := range app.Contacts.All(context.Background(), appapi.ListContactsParams{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(contact.Name, contact.Relationship)
	}
}

// ValidateBank checks the details that a person entered, and saves nothing.
func ExampleContacts_ValidateBank() {
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	check, err := app.Contacts.ValidateBank(context.Background(), appapi.BankDetails{
		Country: "DE", IBAN: "DE00370400440532013000",
	})
	if err != nil {
		log.Fatal(err)
	}
	if check.Valid != nil && !*check.Valid {
		for _, wrong := range check.Errors {
			fmt.Println(wrong.Field, wrong.Message)
		}
	}
}

// A contract is offered to a contractor. Preview shows its document. When both parties have accepted, the contract is
// active.
func ExampleContracts_Create() {
	ctx := context.Background()
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	contract, err := app.Contracts.Create(ctx, appapi.ContractCreate{
		ContractorEmail: "contractor@example.com", Type: model.ContractTypeService, Period: "monthly",
		Fields: appapi.ContractFields{Amount: decimal.NewFromInt(300), Currency: model.FiatCurrencyUSD},
	})
	if err != nil {
		log.Fatal(err)
	}
	preview, err := app.Contracts.Preview(ctx, contract.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(contract.Status, preview.Text)
}

// An update changes the fields that are set, and leaves the others.
func ExampleContracts_Update() {
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	contract, err := app.Contracts.Update(context.Background(), "7f3c", appapi.ContractUpdate{
		Label:  model.Set("Design"),
		Fields: appapi.ContractFieldsUpdate{Amount: model.Set(decimal.NewFromInt(310))},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(contract.Label, contract.Amount)
}

// The given methods replace all that the contract had.
func ExampleContracts_ReplacePaymentMethods() {
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	_, err = app.Contracts.ReplacePaymentMethods(context.Background(), "7f3c", []model.PaymentMethod{
		model.NewPaymentMethod(model.SEPAPaymentMethod{
			IBANNumber: "DE89370400440532013000", BeneficiaryName: "Carl Roe", Currency: "EUR",
			AccountHolderType: model.AccountHolderTypeIndividual,
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
}

// Content is any io.Reader, such as a file. The invoice refers to the stored document.
func ExampleDocuments_Upload() {
	ctx := context.Background()
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.Open("invoice-42.pdf")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	document, err := app.Documents.Upload(ctx, appapi.DocumentUpload{
		Content: file, Name: "Invoice 42", OriginName: "invoice-42.pdf",
		Type: appapi.DocumentKindInvoice, Context: appapi.DocumentKindInvoice,
	})
	if err != nil {
		log.Print(err)
		return
	}
	if _, err = app.Invoices.CreateUploaded(ctx, appapi.UploadedInvoiceCreate{
		DocumentID: document.ID, Amount: decimal.NewFromInt(42), Currency: model.InvoiceCurrencyGBP,
		ClientEmail: "client@example.com",
	}); err != nil {
		log.Print(err)
	}
}

// An invoice was paid by other means. MarkPaid moves no money.
func ExampleInvoices_MarkPaid() {
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	invoice, err := app.Invoices.MarkPaid(context.Background(), "7f3c",
		appapi.InvoicePayment{At: time.Date(2025, 12, 24, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Status, invoice.PaidAt)
}

// A batch issues the invoices of several contracts. They are returned in the order of the entries.
func ExampleInvoices_CreateBatch() {
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	issued, err := app.Invoices.CreateBatch(context.Background(), appapi.InvoiceBatch{
		{ContractID: "7f3c", Period: 1, Memo: "January"},
		{ContractID: "9a21", Period: 1, Memo: "January"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, invoice := range issued {
		fmt.Println(invoice.Amount, invoice.Currency, "for period", invoice.PeriodNumber)
	}
}

// A person sees the price first. The quote is then paid by its id, within two minutes.
func ExampleQuotes_Payout() {
	ctx := context.Background()
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	quote, err := app.Quotes.Payout(ctx, appapi.BalancePayoutQuote{
		ContactID: "7f3c", Amount: decimal.NewFromInt(60),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("pay", quote.SourceAmount, quote.SourceCurrency, "with a fee of", quote.Fee)

	if _, err = app.Transfers.Send(ctx, appapi.ToQuote{QuoteID: quote.QuoteID, Memo: "Rent"},
		moneymovement.DeriveKey("rent", "2026-11")); err != nil {
		log.Fatal(err)
	}
}

// All reads page after page. Here it returns only the money that came in.
func ExampleTransactions_All() {
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	params := appapi.ListTransactionsParams{Limit: 100, IncomeOnly: true}
	for entry, err := range app.Transactions.All(context.Background(), params) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(entry.Type, entry.Amount, entry.Currency, entry.Status)
	}
}

// If the response to a transfer is lost, its key finds out whether it was paid, also after a restart.
func ExampleTransfers_ByKey() {
	ctx := context.Background()
	app, err := appapi.New("https://sandbox.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	_, err = app.Transfers.Send(ctx, appapi.ToContact{ContactID: "7f3c", Amount: decimal.NewFromInt(60), Memo: "Rent"},
		"rent-2026-11")
	if _, unknown := errors.AsType[*errors.InDoubt](err); unknown {
		transfer, found, err := app.Transfers.ByKey(ctx, "rent-2026-11")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(found, transfer.Amount, transfer.Memo)
	}
}
