package billing

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
)

// App answers the app API's operations on documents, contracts and invoices, for the generated server.
type App struct{ *Billing }

// UploadDocument implements the operation of that name.
func (a App) UploadDocument(ctx context.Context, r appwire.UploadDocumentRequestObject) (appwire.UploadDocumentResponseObject, error) {
	answer, err := a.Upload(ctx, *r.Body)
	return appwire.UploadDocument201JSONResponse(answer), err
}

// ListInvoices implements the operation of that name.
func (a App) ListInvoices(ctx context.Context, r appwire.ListInvoicesRequestObject) (appwire.ListInvoicesResponseObject, error) {
	return appwire.ListInvoices200JSONResponse(a.Invoices(ctx, Page{r.Params.Limit, r.Params.Offset})), nil
}

// GetInvoice implements the operation of that name.
func (a App) GetInvoice(ctx context.Context, r appwire.GetInvoiceRequestObject) (appwire.GetInvoiceResponseObject, error) {
	answer, err := a.Invoice(ctx, r.InvoiceID)
	return appwire.GetInvoice200JSONResponse(answer), err
}

// CreateInvoice implements the operation of that name.
func (a App) CreateInvoice(ctx context.Context, r appwire.CreateInvoiceRequestObject) (appwire.CreateInvoiceResponseObject, error) {
	answer, err := a.Billing.CreateInvoice(ctx, *r.Body)
	return appwire.CreateInvoice201JSONResponse(answer), err
}

// CreateUploadedInvoice implements the operation of that name.
func (a App) CreateUploadedInvoice(ctx context.Context, r appwire.CreateUploadedInvoiceRequestObject) (appwire.CreateUploadedInvoiceResponseObject, error) {
	answer, err := a.Billing.CreateUploadedInvoice(ctx, *r.Body)
	return appwire.CreateUploadedInvoice201JSONResponse(answer), err
}

// CreateInvoiceFromContract implements the operation of that name.
func (a App) CreateInvoiceFromContract(ctx context.Context, r appwire.CreateInvoiceFromContractRequestObject) (appwire.CreateInvoiceFromContractResponseObject, error) {
	answer, err := a.Billing.CreateInvoiceFromContract(ctx, r.ContractID, *r.Body)
	return appwire.CreateInvoiceFromContract201JSONResponse(answer), err
}

// CreateInvoiceBatch implements the operation of that name.
func (a App) CreateInvoiceBatch(ctx context.Context, r appwire.CreateInvoiceBatchRequestObject) (appwire.CreateInvoiceBatchResponseObject, error) {
	answer, err := a.Billing.CreateInvoiceBatch(ctx, *r.Body)
	return appwire.CreateInvoiceBatch201JSONResponse(answer), err
}

// UpdateInvoice implements the operation of that name.
func (a App) UpdateInvoice(ctx context.Context, r appwire.UpdateInvoiceRequestObject) (appwire.UpdateInvoiceResponseObject, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, r.InvoiceID, *r.Body)
	return appwire.UpdateInvoice200JSONResponse(answer), err
}

// ListContracts implements the operation of that name.
func (a App) ListContracts(ctx context.Context, r appwire.ListContractsRequestObject) (appwire.ListContractsResponseObject, error) {
	return appwire.ListContracts200JSONResponse(a.Contracts(ctx, Page{r.Params.Limit, r.Params.Offset})), nil
}

// ListContractTemplates implements the operation of that name.
func (a App) ListContractTemplates(context.Context, appwire.ListContractTemplatesRequestObject) (appwire.ListContractTemplatesResponseObject, error) {
	return appwire.ListContractTemplates200JSONResponse(a.Templates()), nil
}

// GetContract implements the operation of that name.
func (a App) GetContract(ctx context.Context, r appwire.GetContractRequestObject) (appwire.GetContractResponseObject, error) {
	answer, err := a.Contract(ctx, r.ContractID)
	return appwire.GetContract200JSONResponse(answer), err
}

// CreateContract implements the operation of that name.
func (a App) CreateContract(ctx context.Context, r appwire.CreateContractRequestObject) (appwire.CreateContractResponseObject, error) {
	answer, err := a.Billing.CreateContract(ctx, *r.Body)
	return appwire.CreateContract201JSONResponse(answer), err
}

// UpdateContract implements the operation of that name.
func (a App) UpdateContract(ctx context.Context, r appwire.UpdateContractRequestObject) (appwire.UpdateContractResponseObject, error) {
	answer, err := a.Billing.UpdateContract(ctx, r.ContractID, *r.Body)
	return appwire.UpdateContract200JSONResponse(answer), err
}

// DeleteContract implements the operation of that name.
func (a App) DeleteContract(ctx context.Context, r appwire.DeleteContractRequestObject) (appwire.DeleteContractResponseObject, error) {
	return appwire.DeleteContract204Response{}, a.Billing.DeleteContract(ctx, r.ContractID)
}

// PreviewContract implements the operation of that name.
func (a App) PreviewContract(ctx context.Context, r appwire.PreviewContractRequestObject) (appwire.PreviewContractResponseObject, error) {
	answer, err := a.Preview(ctx, r.ContractID)
	return appwire.PreviewContract200JSONResponse(answer), err
}

// PauseContract implements the operation of that name.
func (a App) PauseContract(ctx context.Context, r appwire.PauseContractRequestObject) (appwire.PauseContractResponseObject, error) {
	answer, err := a.Billing.PauseContract(ctx, r.ContractID)
	return appwire.PauseContract200JSONResponse(answer), err
}

// ApproveContract implements the operation of that name.
func (a App) ApproveContract(ctx context.Context, r appwire.ApproveContractRequestObject) (appwire.ApproveContractResponseObject, error) {
	answer, err := a.Billing.ApproveContract(ctx, r.ContractID)
	return appwire.ApproveContract200JSONResponse(answer), err
}

// ReplacePaymentMethods implements the operation of that name.
func (a App) ReplacePaymentMethods(ctx context.Context, r appwire.ReplacePaymentMethodsRequestObject) (appwire.ReplacePaymentMethodsResponseObject, error) {
	answer, err := a.Billing.ReplacePaymentMethods(ctx, r.ContractID, r.Body.PaymentMethods)
	return appwire.ReplacePaymentMethods200JSONResponse(answer), err
}
