package paperwork

import (
	"context"
	"fmt"
	"slices"
	"strconv"
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
func (t *txn) issue(created *invoice, prefix string) {
	if prefix == "" {
		prefix = "INV"
	}
	name, numbers := t.me.ID+"/"+prefix, &sequence{}
	if known := t.numbers.Get(name); known != nil {
		numbers = known
	}
	numbers.Last++
	t.numbers.Put(name, numbers)
	created.ID = uuid.NewString()
	created.Number = fmt.Sprintf("%s-%04d", prefix, numbers.Last)
	created.Creator = t.me
	created.Status = commonwire.InvoiceStatusSent
	created.Issued = dateOf(t.now)
	created.CreatedAt, created.UpdatedAt = t.now, t.now
	t.invoices.Put(created.ID, created)
	t.addInvoice(created)
}

func dateOf(at time.Time) openapi_types.Date {
	return openapi_types.Date{Time: at.UTC().Truncate(24 * time.Hour)}
}

// visibleTo reports whether an account may see the invoice: its creator always, the parties unless it is a draft.
func (i *invoice) visibleTo(who party) bool {
	return i.Creator.same(who) || i.isIssued() && (i.Client.same(who) || i.Contractor.same(who))
}

// isIssued reports whether the parties see the invoice: it is not a draft.
func (i *invoice) isIssued() bool { return i.Status != commonwire.InvoiceStatusDraft }

// invoice finds an invoice of the caller.
func (t *txn) invoice(id string) (*invoice, error) {
	invoice := t.invoices.Get(id)
	if invoice == nil || !invoice.visibleTo(t.me) {
		return nil, wire.NotFound()
	}
	return invoice, nil
}

// Invoice reads an invoice of the account.
func (b *Service) Invoice(ctx context.Context, id string) (commonwire.Invoice, error) {
	t := b.begin(ctx)
	defer b.commit()
	invoice, err := t.invoice(id)
	if err != nil {
		return commonwire.Invoice{}, err
	}
	return t.view(invoice), nil
}

// Invoices lists the invoices of the account, newest first.
func (b *Service) Invoices(ctx context.Context, page wire.Page) appwire.InvoiceList {
	t := b.begin(ctx)
	defer b.commit()
	items, total := wire.NewestFirst(t.invoiceOrder, func(i *invoice) bool { return i.visibleTo(t.me) }, t.view, page)
	return appwire.InvoiceList{Items: items, Total: &total}
}

// PublicInvoice reads an invoice by its public id, which is its id.
func (b *Service) PublicInvoice(id string) (commonwire.Invoice, error) {
	t := b.beginPublic()
	defer b.commit()
	invoice, err := t.publicInvoice(id)
	if err != nil {
		return commonwire.Invoice{}, err
	}
	return t.view(invoice), nil
}

func (t *txn) publicInvoice(id string) (*invoice, error) {
	invoice := t.invoices.Get(id)
	if invoice == nil || !invoice.isIssued() {
		return nil, wire.NotFound()
	}
	return invoice, nil
}

// view returns the invoice as responses show it.
func (t *txn) view(i *invoice) commonwire.Invoice {
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
		Client:               i.Client.invoiceView(),
		Contractor:           i.Contractor.invoiceView(),
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
		t.update(c)
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

// contractView returns the invoice as its contract shows its latest invoice, without nesting.
func (i *invoice) contractView() commonwire.ContractInvoice {
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

// CreateInvoice issues an invoice from a contractor to a client.
func (b *Service) CreateInvoice(ctx context.Context, body appwire.InvoiceCreate) (commonwire.Invoice, error) {
	t := b.begin(ctx)
	defer b.commit()
	client, contractor, wrong := t.parties(body.ClientEmail, body.ContractorEmail)
	amount, lines := total("items", body.Items, body.Currency)
	if err := invalid(append(wrong, lines...)); err != nil {
		return commonwire.Invoice{}, err
	}
	created := &invoice{
		Client:     client.withDetails(body.ClientDisplayName, body.ClientAddress),
		Contractor: contractor.withDetails(body.ContractorDisplayName, commonwire.PostalAddress{}),
		Amount:     amount,
		Currency:   body.Currency,
		Items:      body.Items,
		Due:        body.DueDate,
	}
	created.Methods = created.defaultMethods(body.Onchain != nil && *body.Onchain)
	t.issue(created, body.InvoicePrefix)
	return t.view(created), nil
}

// CreateUploadedInvoice issues an invoice for an uploaded document.
func (b *Service) CreateUploadedInvoice(
	ctx context.Context, body appwire.UploadedInvoiceCreate,
) (commonwire.Invoice, error) {
	t := b.begin(ctx)
	defer b.commit()
	client, contractor, wrong := t.parties(body.ClientEmail, body.ContractorEmail)
	wrong = append(wrong, checkAmount("amount", body.Amount, decimalsOf(body.Currency))...)
	uploaded := t.documents.Get(body.DocumentID)
	switch {
	case uploaded == nil || !uploaded.Owner.same(t.me):
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
	created := &invoice{
		Client: client, Contractor: contractor,
		Amount: body.Amount, Currency: body.Currency, Due: body.DueDate,
		DocumentID: uploaded.ID, document: uploaded,
	}
	created.Methods = created.defaultMethods(false)
	t.issue(created, "")
	return t.view(created), nil
}

// parties returns both sides of an invoice. If the contractor is not named, it is the caller. If the client of another
// contractor's invoice is not named, it is the caller too.
func (t *txn) parties(clientEmail, contractorEmail string) (client, contractor party, wrong []wire.Field) {
	contractor = t.me
	if contractorEmail != "" {
		contractor = t.resolve(contractorEmail)
	}
	switch {
	case clientEmail != "":
		client = t.resolve(clientEmail)
	case !contractor.same(t.me):
		client = t.me
	default:
		return client, contractor,
			[]wire.Field{{Field: "clientEmail", Code: "missing",
				Message: "Say who pays the invoice: give clientEmail."}}
	}
	if client.same(contractor) {
		return client, contractor,
			[]wire.Field{{Field: "clientEmail", Code: "value_error", Message: "You cannot invoice yourself."}}
	}
	return client, contractor, nil
}

// maxDigits limits the amounts that the host computes with.
const maxDigits = 36

// decimalsOf returns how many decimals an amount of a currency has.
func decimalsOf(currency commonwire.InvoiceCurrency) int32 {
	switch currency {
	case commonwire.InvoiceCurrencyJPY:
		return 0
	case commonwire.InvoiceCurrencyUSD, commonwire.InvoiceCurrencyEUR, commonwire.InvoiceCurrencyGBP,
		commonwire.InvoiceCurrencyCHF,
		commonwire.InvoiceCurrencyCAD, commonwire.InvoiceCurrencyAUD, commonwire.InvoiceCurrencyNZD,
		commonwire.InvoiceCurrencySEK,
		commonwire.InvoiceCurrencyNOK, commonwire.InvoiceCurrencyAED, commonwire.InvoiceCurrencyHKD,
		commonwire.InvoiceCurrencyBRL,
		commonwire.InvoiceCurrencyMXN:
		return 2
	case commonwire.InvoiceCurrencyUSDC, commonwire.InvoiceCurrencyUSDT:
		return 6
	default:
		return 18
	}
}

// checkAmount returns what is wrong with an amount, as field errors, or nil.
func checkAmount(field string, amount decimal.Decimal, decimals int32) []wire.Field {
	if wrong := checkNumber(field, amount.Abs(), decimals); wrong != nil || amount.IsPositive() {
		return wrong
	}
	return []wire.Field{{Field: field, Code: "greater_than", Message: "The amount must be greater than zero."}}
}

// checkNumber is checkAmount for the price or the quantity of a line. The description states no bound for them, so
// either can be zero.
func checkNumber(field string, amount decimal.Decimal, decimals int32) []wire.Field {
	wrong := func(code, message string) []wire.Field {
		return []wire.Field{{Field: field, Code: code, Message: message}}
	}
	switch {
	case amount.NumDigits() > maxDigits || amount.Exponent() > maxDigits || amount.Exponent() < -maxDigits:
		return wrong("decimal_max_digits", fmt.Sprintf("An amount has at most %d digits.", maxDigits))
	case amount.IsNegative():
		return wrong("greater_than_equal", "The value must not be less than zero.")
	case !amount.Equal(amount.Truncate(decimals)):
		return wrong("amount_precision", fmt.Sprintf("The currency has %d decimals.", decimals))
	}
	return nil
}

// lineTotal returns the total of a line, rounded to the decimals of the currency.
func lineTotal(line commonwire.LineItem, decimals int32) decimal.Decimal {
	return line.Price.Mul(line.Quantity.Decimal).Round(decimals)
}

// total adds up lines, or says which line is wrong. field is the name of the list.
func total(
	field string, lines []commonwire.LineItem, currency commonwire.InvoiceCurrency,
) (decimal.Decimal, []wire.Field) {
	decimals := decimalsOf(currency)
	sum := decimal.Zero
	var wrong []wire.Field
	for i, line := range lines {
		at := field + "." + strconv.Itoa(i)
		problems := append(
			checkNumber(at+".quantity", line.Quantity.Decimal, maxDigits),
			checkNumber(at+".price", line.Price, decimals)...,
		)
		if line.Name == "" {
			problems = append(problems,
				wire.Field{Field: at + ".name", Code: "string_too_short",
					Message: "A line must say what is invoiced."})
		}
		if wrong = append(wrong, problems...); len(problems) == 0 {
			sum = sum.Add(lineTotal(line, decimals))
		}
	}
	return sum, wrong
}

// invalid returns validation_failed for these fields, or nil if there are none.
func invalid(fields []wire.Field) error {
	if len(fields) == 0 {
		return nil
	}
	return wire.ValidationFailed("", fields...)
}
