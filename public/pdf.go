package public

import "github.com/moneymovement/moneymovement-go/internal/transport"

// PDF is a copy of an invoice, read as it comes. Close it. It is one reader's, and not safe for concurrent use.
type PDF struct {
	// Length is how many bytes were announced, -1 if that is not known.
	Length int64
	// RequestID is the service's X-Request-ID.
	RequestID string

	stream *transport.Stream
}

// Read implements io.Reader. A copy that is longer than 64 MiB, or that breaks off, is *errors.UnexpectedResponse.
func (p *PDF) Read(b []byte) (int, error) {
	if err := p.made(); err != nil {
		return 0, err
	}
	return p.stream.Read(b)
}

// Close implements io.Closer. It drops what was not read.
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
