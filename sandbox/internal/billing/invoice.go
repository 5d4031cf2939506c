package billing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	openapi_types "github.com/oapi-codegen/runtime/types"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// invoice is a request for payment.
type invoice struct {
	id                       string
	number                   string
	creator                  party
	client, contractor       party
	amount                   decimal.Decimal
	currency                 commonwire.InvoiceCurrency
	items                    []commonwire.LineItem
	methods                  []commonwire.PaymentMethod // as they were when it was issued
	comment                  string
	issued, due, periodStart openapi_types.Date // zero: not said
	contract                 *contract          // nil: on its own
	period                   int                // of the contract, from 1
	document                 *document          // nil: none
	createdAt, updatedAt     time.Time
	status                   commonwire.InvoiceStatus
	reference                string // custom transaction reference
	transaction              *commonwire.InvoiceTransaction
	paidAt                   time.Time
	transferred              bool // paid by money of this host
}

// numberKey is a sequence of invoice numbers.
type numberKey struct{ account, prefix string }

// issue enters a new invoice: from now on its parties see it.
func (t *turn) issue(made *invoice, prefix string) {
	if prefix == "" {
		prefix = "INV"
	}
	sequence := numberKey{t.me.id, prefix}
	t.numbers[sequence]++
	made.id = uuid.NewString()
	made.number = fmt.Sprintf("%s-%04d", prefix, t.numbers[sequence])
	made.creator = t.me
	made.status = commonwire.InvoiceStatusSent
	made.issued = dateOf(t.now)
	made.createdAt, made.updatedAt = t.now, t.now
	t.invoices[made.id] = made
	t.invoiceOrder = append(t.invoiceOrder, made)
	if made.contract != nil {
		made.contract.invoices = append(made.contract.invoices, made)
	}
}

func dateOf(at time.Time) openapi_types.Date {
	return openapi_types.Date{Time: at.UTC().Truncate(24 * time.Hour)}
}

// seenBy tells whether an account may see the invoice: who made it may always, the parties unless it is a draft.
func (i *invoice) seenBy(who party) bool {
	return i.creator.is(who) || i.sent() && (i.client.is(who) || i.contractor.is(who))
}

// sent tells whether anybody but its maker sees the invoice.
func (i *invoice) sent() bool { return i.status != commonwire.InvoiceStatusDraft }

// invoice finds an invoice of the caller.
func (t *turn) invoice(id string) (*invoice, error) {
	found, ok := t.invoices[id]
	if !ok || !found.seenBy(t.me) {
		return nil, refuse.NotFound()
	}
	return found, nil
}

// Invoice reads an invoice of the account. Source: App API, Invoices.
func (b *Billing) Invoice(ctx context.Context, id string) (commonwire.Invoice, error) {
	t := b.enter(ctx)
	defer b.leave()
	found, err := t.invoice(id)
	if err != nil {
		return commonwire.Invoice{}, err
	}
	return t.view(found), nil
}

// Invoices lists the invoices of the account, newest first. Source: App API, Invoices.
func (b *Billing) Invoices(ctx context.Context, page Page) appwire.InvoiceList {
	t := b.enter(ctx)
	defer b.leave()
	items, total := pageOf(t.invoiceOrder, func(i *invoice) bool { return i.seenBy(t.me) }, t.view, page)
	return appwire.InvoiceList{Items: items, Total: &total}
}

// PublicInvoice reads an invoice by its public id, which is its id. Source: Public utilities.
func (b *Billing) PublicInvoice(id string) (commonwire.Invoice, error) {
	t := b.enterPublic()
	defer b.leave()
	found, err := t.publicInvoice(id)
	if err != nil {
		return commonwire.Invoice{}, err
	}
	return t.view(found), nil
}

func (t *turn) publicInvoice(id string) (*invoice, error) {
	found, ok := t.invoices[id]
	if !ok || !found.sent() {
		return nil, refuse.NotFound()
	}
	return found, nil
}

// view is the invoice as it stands.
func (t *turn) view(i *invoice) commonwire.Invoice {
	view := commonwire.Invoice{
		ID:                   i.id,
		Amount:               i.amount,
		Currency:             i.currency,
		Status:               i.status,
		InvoiceNumber:        i.number,
		PeriodNumber:         i.period,
		Comment:              i.comment,
		IssuedDate:           i.issued,
		DueDate:              i.due,
		Items:                slices.Clone(i.items),
		PaymentMethods:       slices.Clone(i.methods),
		Client:               i.client.onInvoice(),
		Contractor:           i.contractor.onInvoice(),
		OnchainTransactionID: i.reference,
		Transaction:          i.transaction,
		PaidAt:               i.paidAt,
		InvoiceLink:          "/public/invoices/" + i.id,
		CreatedAt:            i.createdAt,
		UpdatedAt:            i.updatedAt,
	}
	if i.document != nil {
		view.Documents = []commonwire.Document{i.document.view()}
	}
	if c := i.contract; c != nil {
		t.settle(c)
		view.Contract = &commonwire.InvoiceContract{
			ID:           c.id,
			Type:         c.terms.Type,
			Status:       c.status,
			IsRecurring:  c.terms.Period != "",
			Period:       c.terms.Period,
			ActivationAt: c.terms.ActivationAt,
			ExpirationAt: c.expirationAt,
		}
	}
	return view
}

// onContract is the invoice as the latest of its contract, flat.
func (i *invoice) onContract() commonwire.ContractInvoice {
	view := commonwire.ContractInvoice{
		ID:                   i.id,
		ClientID:             i.client.id,
		ContractorID:         i.contractor.id,
		ContractID:           i.contract.id,
		ClientEmail:          i.client.profile.Email,
		ContractorEmail:      i.contractor.profile.Email,
		Amount:               i.amount,
		Status:               i.status,
		InvoiceNumber:        i.number,
		Comment:              i.comment,
		IssuedDate:           i.issued,
		DueDate:              i.due,
		OnchainTransactionID: i.reference,
		PaidAt:               i.paidAt,
		CreatedAt:            i.createdAt,
		UpdatedAt:            i.updatedAt,
	}
	if i.document != nil {
		view.InvoiceDocumentID = i.document.id
	}
	return view
}
