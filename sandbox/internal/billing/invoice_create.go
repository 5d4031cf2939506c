package billing

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// CreateInvoice issues an invoice from a contractor to a client.
func (b *Billing) CreateInvoice(ctx context.Context, body appwire.InvoiceCreate) (commonwire.Invoice, error) {
	t := b.enter(ctx)
	defer b.leave()
	client, contractor, wrong := t.parties(body.ClientEmail, body.ContractorEmail)
	amount, lines := total("items", body.Items, body.Currency)
	if err := invalid(append(wrong, lines...)); err != nil {
		return commonwire.Invoice{}, err
	}
	made := &invoice{
		Client:     client.renamed(body.ClientDisplayName, body.ClientAddress),
		Contractor: contractor.renamed(body.ContractorDisplayName, commonwire.PostalAddress{}),
		Amount:     amount,
		Currency:   body.Currency,
		Items:      body.Items,
		Due:        body.DueDate,
	}
	made.Methods = made.ownMethods(body.Onchain != nil && *body.Onchain)
	t.issue(made, body.InvoicePrefix)
	return t.view(made), nil
}

// CreateUploadedInvoice issues an invoice for an uploaded document.
func (b *Billing) CreateUploadedInvoice(
	ctx context.Context, body appwire.UploadedInvoiceCreate,
) (commonwire.Invoice, error) {
	t := b.enter(ctx)
	defer b.leave()
	client, contractor, wrong := t.parties(body.ClientEmail, body.ContractorEmail)
	wrong = append(wrong, checkAmount("amount", body.Amount, decimalsOf(body.Currency))...)
	uploaded := t.documents.Get(body.DocumentID)
	switch {
	case uploaded == nil || !uploaded.Owner.is(t.me):
		wrong = append(wrong,
			wire.Field{Field: "documentId", Code: "not_found", Message: "There is no such document."})
	case uploaded.Kind == appwire.DocumentKindContract:
		wrong = append(wrong,
			wire.Field{Field: "documentId", Code: "value_error",
				Message: "The document is a contract, not an invoice."})
	}
	if err := invalid(wrong); err != nil {
		return commonwire.Invoice{}, err
	}
	made := &invoice{
		Client: client, Contractor: contractor,
		Amount: body.Amount, Currency: body.Currency, Due: body.DueDate,
		DocumentID: uploaded.ID, document: uploaded,
	}
	made.Methods = made.ownMethods(false)
	t.issue(made, "")
	return t.view(made), nil
}

// parties returns both sides of an invoice. If the contractor is not named, it is the caller. If the client of another
// contractor's invoice is not named, it is the caller too.
func (t *turn) parties(clientEmail, contractorEmail string) (client, contractor party, wrong []wire.Field) {
	contractor = t.me
	if contractorEmail != "" {
		contractor = t.resolve(contractorEmail)
	}
	switch {
	case clientEmail != "":
		client = t.resolve(clientEmail)
	case !contractor.is(t.me):
		client = t.me
	default:
		return client, contractor,
			[]wire.Field{{Field: "clientEmail", Code: "missing",
				Message: "Say who pays the invoice: give clientEmail."}}
	}
	if client.is(contractor) {
		return client, contractor,
			[]wire.Field{{Field: "clientEmail", Code: "value_error", Message: "You cannot invoice yourself."}}
	}
	return client, contractor, nil
}
