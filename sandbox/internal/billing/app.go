package billing

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/appapi"
)

// App answers the app API's operations on documents, contracts and invoices, for the generated server.
type App struct{ *Billing }

// UploadDocument implements the operation of that name.
func (a App) UploadDocument(ctx context.Context, r appapi.UploadDocumentRequestObject) (appapi.UploadDocumentResponseObject, error) {
	answer, err := a.Upload(ctx, *r.Body)
	return appapi.UploadDocument201JSONResponse(answer), err
}

// ListInvoices implements the operation of that name.
func (a App) ListInvoices(ctx context.Context, r appapi.ListInvoicesRequestObject) (appapi.ListInvoicesResponseObject, error) {
	return appapi.ListInvoices200JSONResponse(a.Invoices(ctx, Page{r.Params.Limit, r.Params.Offset})), nil
}

// GetInvoice implements the operation of that name.
func (a App) GetInvoice(ctx context.Context, r appapi.GetInvoiceRequestObject) (appapi.GetInvoiceResponseObject, error) {
	answer, err := a.Invoice(ctx, r.InvoiceID)
	return appapi.GetInvoice200JSONResponse(answer), err
}

// CreateInvoice implements the operation of that name.
func (a App) CreateInvoice(ctx context.Context, r appapi.CreateInvoiceRequestObject) (appapi.CreateInvoiceResponseObject, error) {
	answer, err := a.Billing.CreateInvoice(ctx, *r.Body)
	return appapi.CreateInvoice201JSONResponse(answer), err
}

// CreateUploadedInvoice implements the operation of that name.
func (a App) CreateUploadedInvoice(ctx context.Context, r appapi.CreateUploadedInvoiceRequestObject) (appapi.CreateUploadedInvoiceResponseObject, error) {
	answer, err := a.Billing.CreateUploadedInvoice(ctx, *r.Body)
	return appapi.CreateUploadedInvoice201JSONResponse(answer), err
}

// CreateInvoiceFromContract implements the operation of that name.
func (a App) CreateInvoiceFromContract(ctx context.Context, r appapi.CreateInvoiceFromContractRequestObject) (appapi.CreateInvoiceFromContractResponseObject, error) {
	answer, err := a.Billing.CreateInvoiceFromContract(ctx, r.ContractID, *r.Body)
	return appapi.CreateInvoiceFromContract201JSONResponse(answer), err
}

// CreateInvoiceBatch implements the operation of that name.
func (a App) CreateInvoiceBatch(ctx context.Context, r appapi.CreateInvoiceBatchRequestObject) (appapi.CreateInvoiceBatchResponseObject, error) {
	answer, err := a.Billing.CreateInvoiceBatch(ctx, *r.Body)
	return appapi.CreateInvoiceBatch201JSONResponse(answer), err
}

// UpdateInvoice implements the operation of that name.
func (a App) UpdateInvoice(ctx context.Context, r appapi.UpdateInvoiceRequestObject) (appapi.UpdateInvoiceResponseObject, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, r.InvoiceID, *r.Body)
	return appapi.UpdateInvoice200JSONResponse(answer), err
}

// ListContracts implements the operation of that name.
func (a App) ListContracts(ctx context.Context, r appapi.ListContractsRequestObject) (appapi.ListContractsResponseObject, error) {
	return appapi.ListContracts200JSONResponse(a.Contracts(ctx, Page{r.Params.Limit, r.Params.Offset})), nil
}

// ListContractTemplates implements the operation of that name.
func (a App) ListContractTemplates(context.Context, appapi.ListContractTemplatesRequestObject) (appapi.ListContractTemplatesResponseObject, error) {
	return appapi.ListContractTemplates200JSONResponse(a.Templates()), nil
}

// GetContract implements the operation of that name.
func (a App) GetContract(ctx context.Context, r appapi.GetContractRequestObject) (appapi.GetContractResponseObject, error) {
	answer, err := a.Contract(ctx, r.ContractID)
	return appapi.GetContract200JSONResponse(answer), err
}

// CreateContract implements the operation of that name.
func (a App) CreateContract(ctx context.Context, r appapi.CreateContractRequestObject) (appapi.CreateContractResponseObject, error) {
	answer, err := a.Billing.CreateContract(ctx, *r.Body)
	return appapi.CreateContract201JSONResponse(answer), err
}

// UpdateContract implements the operation of that name.
func (a App) UpdateContract(ctx context.Context, r appapi.UpdateContractRequestObject) (appapi.UpdateContractResponseObject, error) {
	answer, err := a.Billing.UpdateContract(ctx, r.ContractID, *r.Body)
	return appapi.UpdateContract200JSONResponse(answer), err
}

// DeleteContract implements the operation of that name.
func (a App) DeleteContract(ctx context.Context, r appapi.DeleteContractRequestObject) (appapi.DeleteContractResponseObject, error) {
	return appapi.DeleteContract204Response{}, a.Billing.DeleteContract(ctx, r.ContractID)
}

// PreviewContract implements the operation of that name.
func (a App) PreviewContract(ctx context.Context, r appapi.PreviewContractRequestObject) (appapi.PreviewContractResponseObject, error) {
	answer, err := a.Preview(ctx, r.ContractID)
	return appapi.PreviewContract200JSONResponse(answer), err
}

// PauseContract implements the operation of that name.
func (a App) PauseContract(ctx context.Context, r appapi.PauseContractRequestObject) (appapi.PauseContractResponseObject, error) {
	answer, err := a.Billing.PauseContract(ctx, r.ContractID)
	return appapi.PauseContract200JSONResponse(answer), err
}

// ApproveContract implements the operation of that name.
func (a App) ApproveContract(ctx context.Context, r appapi.ApproveContractRequestObject) (appapi.ApproveContractResponseObject, error) {
	answer, err := a.Billing.ApproveContract(ctx, r.ContractID)
	return appapi.ApproveContract200JSONResponse(answer), err
}

// ReplacePaymentMethods implements the operation of that name.
func (a App) ReplacePaymentMethods(ctx context.Context, r appapi.ReplacePaymentMethodsRequestObject) (appapi.ReplacePaymentMethodsResponseObject, error) {
	answer, err := a.Billing.ReplacePaymentMethods(ctx, r.ContractID, r.Body.PaymentMethods)
	return appapi.ReplacePaymentMethods200JSONResponse(answer), err
}
