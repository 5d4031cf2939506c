package public

import "github.com/moneymovement/moneymovement-go/internal/transport"

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
