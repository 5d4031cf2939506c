package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Invoices changes the status of invoices. An invoice is a request for payment from a contractor, who is paid, to a
// client, who pays.
type Invoices struct{ low lowLevel }

// Update changes the status of an invoice, and returns the invoice. id is a UUID. If Status is paid and
// OnchainTransactionID is not set, the invoice is marked as paid offline, without a transaction. OnchainTransactionID
// can be any unique reference. PaidAt is the time of the payment; if it is not set, the service takes the current time.
//
// If the service does not know the status, Update fails with *errors.DetailErrors.
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

// Contracts reads contracts. A contract is an agreement that invoices are issued under.
type Contracts struct{ low lowLevel }

// Get returns a contract. id is a UUID.
func (s *Contracts) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Contract, error) {
	return transport.Of(s).low.GetContract(ctx, id, options)
}
