package billing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	openapi_types "github.com/oapi-codegen/runtime/types"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// invoice is a request for payment.
type invoice struct {
	ID                       string
	Number                   string
	Creator                  party
	Client, Contractor       party
	Amount                   decimal.Decimal
	Currency                 commonwire.InvoiceCurrency
	Items                    []commonwire.LineItem
	Methods                  []commonwire.PaymentMethod // as they were when the invoice was issued
	Comment                  string
	Issued, Due, PeriodStart openapi_types.Date // zero if it was not given
	ContractID               string             // "" without a contract
	Period                   int                // of the contract, from 1
	DocumentID               string             // "" without a document
	CreatedAt, UpdatedAt     time.Time
	Status                   commonwire.InvoiceStatus
	Reference                string // custom transaction reference
	Transaction              *commonwire.InvoiceTransaction
	PaidAt                   time.Time
	Transferred              bool // paid with money of this host

	contract *contract // nil without a contract
	document *document // nil without a document
}

// sequence identifies a series of invoice numbers: an account and a prefix.
type sequence struct{ Last int }

// issue stores a new invoice. Its parties can now see it.
func (t *turn) issue(made *invoice, prefix string) {
	if prefix == "" {
		prefix = "INV"
	}
	name, numbers := t.me.ID+"/"+prefix, &sequence{}
	if known := t.numbers.Get(name); known != nil {
		numbers = known
	}
	numbers.Last++
	t.numbers.Put(name, numbers)
	made.ID = uuid.NewString()
	made.Number = fmt.Sprintf("%s-%04d", prefix, numbers.Last)
	made.Creator = t.me
	made.Status = commonwire.InvoiceStatusSent
	made.Issued = dateOf(t.now)
	made.CreatedAt, made.UpdatedAt = t.now, t.now
	t.invoices.Put(made.ID, made)
	t.enter(made)
}

func dateOf(at time.Time) openapi_types.Date {
	return openapi_types.Date{Time: at.UTC().Truncate(24 * time.Hour)}
}

// seenBy reports whether an account may see the invoice: its creator always, the parties unless it is a draft.
func (i *invoice) seenBy(who party) bool {
	return i.Creator.is(who) || i.sent() && (i.Client.is(who) || i.Contractor.is(who))
}

// sent reports whether anybody but its creator sees the invoice.
func (i *invoice) sent() bool { return i.Status != commonwire.InvoiceStatusDraft }

// invoice finds an invoice of the caller.
func (t *turn) invoice(id string) (*invoice, error) {
	found := t.invoices.Get(id)
	if found == nil || !found.seenBy(t.me) {
		return nil, wire.NotFound()
	}
	return found, nil
}

// Invoice reads an invoice of the account.
func (b *Billing) Invoice(ctx context.Context, id string) (commonwire.Invoice, error) {
	t := b.enter(ctx)
	defer b.leave()
	found, err := t.invoice(id)
	if err != nil {
		return commonwire.Invoice{}, err
	}
	return t.view(found), nil
}

// Invoices lists the invoices of the account, newest first.
func (b *Billing) Invoices(ctx context.Context, page wire.Page) appwire.InvoiceList {
	t := b.enter(ctx)
	defer b.leave()
	items, total := wire.Newest(t.invoiceOrder, func(i *invoice) bool { return i.seenBy(t.me) }, t.view, page)
	return appwire.InvoiceList{Items: items, Total: &total}
}

// PublicInvoice reads an invoice by its public id, which is its id.
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
	found := t.invoices.Get(id)
	if found == nil || !found.sent() {
		return nil, wire.NotFound()
	}
	return found, nil
}

// view returns the invoice as responses show it.
func (t *turn) view(i *invoice) commonwire.Invoice {
	view := commonwire.Invoice{
		ID:                   i.ID,
		Amount:               i.Amount,
		Currency:             i.Currency,
		Status:               i.Status,
		InvoiceNumber:        i.Number,
		PeriodNumber:         i.Period,
		Comment:              i.Comment,
		IssuedDate:           i.Issued,
		DueDate:              i.Due,
		Items:                slices.Clone(i.Items),
		PaymentMethods:       slices.Clone(i.Methods),
		Client:               i.Client.onInvoice(),
		Contractor:           i.Contractor.onInvoice(),
		OnchainTransactionID: i.Reference,
		Transaction:          i.Transaction,
		PaidAt:               i.PaidAt,
		InvoiceLink:          "/public/invoices/" + i.ID,
		CreatedAt:            i.CreatedAt,
		UpdatedAt:            i.UpdatedAt,
	}
	if i.document != nil {
		view.Documents = []commonwire.Document{i.document.view()}
	}
	if c := i.contract; c != nil {
		t.settle(c)
		view.Contract = &commonwire.InvoiceContract{
			ID:           c.ID,
			Type:         c.Terms.Type,
			Status:       c.Status,
			IsRecurring:  c.Terms.Period != "",
			Period:       c.Terms.Period,
			ActivationAt: c.Terms.ActivationAt,
			ExpirationAt: c.ExpirationAt,
		}
	}
	return view
}

// onContract returns the invoice as its contract shows its latest invoice, without nesting.
func (i *invoice) onContract() commonwire.ContractInvoice {
	view := commonwire.ContractInvoice{
		ID:                   i.ID,
		ClientID:             i.Client.ID,
		ContractorID:         i.Contractor.ID,
		ContractID:           i.contract.ID,
		ClientEmail:          i.Client.Profile.Email,
		ContractorEmail:      i.Contractor.Profile.Email,
		Amount:               i.Amount,
		Status:               i.Status,
		InvoiceNumber:        i.Number,
		Comment:              i.Comment,
		IssuedDate:           i.Issued,
		DueDate:              i.Due,
		OnchainTransactionID: i.Reference,
		PaidAt:               i.PaidAt,
		CreatedAt:            i.CreatedAt,
		UpdatedAt:            i.UpdatedAt,
	}
	if i.document != nil {
		view.InvoiceDocumentID = i.document.ID
	}
	return view
}
