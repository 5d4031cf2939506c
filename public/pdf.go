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

// Read implements io.Reader. A copy that is longer than 64 MiB, or that breaks off, is *errors.UnexpectedAnswer.
func (p *PDF) Read(b []byte) (int, error) { return p.stream.Read(b) }

// Close implements io.Closer. It drops what was not read.
func (p *PDF) Close() error { return p.stream.Close() }
