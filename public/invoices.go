package public

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Invoices reads invoices and their PDFs by the public id, as the payer sees them.
type Invoices struct{ low lowLevel }

// Get returns an invoice by its public id.
func (s *Invoices) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Invoice, error) {
	return transport.Of(s).low.GetInvoice(ctx, id, options)
}

// PDF has the service render a copy of an invoice, and returns it as a stream of at most 64 MiB. Close the stream.
// params.Details is the index of a payment method in the invoice's PaymentMethods: new(0) selects the first one.
// Without Details, the copy has no payment details. The service refuses an index that the invoice does not have.
//
// An error of the call comes before the first byte. If the copy breaks off later, [PDF.Read] returns
// *errors.UnexpectedResponse. If ctx ends before the whole stream is read, the stream ends with an error.
func (s *Invoices) PDF(
	ctx context.Context, id string, params RenderInvoicePDFParams, options ...moneymovement.CallOption,
) (*PDF, error) {
	stream, err := transport.Of(s).low.RenderInvoicePDF(ctx, id, &params, options)
	if err != nil {
		return nil, err
	}
	return &PDF{Length: stream.Length, RequestID: stream.RequestID, stream: stream}, nil
}
