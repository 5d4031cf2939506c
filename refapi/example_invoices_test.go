package refapi_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// An invoice was paid in cash before it was issued: there is no transaction, and the payment is backdated.
func ExampleInvoices_Update() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	client, err := refapi.New(server.URL, refapi.Credential{AccessToken: refapi.NewAccessToken(server.AccessToken)})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	invoice, err := app.Invoices.Create(ctx, appapi.InvoiceCreate{
		Currency: model.InvoiceCurrencyEUR, ClientEmail: "client@example.com",
		Items: []model.LineItem{{Name: "Tea", Quantity: model.NewNumber(decimal.NewFromInt(3)),
			Price: decimal.RequireFromString("4.20")}},
	})
	if err != nil {
		log.Fatal(err)
	}

	paidAt := time.Date(2025, 12, 24, 9, 0, 0, 0, time.UTC)
	invoice, err = client.Invoices.Update(ctx, invoice.ID,
		model.InvoiceUpdate{Status: model.InvoiceStatusPaid, PaidAt: model.Set(paidAt)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Amount, invoice.Currency, invoice.Status, invoice.PaidAt.Equal(paidAt),
		invoice.Transaction == nil)

	_, err = client.Invoices.Update(ctx, invoice.ID, model.InvoiceUpdate{Status: "settled"})
	var failed *errors.DetailErrors
	if errors.As(err, &failed) {
		for _, item := range failed.Items {
			fmt.Println(item.Path, item.Type)
		}
	}
	// Output:
	// 12.6 EUR paid true true
	// body.status enum
}

// The description shows two paths for the update of an invoice. A host may serve only this one.
func ExampleInvoices_UpdateOnInvoicesPath() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	invoice, err := app.Invoices.Create(ctx, appapi.InvoiceCreate{
		Currency: model.InvoiceCurrencyEUR, ClientEmail: "client@example.com",
		Items: []model.LineItem{
			{Name: "Tea", Quantity: model.NewNumber(decimal.NewFromInt(3)), Price: decimal.RequireFromString("4.20")},
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	client, err := refapi.New(server.URL, refapi.Credential{AccessToken: refapi.NewAccessToken(server.AccessToken)})
	if err != nil {
		log.Fatal(err)
	}
	invoice, err = client.Invoices.UpdateOnInvoicesPath(ctx, invoice.ID, model.InvoiceUpdate{
		Status: model.InvoiceStatusPaid, OnchainTransactionID: model.Set("bank-statement-17"),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Status, invoice.OnchainTransactionID)
	// Output: paid bank-statement-17
}
