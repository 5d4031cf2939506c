package public_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/public"
)

// Whoever has the public id of an invoice can read it.
func ExampleInvoices_Get() {
	server := recorded.Serve() // in place of the service
	defer server.Close()
	invoiceID := issue(server) // an app issued it, and its client got the id

	client, err := public.New(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	invoice, err := client.Invoices.Get(context.Background(), invoiceID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Amount, invoice.Currency, invoice.Status)
	// Output: 12.6 EUR sent
}
