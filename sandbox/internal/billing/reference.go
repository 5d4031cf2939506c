package billing

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// Reference serves the reference endpoints' operations on contracts and invoices.
type Reference struct{ *Billing }

// UpdateInvoice implements the operation of that name.
func (a Reference) UpdateInvoice(
	ctx context.Context, invoiceID string, body commonwire.InvoiceUpdate,
) (serve.Answer, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, invoiceID, body)
	return serve.OK(answer), err
}

// UpdateInvoiceOnInvoicesPath implements the operation of that name.
func (a Reference) UpdateInvoiceOnInvoicesPath(
	ctx context.Context, invoiceID string, body commonwire.InvoiceUpdate,
) (serve.Answer, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, invoiceID, body)
	return serve.OK(answer), err
}

// GetContract implements the operation of that name.
func (a Reference) GetContract(ctx context.Context, contractID string) (serve.Answer, error) {
	answer, err := a.Contract(ctx, contractID)
	return serve.OK(answer), err
}
