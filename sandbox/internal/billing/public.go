package billing

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/publicwire"
)

// Public serves the public utilities' operations on invoices.
type Public struct{ *Billing }

// GetInvoice implements the operation of that name.
func (a Public) GetInvoice(_ context.Context, invoiceID string) (serve.Answer, error) {
	answer, err := a.PublicInvoice(invoiceID)
	return serve.OK(answer), err
}

// RenderInvoicePDF implements the operation of that name.
func (a Public) RenderInvoicePDF(
	_ context.Context, id string, params publicwire.RenderInvoicePDFParams,
) (serve.Answer, error) {
	file, err := a.RenderInvoice(id, params.Details)
	return serve.File("application/pdf", file), err
}
