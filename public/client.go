package public

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Client calls the public endpoints. Make one with [New]. It is safe for concurrent use.
type Client struct {
	Rates    *Rates
	Invoices *Invoices

	baseURL string
}

// New returns a client. baseURL is the service's address, such as https://host.example. It must be https, except for a
// loopback address. New sends nothing. Bad input fails with *errors.InvalidInput.
//
// The description states no rate limits for this surface. The client does not limit its own rate,
// unless [moneymovement.WithRateLimiter] sets limits.
func New(baseURL string, options ...moneymovement.Option) (*Client, error) {
	config := transport.Config{ClientSettings: moneymovement.ClientSettingsOf(options...), Anonymous: true}
	client, err := transport.New(baseURL, "", config)
	if err != nil {
		return nil, err
	}
	low := lowLevel{client}
	return &Client{Rates: &Rates{low}, Invoices: &Invoices{low}, baseURL: baseURL}, nil
}

// maker is the function that error texts name for a client that nothing made.
const maker = "public.New"

// lowLevel sends the generated operations.
type lowLevel struct{ transport *transport.Client }

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	call := transport.Call{CallSettings: moneymovement.CallSettingsOf(options...)}
	return transport.RequestOf(c.transport, maker, op, call)
}

// Rates returns exchange rates against USD.
type Rates struct{ low lowLevel }

// Get returns the rates of a currency, priced against USD. currency is a code such as "EUR". Rates are exact decimals.
// A rate that the service does not return is zero: check it with IsZero before you divide by it.
func (s *Rates) Get(ctx context.Context, currency string, options ...moneymovement.CallOption) (*FXRate, error) {
	return transport.OrNew(s).low.GetRate(ctx, currency, options)
}

// Invoices reads invoices and their PDFs by the public id, as the payer sees them.
type Invoices struct{ low lowLevel }

// Get returns an invoice by its public id.
func (s *Invoices) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Invoice, error) {
	return transport.OrNew(s).low.GetInvoice(ctx, id, options)
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
	stream, err := transport.OrNew(s).low.RenderInvoicePDF(ctx, id, &params, options)
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
		if transport.OrNew(p).stream == nil {
			c.Refuse("pdf", "not_made", "was not made by public.Invoices.PDF")
		}
	})
}

// InvoiceID returns the public id of an invoice from a link to it, such as the InvoiceLink of a model.Invoice. Pass the
// id to [Invoices.Get] and [Invoices.PDF]. A link without an id fails with *errors.InvalidInput.
//
// The description does not show the form of such a link. The SDK assumes that the id follows /public/invoices/ in the
// path, or else is the last part of the path. The host of the link does not matter, because InvoiceID sends nothing.
func InvoiceID(link string) (string, error) {
	id := ""
	if parsed, err := url.Parse(link); err == nil {
		path := strings.Trim(parsed.EscapedPath(), "/")
		part := path[strings.LastIndex(path, "/")+1:]
		if _, after, found := strings.Cut("/"+path+"/", invoicesPath); found {
			part, _, _ = strings.Cut(after, "/")
		}
		id, err = url.PathUnescape(part)
		if err != nil {
			id = ""
		}
	}
	err := transport.Validate("InvoiceID", func(c *transport.Check) {
		if !named(id) {
			c.Refuse("link", "invalid_link", "has no invoice id at the end of its path")
		}
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

const invoicesPath = "/public/invoices/"

// named reports whether an id can stand in a path.
func named(id string) bool { return id != "" && id != "." && id != ".." }

// InvoicePDFLink returns the address of an invoice's PDF copy. Send it to the payer, or show it on a page: it needs no
// credential, and everybody who has it can read the invoice. It is the address that [Invoices.PDF] reads.
// InvoicePDFLink itself sends nothing. Without params.Details, the copy has no payment details. Bad input fails with
// *errors.InvalidInput.
//
// The service sends no such link with an invoice, so this method makes one.
func (c *Client) InvoicePDFLink(id string, params RenderInvoicePDFParams) (string, error) {
	made := transport.OrNew(c)
	err := transport.Validate(opRenderInvoicePDF.ID, func(check *transport.Check) {
		check.Constructed(transport.OrNew(made.Invoices).low.transport, maker)
		if !named(id) {
			check.Refuse("id", "missing", "is required")
		}
		if params.Details != nil && *params.Details < 0 {
			check.Refuse("details", "negative", "must not be negative: it counts from 0")
		}
	})
	if err != nil {
		return "", err
	}
	link := strings.TrimRight(made.baseURL, "/") + invoicesPath + url.PathEscape(id) + "/pdf"
	if params.Details != nil {
		link += "?details=" + strconv.Itoa(*params.Details)
	}
	return link, nil
}
