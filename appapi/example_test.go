package appapi_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// A program has a base URL and a key of its own; the examples use those of an embedded sandbox host, whose app has 100 USDC to spend.
func startHost() (host *sandbox.Host, baseURL string, key appapi.APIKey, stop func()) {
	host = sandbox.New()
	server := httptest.NewServer(host)
	credentials := host.Credentials()
	self, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: credentials.Email, Key: credentials.Key})
	if err != nil {
		panic(err)
	}
	if _, err = self.Sandbox.Deposit(context.Background(), dapi.DepositCreate{Amount: decimal.NewFromInt(100), Currency: dapi.USDC}); err != nil {
		panic(err)
	}
	return host, server.URL, appapi.NewAPIKey(credentials.APIKey.Reveal()), server.Close
}

// An app issues an invoice and pays it from its balance.
func Example() {
	_, baseURL, key, stop := startHost()
	defer stop()
	ctx := context.Background()

	app, err := appapi.New(baseURL, key)
	if err != nil {
		log.Fatal(err)
	}
	invoice, err := app.Invoices.Create(ctx, appapi.InvoiceCreate{
		Currency:    model.InvoiceCurrencyUSDC,
		ClientEmail: "client@example.com",
		Items: []model.LineItem{
			{Name: "Design", Quantity: model.NewNumber(decimal.RequireFromString("1.5")), Price: decimal.RequireFromString("20.50")},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = app.Transfers.Send(ctx, appapi.ToInvoice{InvoiceID: invoice.ID}, moneymovement.DeriveKey("invoice", invoice.ID))
	if err != nil {
		log.Fatal(err)
	}
	paid, err := app.Invoices.Get(ctx, invoice.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(paid.Amount, paid.Currency, paid.Status)
	// Output: 30.75 USDC paid
}

// A transfer whose answer was lost is resolved by its key, in this process or the next.
func ExampleTransfers_ByKey() {
	host, baseURL, key, stop := startHost()
	defer stop()
	ctx := context.Background()
	app, err := appapi.New(baseURL, key, moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}))
	if err != nil {
		log.Fatal(err)
	}
	landlord, err := app.Contacts.Create(ctx, appapi.ContactCreate{Name: "Landlord", Account: appapi.Onchain(model.OnchainAccount{
		WalletAddress: "0x52908400098527886E0F7030069857D2E4169EE7", ChainID: "base", Currency: "USDC",
	})})
	if err != nil {
		log.Fatal(err)
	}

	host.Arm("POST", "/apps/transfer", sandbox.DropAfterCommit())
	_, err = app.Transfers.Send(ctx, appapi.ToContact{ContactID: landlord.ID, Amount: decimal.NewFromInt(60), Memo: "Rent"}, "rent-2026-11")
	if _, unknown := errors.AsType[*errors.OutcomeUnknown](err); unknown {
		transfer, found, err := app.Transfers.ByKey(ctx, "rent-2026-11")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(found, transfer.Amount, transfer.Memo)
	}
	// Output: true 60 Rent
}

// An invoice that was paid by other means is marked so, as of when it was.
func ExampleInvoices_MarkPaid() {
	_, baseURL, key, stop := startHost()
	defer stop()
	ctx := context.Background()
	app, err := appapi.New(baseURL, key, appapi.WithKeyHeader())
	if err != nil {
		log.Fatal(err)
	}
	one := model.NewNumber(decimal.NewFromInt(1))
	invoice, err := app.Invoices.Create(ctx, appapi.InvoiceCreate{
		Currency: model.InvoiceCurrencyEUR, ClientEmail: "client@example.com",
		Items: []model.LineItem{{Name: "Workshop", Quantity: one, Price: decimal.NewFromInt(900)}},
	})
	if err != nil {
		log.Fatal(err)
	}
	invoice, err = app.Invoices.MarkPaid(ctx, invoice.ID, appapi.Payment{At: time.Date(2025, 12, 24, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Status, invoice.PaidAt.Format(time.DateOnly), invoice.Transaction == nil)
	// Output: paid 2025-12-24 true
}

// A document is read where it lies, be it a file, an upload or a text, and an invoice is issued from it.
func ExampleDocuments_Upload() {
	_, baseURL, key, stop := startHost()
	defer stop()
	ctx := context.Background()
	app, err := appapi.New(baseURL, key)
	if err != nil {
		log.Fatal(err)
	}
	document, err := app.Documents.Upload(ctx, appapi.DocumentUpload{
		Content: strings.NewReader("%PDF-1.7 ..."), Name: "Invoice 42", OriginName: "invoice-42.pdf",
		Type: appapi.DocumentKindInvoice, Context: appapi.DocumentKindInvoice,
	})
	if err != nil {
		log.Fatal(err)
	}
	invoice, err := app.Invoices.CreateUploaded(ctx, appapi.UploadedInvoiceCreate{
		DocumentID: document.ID, Amount: decimal.NewFromInt(42), Currency: model.InvoiceCurrencyGBP, ClientEmail: "client@example.com",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Amount, invoice.Currency, invoice.Documents[0].Name)
	// Output: 42 GBP Invoice 42
}

// The wallet that a card spends from reveals its number. What is revealed does not print by accident.
func ExampleCards_Details() {
	host, baseURL, key, stop := startHost()
	defer stop()
	ctx := context.Background()
	app, err := appapi.New(baseURL, key)
	if err != nil {
		log.Fatal(err)
	}
	card, err := app.Cards.Create(ctx, appapi.CardCreate{Format: appapi.CardFormatVirtual})
	if err != nil {
		log.Fatal(err)
	}
	host.Advance(time.Minute) // until the card is active
	details, err := app.Cards.Details(ctx, card.ID, host.Credentials().Wallet)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(details.CardNumber.Reveal()), strings.HasPrefix(fmt.Sprint(details), "card details (redacted"))
	// Output: 16 true
}
