package appapi_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
)

// An app issues an invoice and pays it from its balance.
func Example() {
	// in place of the service; a program has its base URL, and the key of an app, here with 100 USDC to spend
	server := recorded.Serve()
	defer server.Close()
	ctx := context.Background()

	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
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
	_, err = app.Transfers.Send(ctx, appapi.ToInvoice{InvoiceID: invoice.ID},
		moneymovement.DeriveKey("invoice", invoice.ID))
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
	server := recorded.Serve() // in place of the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey),
		moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}))
	if err != nil {
		log.Fatal(err)
	}
	landlord, err := app.Contacts.Create(ctx,
		appapi.ContactCreate{Name: "Landlord", Account: appapi.Onchain(model.OnchainAccount{
			WalletAddress: "0x52908400098527886E0F7030069857D2E4169EE7", ChainID: "base", Currency: "USDC",
		})})
	if err != nil {
		log.Fatal(err)
	}

	// The service carries this out, and its answer does not arrive.
	_, err = app.Transfers.Send(ctx, appapi.ToContact{ContactID: landlord.ID, Amount: decimal.NewFromInt(60),
		Memo: "Rent"}, "rent-2026-11")
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
	server := recorded.Serve() // in place of the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey).InKeyHeader())
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
	invoice, err = app.Invoices.MarkPaid(ctx, invoice.ID,
		appapi.Payment{At: time.Date(2025, 12, 24, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Status, invoice.PaidAt.Format(time.DateOnly), invoice.Transaction == nil)
	// Output: paid 2025-12-24 true
}

// A document is read where it lies, be it a file, an upload or a text, and an invoice is issued from it.
func ExampleDocuments_Upload() {
	server := recorded.Serve() // in place of the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
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
		DocumentID: document.ID, Amount: decimal.NewFromInt(42), Currency: model.InvoiceCurrencyGBP,
		ClientEmail: "client@example.com",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Amount, invoice.Currency, invoice.Documents[0].Name)
	// Output: 42 GBP Invoice 42
}

// The wallet that a card spends from reveals its number. What is revealed does not print by accident.
func ExampleCards_Details() {
	server := recorded.Serve() // in place of the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	card, err := app.Cards.Create(ctx, appapi.CardCreate{Format: appapi.CardFormatVirtual})
	if err != nil {
		log.Fatal(err)
	}
	server.Advance(time.Minute) // until the card is active
	details, err := app.Cards.Details(ctx, card.ID, server.Wallet)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(details.CardNumber.Reveal()), strings.HasPrefix(fmt.Sprint(details), "card details (redacted"))
	// Output: 16 true
}
