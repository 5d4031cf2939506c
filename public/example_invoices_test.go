package public_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
)

// A payer needs the details of the payment method that they chose: Details is its index.
func ExampleInvoices_PDF() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey)) // whoever issues the invoice
	if err != nil {
		log.Fatal(err)
	}
	issued, err := app.Invoices.Create(ctx, appapi.InvoiceCreate{
		Currency: model.InvoiceCurrencyEUR, ClientEmail: "client@example.com",
		Items: []model.LineItem{
			{Name: "Tea", Quantity: model.NewNumber(decimal.NewFromInt(3)), Price: decimal.RequireFromString("4.20")},
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	client, err := public.New(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	pdf, err := client.Invoices.PDF(ctx, issued.ID, public.RenderInvoicePDFParams{Details: new(0)})
	if err != nil {
		log.Fatal(err)
	}
	defer pdf.Close()
	name := filepath.Join(os.TempDir(), "example-"+issued.ID+".pdf")
	file, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(name)
	size, err := io.Copy(file, pdf)
	if err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("saved all of it:", size == pdf.Length)
	// Output: saved all of it: true
}

// Everybody who has the public id of an invoice can read it.
func ExampleInvoices_Get() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey)) // whoever issues the invoice
	if err != nil {
		log.Fatal(err)
	}
	issued, err := app.Invoices.Create(ctx, appapi.InvoiceCreate{
		Currency: model.InvoiceCurrencyEUR, ClientEmail: "client@example.com",
		Items: []model.LineItem{
			{Name: "Tea", Quantity: model.NewNumber(decimal.NewFromInt(3)), Price: decimal.RequireFromString("4.20")},
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	client, err := public.New(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	invoice, err := client.Invoices.Get(ctx, issued.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Amount, invoice.Currency, invoice.Status)
	// Output: 12.6 EUR sent
}

// InvoiceID takes the public id out of an invoice's link. Everybody can open the PDF under the returned address.
func ExampleClient_InvoicePDFLink() {
	client, err := public.New("https://service.example")
	if err != nil {
		log.Fatal(err)
	}
	id, err := public.InvoiceID("/public/invoices/7f3c") // model.Invoice.InvoiceLink
	if err != nil {
		log.Fatal(err)
	}
	link, err := client.InvoicePDFLink(id, public.RenderInvoicePDFParams{Details: new(0)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(link)
	// Output: https://service.example/public/invoices/7f3c/pdf?details=0
}
