package appapi

import (
	"context"
	"iter"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Invoices are requests for payment from a contractor to a client.
//
// Creating one has no idempotency key that the service would know: a create whose answer is lost is
// *errors.OutcomeUnknown and is never sent twice. Look for the invoice in the list before creating it again.
//
// Source: App API, Invoices.
type Invoices struct{ low lowLevel }

// List returns one page: at most params.Limit entries, from params.Offset on. With a Limit of 0 the service decides how
// many.
func (s *Invoices) List(
	ctx context.Context, params ListInvoicesParams, options ...moneymovement.CallOption,
) (*InvoiceList, error) {
	return transport.Of(s).low.ListInvoices(ctx, &params, options)
}

// All walks all pages from params.Offset on. It can be ranged over more than once, and ends after the first error. What
// is created meanwhile can shift entries from one page to another.
func (s *Invoices) All(
	ctx context.Context, params ListInvoicesParams, options ...moneymovement.CallOption,
) iter.Seq2[model.Invoice, error] {
	return pages(ctx, &opListInvoices, s.List, params, options,
		func(p *ListInvoicesParams) (offset *int, limit int) { return &p.Offset, p.Limit },
		func(l *InvoiceList) ([]model.Invoice, int) { return l.Items, l.Total })
}

// Get answers one invoice. id is a UUID.
func (s *Invoices) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Invoice, error) {
	return transport.Of(s).low.GetInvoice(ctx, id, options)
}

// Create issues an invoice with the given lines. Prices are in invoice.Currency, one unit each. A price and a quantity
// of zero are sent.
func (s *Invoices) Create(
	ctx context.Context, invoice InvoiceCreate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.Of(s).low.CreateInvoice(ctx, &invoice, options)
}

// CreateUploaded issues an invoice whose document was uploaded before, with [Documents.Upload].
func (s *Invoices) CreateUploaded(
	ctx context.Context, invoice UploadedInvoiceCreate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.Of(s).low.CreateUploadedInvoice(ctx, &invoice, options)
}

// CreateFromContract issues the invoice of one period of a contract. contractID is a UUID.
func (s *Invoices) CreateFromContract(
	ctx context.Context, contractID string, invoice ContractInvoiceCreate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.Of(s).low.CreateInvoiceFromContract(ctx, contractID, &invoice, options)
}

// CreateBatch issues one invoice for each entry, in their order. One that was issued and could not be read is zero in
// its place, and [moneymovement.CaptureResponse] names it.
//
// Whether a batch that the service refuses has issued the entries before the bad one is not shown, and a success
// without a list, such as {"ok":true}, is *errors.OutcomeUnknown, with no key to settle it: look at the list before
// sending it again.
func (s *Invoices) CreateBatch(
	ctx context.Context, batch InvoiceBatch, options ...moneymovement.CallOption,
) ([]model.Invoice, error) {
	var answer moneymovement.Response
	list, err := transport.Of(s).low.CreateInvoiceBatch(ctx, &batch, capturing(options, &answer))
	if err != nil {
		return nil, err
	}
	return inPlace(list.Items, entriesOf(&opCreateInvoiceBatch, &answer)), nil
}

// Update gives an invoice another state. Which states accept which targets is the service's to say. id is a UUID.
//
// Source: States and transitions, Invoice.
func (s *Invoices) Update(
	ctx context.Context, id string, change model.InvoiceUpdate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.Of(s).low.UpdateInvoice(ctx, id, &change, options).
		Or(reading(ctx, id, transport.Of(s).low.GetInvoice))
}

// Payment is how an invoice was paid. The zero value is: offline, now.
//
// Source: States and transitions, Invoice.
type Payment struct {
	// Reference is any unique text to attach, such as a transaction's hash. Without one the invoice is marked paid
	// offline, with no linked transaction.
	Reference string
	// At backdates the payment; the zero time is now, by the service's clock.
	At time.Time
}

// MarkPaid moves an invoice to paid. id is a UUID.
func (s *Invoices) MarkPaid(
	ctx context.Context, id string, payment Payment, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	change := model.InvoiceUpdate{Status: model.InvoiceStatusPaid}
	if payment.Reference != "" {
		change.OnchainTransactionID.Set(payment.Reference)
	}
	if !payment.At.IsZero() {
		change.PaidAt.Set(payment.At)
	}
	return s.Update(ctx, id, change, options...)
}
