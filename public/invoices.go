package public

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Invoices are requests for payment as their recipients see them.
//
// Source: Public utilities; Invoice (reference endpoints).
type Invoices struct{ low lowLevel }

// Get reads an invoice by its public id.
func (s *Invoices) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Invoice, error) {
	return transport.Of(s).low.GetInvoice(ctx, id, options)
}

// PDF has a copy of an invoice rendered and answers it as a stream of at most 64 MiB. The copy carries no payment
// details unless Details says, by its index in the invoice's PaymentMethods, whose: new(0) for the first. An index that
// the invoice does not have is the service's refusal.
//
// The call's error comes before the first byte; a copy that breaks off later is *errors.UnexpectedResponse from
// [PDF.Read]. ctx has to live until the stream is read.
//
// Source: Invoice (reference endpoints).
func (s *Invoices) PDF(
	ctx context.Context, id string, params RenderInvoicePDFParams, options ...moneymovement.CallOption,
) (*PDF, error) {
	stream, err := transport.Of(s).low.RenderInvoicePDF(ctx, id, &params, options)
	if err != nil {
		return nil, err
	}
	return &PDF{Length: stream.Length, RequestID: stream.RequestID, stream: stream}, nil
}
