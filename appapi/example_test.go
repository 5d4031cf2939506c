package appapi_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// An app issues an invoice, and another one pays it from its balance.
func Example() {
	app, err := appapi.New(os.Getenv("MONEYMOVEMENT_BASE_URL"), appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	invoice, err := app.Invoices.Create(ctx, appapi.InvoiceCreate{
		Currency:    moneymovement.InvoiceCurrencyUSDC,
		ClientEmail: "client@example.com",
		Items: []moneymovement.LineItem{
			{Name: "Design", Quantity: moneymovement.NewNumber(decimal.NewFromInt(3)), Price: decimal.RequireFromString("80.50")},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := app.Transfers.Send(ctx, appapi.ToInvoice{InvoiceID: invoice.ID},
		moneymovement.IdempotencyKey(moneymovement.DeriveKey("invoice", invoice.ID)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(receipt.TxHash)
}

// A transfer whose answer was lost is resolved by its key, in this process or the next.
func ExampleTransfers_Send() {
	app, err := appapi.New(os.Getenv("MONEYMOVEMENT_BASE_URL"), appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")), appapi.WithKeyHeader())
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	rent := appapi.ToContact{ContactID: "8a6e0804-2bd0-4672-b79d-d97027f9071a", Amount: decimal.RequireFromString("1200"), Memo: "Rent"}
	_, err = app.Transfers.Send(ctx, rent, moneymovement.IdempotencyKey("rent-2026-11"))
	if _, unknown := errors.AsType[*errors.OutcomeUnknown](err); unknown {
		transfer, found, err := app.Transfers.ByKey(ctx, "rent-2026-11")
		fmt.Println(transfer, found, err)
	}
}

// An invoice that was paid by other means is marked so, as of the day it was.
func ExampleInvoices_MarkPaid() {
	app, err := appapi.New(os.Getenv("MONEYMOVEMENT_BASE_URL"), appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	for invoice, err := range app.Invoices.All(ctx, appapi.ListInvoicesParams{}) {
		if err != nil {
			log.Fatal(err)
		}
		if invoice.InvoiceNumber == "INV-42" {
			_, err = app.Invoices.MarkPaid(ctx, invoice.ID, appapi.Payment{At: invoice.DueDate.In(invoice.CreatedAt.Location())})
			fmt.Println(err)
		}
	}
}

// A document is read where it lies.
func ExampleDocuments_Upload() {
	app, err := appapi.New(os.Getenv("MONEYMOVEMENT_BASE_URL"), appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.Open("invoice.pdf")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	document, err := app.Documents.Upload(context.Background(), appapi.DocumentUpload{
		Content: file, Name: "Invoice 42", OriginName: "invoice.pdf", Type: appapi.DocumentKindInvoice, Context: appapi.DocumentKindInvoice,
	})
	fmt.Println(document, err)
}

// The wallet that a card spends from reveals its number.
func ExampleCards_Details() {
	app, err := appapi.New(os.Getenv("MONEYMOVEMENT_BASE_URL"), appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	key, err := wallet.LoadKey("wallet.hex")
	if err != nil {
		log.Fatal(err)
	}
	details, err := app.Cards.Details(context.Background(), "card_1", key)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(details) // card details (redacted, ending 4242)
}
