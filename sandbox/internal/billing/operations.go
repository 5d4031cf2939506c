package billing

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/publicwire"
)

// App serves the app API's operations on documents, contracts and invoices.
type App struct{ *Billing }

// UploadDocument implements the operation of that name.
func (a App) UploadDocument(ctx context.Context, body appwire.DocumentUpload) (wire.Answer, error) {
	answer, err := a.Upload(ctx, body)
	return wire.Created(answer), err
}

// ListInvoices implements the operation of that name.
func (a App) ListInvoices(ctx context.Context, params appwire.ListInvoicesParams) (wire.Answer, error) {
	return wire.OK(a.Invoices(ctx, wire.Page{Limit: params.Limit, Offset: params.Offset})), nil
}

// GetInvoice implements the operation of that name.
func (a App) GetInvoice(ctx context.Context, invoiceID string) (wire.Answer, error) {
	answer, err := a.Invoice(ctx, invoiceID)
	return wire.OK(answer), err
}

// CreateInvoice implements the operation of that name.
func (a App) CreateInvoice(ctx context.Context, body appwire.InvoiceCreate) (wire.Answer, error) {
	answer, err := a.Billing.CreateInvoice(ctx, body)
	return wire.Created(answer), err
}

// CreateUploadedInvoice implements the operation of that name.
func (a App) CreateUploadedInvoice(ctx context.Context, body appwire.UploadedInvoiceCreate) (wire.Answer, error) {
	answer, err := a.Billing.CreateUploadedInvoice(ctx, body)
	return wire.Created(answer), err
}

// CreateInvoiceFromContract implements the operation of that name.
func (a App) CreateInvoiceFromContract(
	ctx context.Context, contractID string, body appwire.ContractInvoiceCreate,
) (wire.Answer, error) {
	answer, err := a.Billing.CreateInvoiceFromContract(ctx, contractID, body)
	return wire.Created(answer), err
}

// CreateInvoiceBatch implements the operation of that name.
func (a App) CreateInvoiceBatch(ctx context.Context, body appwire.InvoiceBatch) (wire.Answer, error) {
	answer, err := a.Billing.CreateInvoiceBatch(ctx, body)
	return wire.Created(answer), err
}

// UpdateInvoice implements the operation of that name.
func (a App) UpdateInvoice(ctx context.Context, invoiceID string, body commonwire.InvoiceUpdate) (wire.Answer, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, invoiceID, body)
	return wire.OK(answer), err
}

// ListContracts implements the operation of that name.
func (a App) ListContracts(ctx context.Context, params appwire.ListContractsParams) (wire.Answer, error) {
	return wire.OK(a.Contracts(ctx, wire.Page{Limit: params.Limit, Offset: params.Offset})), nil
}

// ListContractTemplates implements the operation of that name.
func (a App) ListContractTemplates(context.Context) (wire.Answer, error) {
	return wire.OK(a.Templates()), nil
}

// GetContract implements the operation of that name.
func (a App) GetContract(ctx context.Context, contractID string) (wire.Answer, error) {
	answer, err := a.Contract(ctx, contractID)
	return wire.OK(answer), err
}

// CreateContract implements the operation of that name.
func (a App) CreateContract(ctx context.Context, body appwire.ContractCreate) (wire.Answer, error) {
	answer, err := a.Billing.CreateContract(ctx, body)
	return wire.Created(answer), err
}

// UpdateContract implements the operation of that name.
func (a App) UpdateContract(ctx context.Context, contractID string, body appwire.ContractUpdate) (wire.Answer, error) {
	answer, err := a.Billing.UpdateContract(ctx, contractID, body)
	return wire.OK(answer), err
}

// DeleteContract implements the operation of that name.
func (a App) DeleteContract(ctx context.Context, contractID string) (wire.Answer, error) {
	return wire.NoContent(), a.Billing.DeleteContract(ctx, contractID)
}

// PreviewContract implements the operation of that name.
func (a App) PreviewContract(ctx context.Context, contractID string) (wire.Answer, error) {
	answer, err := a.Preview(ctx, contractID)
	return wire.OK(answer), err
}

// PauseContract implements the operation of that name.
func (a App) PauseContract(ctx context.Context, contractID string) (wire.Answer, error) {
	answer, err := a.Billing.PauseContract(ctx, contractID)
	return wire.OK(answer), err
}

// ApproveContract implements the operation of that name.
func (a App) ApproveContract(ctx context.Context, contractID string) (wire.Answer, error) {
	answer, err := a.Billing.ApproveContract(ctx, contractID)
	return wire.OK(answer), err
}

// ReplacePaymentMethods implements the operation of that name.
func (a App) ReplacePaymentMethods(
	ctx context.Context, contractID string, body appwire.PaymentMethodsReplacement,
) (wire.Answer, error) {
	answer, err := a.Billing.ReplacePaymentMethods(ctx, contractID, body.PaymentMethods)
	return wire.OK(answer), err
}

// Public serves the public utilities' operations on invoices.
type Public struct{ *Billing }

// GetInvoice implements the operation of that name.
func (a Public) GetInvoice(_ context.Context, invoiceID string) (wire.Answer, error) {
	answer, err := a.PublicInvoice(invoiceID)
	return wire.OK(answer), err
}

// RenderInvoicePDF implements the operation of that name.
func (a Public) RenderInvoicePDF(
	_ context.Context, id string, params publicwire.RenderInvoicePDFParams,
) (wire.Answer, error) {
	file, err := a.RenderInvoice(id, params.Details)
	return wire.File("application/pdf", file), err
}

// Reference serves the reference endpoints' operations on contracts and invoices.
type Reference struct{ *Billing }

// UpdateInvoice implements the operation of that name.
func (a Reference) UpdateInvoice(
	ctx context.Context, invoiceID string, body commonwire.InvoiceUpdate,
) (wire.Answer, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, invoiceID, body)
	return wire.OK(answer), err
}

// UpdateInvoiceOnInvoicesPath implements the operation of that name.
func (a Reference) UpdateInvoiceOnInvoicesPath(
	ctx context.Context, invoiceID string, body commonwire.InvoiceUpdate,
) (wire.Answer, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, invoiceID, body)
	return wire.OK(answer), err
}

// GetContract implements the operation of that name.
func (a Reference) GetContract(ctx context.Context, contractID string) (wire.Answer, error) {
	answer, err := a.Contract(ctx, contractID)
	return wire.OK(answer), err
}
