package appapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
)

// An app issues an invoice and pays it from its balance.
func Example() {
	// stands for the service; a program has its base URL, and the key of an app, here with 100 USDC to spend
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
