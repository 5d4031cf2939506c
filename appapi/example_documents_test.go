package appapi_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
)

// Content is any io.Reader, such as a file. The invoice refers to the stored document.
func ExampleDocuments_Upload() {
	server := recorded.Serve() // stands for the service
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
