package billing

import (
	"bytes"
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/publicwire"
)

// Public answers the public utilities' operations on invoices, for the generated server.
type Public struct{ *Billing }

// GetInvoice implements the operation of that name.
func (a Public) GetInvoice(_ context.Context, r publicwire.GetInvoiceRequestObject) (publicwire.GetInvoiceResponseObject, error) {
	answer, err := a.PublicInvoice(r.InvoiceID)
	return publicwire.GetInvoice200JSONResponse(answer), err
}

// RenderInvoicePDF implements the operation of that name.
func (a Public) RenderInvoicePDF(_ context.Context, r publicwire.RenderInvoicePDFRequestObject) (publicwire.RenderInvoicePDFResponseObject, error) {
	file, err := a.RenderInvoice(r.ID, r.Params.Details)
	return publicwire.RenderInvoicePDF200ApplicationPDFResponse{Body: bytes.NewReader(file), ContentLength: int64(len(file))}, err
}
