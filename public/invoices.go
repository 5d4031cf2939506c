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

// PDF is a copy of an invoice, read from the connection. Close it. It is not safe for concurrent use.
type PDF struct {
	// Length is the size in bytes that the service announced, or -1 if it did not.
	Length int64
	// RequestID is the service's X-Request-ID.
	RequestID string

	stream *transport.Stream
}

// Read implements io.Reader. A copy that is longer than 64 MiB, or that breaks off, ends with
// *errors.UnexpectedResponse.
func (p *PDF) Read(b []byte) (int, error) {
	if err := p.made(); err != nil {
		return 0, err
	}
	return p.stream.Read(b)
}

// Close implements io.Closer. It drops the rest that was not read.
func (p *PDF) Close() error {
	if err := p.made(); err != nil {
		return err
	}
	return p.stream.Close()
}

func (p *PDF) made() error {
	return transport.Validate(opRenderInvoicePDF.ID, func(c *transport.Check) {
		if transport.Of(p).stream == nil {
			c.Refuse("pdf", "not_made", "was not made by public.Invoices.PDF")
		}
	})
}
