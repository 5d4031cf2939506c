package billing

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refapi"
)

// Reference answers the reference endpoints' operations on contracts and invoices, for the generated server.
type Reference struct{ *Billing }

// UpdateInvoice implements the operation of that name.
func (a Reference) UpdateInvoice(ctx context.Context, r refapi.UpdateInvoiceRequestObject) (refapi.UpdateInvoiceResponseObject, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, r.InvoiceID, *r.Body)
	return refapi.UpdateInvoice200JSONResponse(answer), err
}

// UpdateInvoiceOnInvoicesPath implements the operation of that name.
func (a Reference) UpdateInvoiceOnInvoicesPath(ctx context.Context, r refapi.UpdateInvoiceOnInvoicesPathRequestObject) (refapi.UpdateInvoiceOnInvoicesPathResponseObject, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, r.InvoiceID, *r.Body)
	return refapi.UpdateInvoiceOnInvoicesPath200JSONResponse(answer), err
}

// GetContract implements the operation of that name.
func (a Reference) GetContract(ctx context.Context, r refapi.GetContractRequestObject) (refapi.GetContractResponseObject, error) {
	answer, err := a.Contract(ctx, r.ContractID)
	return refapi.GetContract200JSONResponse(answer), err
}
