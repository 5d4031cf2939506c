// Invoice issues an invoice, follows it until it is paid, and saves its PDF: go run ./examples/invoice -out invoice.pdf
//
// An app key issues the invoice and marks it as paid. Everybody who has the link can read the invoice and its PDF,
// without a credential.
package main

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	var file string
	p, err := program.OpenWith(program.CommandLine{Name: "invoice", Needs: []program.Need{program.APIKey},
		Flags: []func(*flag.FlagSet){
			func(flags *flag.FlagSet) { flags.StringVar(&file, "out", "invoice.pdf", "`file` to save the PDF in") },
		}}, args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	app, err := appapi.New(p.BaseURL, p.APIKey)
	if err != nil {
		return err
	}
	recipients, err := public.New(p.BaseURL)
	if err != nil {
		return err
	}
	issued, err := issue(ctx, p, app)
	if err != nil {
		return err
	}
	id, err := publicID(issued)
	if err != nil {
		return err
	}
	if err := read(ctx, p, recipients, id); err != nil {
		return err
	}
	paid, err := app.Invoices.MarkPaid(ctx, issued.ID,
		appapi.InvoicePayment{Reference: "statement-" + p.Name, At: time.Now().Add(-time.Hour)})
	if err != nil {
		return err
	}
	p.Step("the bank statement shows the payment: %s, paid at %s with reference %s", paid.Status,
		paid.PaidAt.UTC().Format(time.DateTime), paid.OnchainTransactionID)
	size, err := save(ctx, recipients, id, file)
	if err != nil {
		return err
	}
	p.Step("saved its PDF to %s, %d bytes", file, size)
	return nil
}

// issue issues an invoice to a client.
func issue(ctx context.Context, p *program.Program, app *appapi.Client) (*model.Invoice, error) {
	issued, err := app.Invoices.Create(ctx, appapi.InvoiceCreate{
		Currency:          model.InvoiceCurrencyEUR,
		ClientEmail:       "accounts@example.com",
		ClientDisplayName: "Example client",
		InvoicePrefix:     "EX",
		DueDate:           model.DateOf(time.Now().AddDate(0, 1, 0)),
		Items: []model.LineItem{
			line("Design", "12.5", "80.00"),
			line("Hosting", "1", "49.90"),
		},
	})
	if err != nil {
		return nil, err
	}
	p.Step("issued invoice %s over %s %s, %s, due %s", issued.InvoiceNumber, issued.Amount.StringFixed(2),
		issued.Currency, issued.Status, issued.DueDate)
	return issued, nil
}

func line(name, quantity, price string) model.LineItem {
	return model.LineItem{
		Name:     name,
		Quantity: model.NewNumber(decimal.RequireFromString(quantity)),
		Price:    decimal.RequireFromString(price),
	}
}

// publicID returns the public id in the invoice's link, or the invoice's id if there is no link.
func publicID(invoice *model.Invoice) (string, error) {
	if invoice.InvoiceLink == "" {
		return invoice.ID, nil
	}
	return public.InvoiceID(invoice.InvoiceLink)
}

// read prints what the recipient sees.
func read(ctx context.Context, p *program.Program, recipients *public.Client, id string) error {
	invoice, err := recipients.Invoices.Get(ctx, id)
	if err != nil {
		return err
	}
	p.Step("the recipient reads it without a credential: %s asks %s for %s %s", invoice.Contractor.Email,
		invoice.Client.DisplayName,
		invoice.Amount.StringFixed(2), invoice.Currency)
	for _, item := range invoice.Items {
		p.Detail("%s x %s at %s", item.Name, item.Quantity, item.Price.StringFixed(2))
	}
	for i, method := range invoice.PaymentMethods {
		p.Detail("payment method %d: %s", i, described(method))
	}
	return nil
}

// described describes a payment method in a few words. There are more kinds than these.
func described(method model.PaymentMethod) string {
	switch m := method.Variant().(type) {
	case model.SEPAPaymentMethod:
		return "SEPA to " + m.IBANNumber
	case model.OnchainAccount:
		return m.Currency + " to " + m.WalletAddress
	case model.EmailAccount:
		return "to the account of " + m.Email
	default:
		return "as the PDF says"
	}
}

// save saves the PDF in a file. If the download fails, no file is left, and an older file stays.
func save(ctx context.Context, recipients *public.Client, id, name string) (size int64, err error) {
	pdf, err := recipients.Invoices.PDF(ctx, id, public.RenderInvoicePDFParams{Details: new(0)})
	if err != nil {
		return 0, err
	}
	defer pdf.Close()
	file, err := os.CreateTemp(filepath.Dir(name), ".invoice-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name()) // does nothing after the rename
	if size, err = io.Copy(file, pdf); err != nil {
		file.Close()
		return 0, err
	}
	if err := file.Close(); err != nil {
		return 0, err
	}
	return size, os.Rename(file.Name(), name)
}
