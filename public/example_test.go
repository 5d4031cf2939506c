package public_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/moneymovement/moneymovement-go/public"
)

// Most of these examples are compiled and not run: they would need a service.

// A rate is the price of one unit of a currency in USD, by each way to pay.
func ExampleRates_Get() {
	client, err := public.New("https://sandbox.example")
	if err != nil {
		log.Fatal(err)
	}
	rate, err := client.Rates.Get(context.Background(), "GBP")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rate.USDRate, rate.BankTransfer, rate.Card)
}

// Everybody who has the public id of an invoice can read it.
func ExampleInvoices_Get() {
	client, err := public.New("https://sandbox.example")
	if err != nil {
		log.Fatal(err)
	}
	invoice, err := client.Invoices.Get(context.Background(), "7f3c")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Amount, invoice.Currency, invoice.Status)
}

// A payer needs the details of the payment method that they chose: Details is its index.
func ExampleInvoices_PDF() {
	client, err := public.New("https://sandbox.example")
	if err != nil {
		log.Fatal(err)
	}
	pdf, err := client.Invoices.PDF(context.Background(), "7f3c", public.RenderInvoicePDFParams{Details: new(0)})
	if err != nil {
		log.Fatal(err)
	}
	defer pdf.Close()
	file, err := os.Create("invoice.pdf")
	if err != nil {
		log.Print(err)
		return
	}
	defer file.Close()
	if _, err := io.Copy(file, pdf); err != nil {
		log.Print(err)
	}
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
