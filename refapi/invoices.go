package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Invoices are requests for payment from a contractor to a client.
type Invoices struct{ low lowLevel }

// Update changes the status of an invoice, and returns the invoice. id is a UUID. If Status is paid and
// OnchainTransactionID is not set, the invoice is marked as paid offline, without a transaction; otherwise
// OnchainTransactionID is any unique reference. PaidAt is when it was paid, and means now if it is not set.
//
// A status that the service does not know fails with *errors.DetailErrors.
func (s *Invoices) Update(
	ctx context.Context, id string, change model.InvoiceUpdate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.Of(s).low.UpdateInvoice(ctx, id, &change, options)
}

// UpdateOnInvoicesPath is [Invoices.Update] on the second path that the description shows for it,
// /api/v1/invoices/documents/contracts/invoices/{invoice_id}. Use it for a host that serves only that path.
func (s *Invoices) UpdateOnInvoicesPath(
	ctx context.Context, id string, change model.InvoiceUpdate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.Of(s).low.UpdateInvoiceOnInvoicesPath(ctx, id, &change, options)
}

// Contracts are agreements that invoices are issued under.
type Contracts struct{ low lowLevel }

// Get returns a contract. id is a UUID.
func (s *Contracts) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Contract, error) {
	return transport.Of(s).low.GetContract(ctx, id, options)
}
