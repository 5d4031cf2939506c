package appapi_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
)

// An invoice was paid by other means. MarkPaid moves no money.
func ExampleInvoices_MarkPaid() {
	server := recorded.Serve() // stands for the service
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
		appapi.InvoicePayment{At: time.Date(2025, 12, 24, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Status, invoice.PaidAt.Format(time.DateOnly), invoice.Transaction == nil)
	// Output: paid 2025-12-24 true
}

// An active contract issues the invoice of a period. Items are added to the contract's amount.
func ExampleInvoices_CreateFromContract() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
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
	server.Advance(24 * time.Hour) // until the contractor has accepted
	if _, err = app.Contracts.Approve(ctx, contract.ID); err != nil {
		log.Fatal(err)
	}

	invoice, err := app.Invoices.CreateFromContract(ctx, contract.ID, appapi.ContractInvoiceCreate{
		AddItems: []model.LineItem{
			{Name: "Train", Quantity: model.NewNumber(decimal.NewFromInt(2)),
				Price: decimal.RequireFromString("20.50")},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Amount, invoice.Currency, invoice.Status)
	// Output: 341 USD sent
}

// A batch issues the invoices of several contracts. They are returned in the order of the entries.
func ExampleInvoices_CreateBatch() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
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
	server.Advance(24 * time.Hour) // until the contractor has accepted
	if _, err = app.Contracts.Approve(ctx, contract.ID); err != nil {
		log.Fatal(err)
	}

	issued, err := app.Invoices.CreateBatch(ctx, appapi.InvoiceBatch{
		{ContractID: contract.ID, Period: 1, Memo: "January"},
		{ContractID: contract.ID, Period: 2, Memo: "February"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("issued:", len(issued))
	for invoice, err := range app.Invoices.All(ctx, appapi.ListInvoicesParams{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(invoice.Amount, invoice.Currency, "for period", invoice.PeriodNumber)
	}
	// Output:
	// issued: 2
	// 300 USD for period 2
	// 300 USD for period 1
}
