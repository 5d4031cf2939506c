package public_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/moneymovement/moneymovement-go/public"
)

func Example() {
	client, err := public.New("https://service.example")
	if err != nil {
		log.Fatal(err)
	}
	rate, err := client.Rates.Get(context.Background(), "EUR")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("1 EUR is", rate.USDRate, "USD")
}

func ExampleInvoices_PDF() {
	client, err := public.New("https://service.example")
	if err != nil {
		log.Fatal(err)
	}
	if err := save(context.Background(), client, "8fK2", "invoice.pdf"); err != nil {
		log.Fatal(err)
	}
}

// save keeps a copy with the details of the first payment method.
func save(ctx context.Context, client *public.Client, invoiceID, name string) error {
	pdf, err := client.Invoices.PDF(ctx, invoiceID, public.RenderInvoicePDFParams{Details: new(0)})
	if err != nil {
		return err
	}
	defer pdf.Close()
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, pdf); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
