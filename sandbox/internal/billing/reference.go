package billing

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// Reference answers the reference endpoints' operations on contracts and invoices, for the generated server.
type Reference struct{ *Billing }

// UpdateInvoice implements the operation of that name.
func (a Reference) UpdateInvoice(ctx context.Context, r referencewire.UpdateInvoiceRequestObject) (referencewire.UpdateInvoiceResponseObject, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, r.InvoiceID, *r.Body)
	return referencewire.UpdateInvoice200JSONResponse(answer), err
}

// UpdateInvoiceOnInvoicesPath implements the operation of that name.
func (a Reference) UpdateInvoiceOnInvoicesPath(ctx context.Context, r referencewire.UpdateInvoiceOnInvoicesPathRequestObject) (referencewire.UpdateInvoiceOnInvoicesPathResponseObject, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, r.InvoiceID, *r.Body)
	return referencewire.UpdateInvoiceOnInvoicesPath200JSONResponse(answer), err
}

// GetContract implements the operation of that name.
func (a Reference) GetContract(ctx context.Context, r referencewire.GetContractRequestObject) (referencewire.GetContractResponseObject, error) {
	answer, err := a.Contract(ctx, r.ContractID)
	return referencewire.GetContract200JSONResponse(answer), err
}
