package appapi

import (
	"context"
	"iter"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Invoices issues invoices, lists them and changes their status. An invoice is a request for payment from a contractor,
// who is paid, to a client, who pays. The id of an invoice is a UUID.
//
// The service takes no idempotency key for an invoice, so the methods that create invoices are never sent twice. If the
// response is lost, they fail with *errors.InDoubt: read [Invoices.List] to find the invoice before you create
// it again.
type Invoices struct{ low lowLevel }

// List returns one page: at most params.Limit invoices, starting at params.Offset. If Limit is 0, the service decides
// how many.
func (s *Invoices) List(
	ctx context.Context, params ListInvoicesParams, options ...moneymovement.CallOption,
) (*InvoiceList, error) {
	return transport.OrNew(s).low.ListInvoices(ctx, &params, options)
}

// All reads every page, starting at params.Offset. You can range over the result more than once. The iteration ends
// after the first error. If invoices are created meanwhile, it can miss an invoice or return one twice.
func (s *Invoices) All(
	ctx context.Context, params ListInvoicesParams, options ...moneymovement.CallOption,
) iter.Seq2[model.Invoice, error] {
	return pages(ctx, &opListInvoices, s.List, params, options,
		func(p *ListInvoicesParams) (offset *int, limit int) { return &p.Offset, p.Limit },
		func(l *InvoiceList) ([]model.Invoice, int) { return l.Items, l.Total })
}

// Get returns one invoice.
func (s *Invoices) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Invoice, error) {
	return transport.OrNew(s).low.GetInvoice(ctx, id, options)
}

// Create issues an invoice with the given lines. A price is an exact decimal in invoice.Currency for one unit of
// quantity. A price or quantity of zero is sent as zero.
func (s *Invoices) Create(
	ctx context.Context, invoice InvoiceCreate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.OrNew(s).low.CreateInvoice(ctx, &invoice, options)
}

// CreateUploaded issues an invoice for a document that [Documents.Upload] stored.
func (s *Invoices) CreateUploaded(
	ctx context.Context, invoice UploadedInvoiceCreate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.OrNew(s).low.CreateUploadedInvoice(ctx, &invoice, options)
}

// CreateFromContract issues the invoice of one period of a contract.
func (s *Invoices) CreateFromContract(
	ctx context.Context, contractID string, invoice ContractInvoiceCreate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.OrNew(s).low.CreateInvoiceFromContract(ctx, contractID, &invoice, options)
}

// CreateBatch issues one invoice for each entry, and returns them in the same order. If an invoice was issued but its
// JSON cannot be read, the slice has a zero Invoice in its place, and [moneymovement.CaptureResponse] reports it in
// Unread.
//
// If the service refuses a batch because of one entry, the invoices of the entries before it may have been issued: the
// description does not say. A success without a list, such as {"ok":true}, fails with *errors.InDoubt. In both
// cases, use [Invoices.List] to see which invoices exist before you send the entries again.
func (s *Invoices) CreateBatch(
	ctx context.Context, batch InvoiceBatch, options ...moneymovement.CallOption,
) ([]model.Invoice, error) {
	var response moneymovement.Response
	list, err := transport.OrNew(s).low.CreateInvoiceBatch(ctx, &batch, capturing(options, &response))
	if err != nil {
		return nil, err
	}
	return inPlace(list.Items, entriesOf(&opCreateInvoiceBatch, &response)), nil
}

// Update changes the status of an invoice, and returns the invoice. The description does not show which states can
// follow each other: the service decides, and a refusal is *errors.Conflict.
func (s *Invoices) Update(
	ctx context.Context, id string, change model.InvoiceUpdate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.OrNew(s).low.UpdateInvoice(ctx, id, &change, options).
		ValueOrRead(reading(ctx, id, transport.OrNew(s).low, lowLevel.GetInvoice))
}

// InvoicePayment says how an invoice was paid. The zero value means that it was paid offline, now.
type InvoicePayment struct {
	// Reference is any unique text, such as the hash of a transaction. If it is empty, the invoice is marked as paid
	// offline, without a linked transaction.
	Reference string
	// At is when it was paid. The zero time means now, on the service's clock.
	At time.Time
}

// MarkPaid marks an invoice as paid, and returns it. It moves no money; to pay an invoice, use [Transfers.Send] with
// [ToInvoice].
func (s *Invoices) MarkPaid(
	ctx context.Context, id string, payment InvoicePayment, options ...moneymovement.CallOption,
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
