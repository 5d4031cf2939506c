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

func Example() {
	server := recorded.Serve() // in place of the service; a program has its base URL
	defer server.Close()
	client, err := public.New(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	rate, err := client.Rates.Get(context.Background(), "EUR")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("100 EUR by bank transfer are", rate.BankTransfer.Mul(decimal.NewFromInt(100)).StringFixed(2), "USD")
	// Output: 100 EUR by bank transfer are 108.15 USD
}

// The copy that a payer needs carries the details of the payment method that they chose.
func ExampleInvoices_PDF() {
	server := recorded.Serve() // in place of the service
	defer server.Close()
	ctx := context.Background()
	invoiceID := issue(server)

	client, err := public.New(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	pdf, err := client.Invoices.PDF(ctx, invoiceID, public.RenderInvoicePDFParams{Details: new(0)})
	if err != nil {
		log.Fatal(err)
	}
	defer pdf.Close()
	name := filepath.Join(os.TempDir(), "example-"+invoiceID+".pdf")
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

// The link of an invoice leads to its public id, and the id to a PDF that anybody can open.
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

// issue has an app issue an invoice, and returns its public id.
func issue(server *recorded.Server) string {
	app := must(appapi.New(server.URL, appapi.NewAPIKey(server.APIKey)))
	return must(app.Invoices.Create(context.Background(), appapi.InvoiceCreate{
		Currency: model.InvoiceCurrencyEUR, ClientEmail: "client@example.com",
		Items: []model.LineItem{{Name: "Tea", Quantity: model.NewNumber(decimal.NewFromInt(3)),
			Price: decimal.RequireFromString("4.20")}},
	})).ID
}

// must fails the example at once.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
