package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Invoices are requests for payment from a contractor to a client.
//
// Source: Invoice (reference endpoints).
type Invoices struct{ low lowLevel }

// Update moves an invoice to another state. With Status paid and no OnchainTransactionID the invoice is marked paid
// offline, without a transaction; an OnchainTransactionID attaches any unique reference. PaidAt backdates the payment;
// without it, it is now. id is a UUID.
//
// Source: States and transitions, Invoice.
func (s *Invoices) Update(
	ctx context.Context, id string, change model.InvoiceUpdate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.Of(s).low.UpdateInvoice(ctx, id, &change, options)
}

// UpdateOnInvoicesPath is [Invoices.Update] under the other path that the description shows for it,
// /api/v1/invoices/documents/contracts/invoices/{invoice_id}, for a host that answers only that one.
//
// Source: Reference endpoints under /api/v1.
func (s *Invoices) UpdateOnInvoicesPath(
	ctx context.Context, id string, change model.InvoiceUpdate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.Of(s).low.UpdateInvoiceOnInvoicesPath(ctx, id, &change, options)
}

// Contracts are agreements that invoices are issued under.
//
// Source: Contract (reference endpoints).
type Contracts struct{ low lowLevel }

// Get reads a contract. id is a UUID.
func (s *Contracts) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Contract, error) {
	return transport.Of(s).low.GetContract(ctx, id, options)
}
