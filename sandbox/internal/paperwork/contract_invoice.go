package paperwork

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	openapi_types "github.com/oapi-codegen/runtime/types"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// CreateInvoiceFromContract issues the invoice of the next period of a contract. It has the contract's own line, and
// the lines of the request.
func (b *Service) CreateInvoiceFromContract(
	ctx context.Context, contractID string, body appwire.ContractInvoiceCreate,
) (commonwire.Invoice, error) {
	t := b.begin(ctx)
	defer b.commit()
	under, err := t.contract(contractID)
	if err != nil {
		return commonwire.Invoice{}, err
	}
	if under.Status != commonwire.ContractStatusActive {
		return commonwire.Invoice{}, wire.Conflict("Only an active contract can be invoiced.")
	}
	if under.invoicedFrom(body.PeriodStart) {
		return commonwire.Invoice{}, wire.Conflict("The period that starts then is already invoiced.")
	}
	created, wrong := under.invoice(under.nextPeriod(), append(under.ownLines(body.PeriodStart), body.AddItems...),
		"addItems")
	if err := invalid(wrong); err != nil {
		return commonwire.Invoice{}, err
	}
	created.PeriodStart = body.PeriodStart
	created.Contractor = created.Contractor.withDetails("", body.ContractorAddress)
	t.issue(created, body.InvoicePrefix)
	return t.view(created), nil
}

// invoice makes the invoice of one period, and does not issue it. field is the name of the list of lines.
func (c *contract) invoice(period int, lines []commonwire.LineItem, field string) (*invoice, []wire.Field) {
	currency := commonwire.InvoiceCurrency(c.Terms.Fields.Currency)
	if len(lines) == 0 {
		return nil, []wire.Field{{Field: field, Code: "missing",
			Message: "The contract has no amount, so the invoice needs lines."}}
	}
	if currency == "" {
		return nil, []wire.Field{{Field: field, Code: "value_error", Message: "The contract has no currency."}}
	}
	amount, wrong := total(field, lines, currency)
	created := &invoice{
		Client: c.Client, Contractor: c.Contractor, ContractID: c.ID, contract: c, Period: period,
		Amount: amount, Currency: currency, Items: lines,
	}
	if created.Methods = slices.Clone(c.Methods); len(created.Methods) == 0 {
		onchain := slices.Contains(c.Terms.PriorityMethods, commonwire.PriorityMethodCrypto)
		created.Methods = created.defaultMethods(onchain)
	}
	return created, wrong
}

// ownLines returns the contract's own line for a period, if the contract has an amount.
func (c *contract) ownLines(periodStart openapi_types.Date) []commonwire.LineItem {
	if !c.Terms.Fields.Amount.IsPositive() {
		return nil
	}
	name := c.title()
	if !periodStart.IsZero() {
		name = fmt.Sprintf("%s, period from %s", name, periodStart)
	}
	one := wire.NumberOf(decimal.NewFromInt(1))
	return []commonwire.LineItem{{Name: name, Quantity: one, Price: c.Terms.Fields.Amount}}
}

// nextPeriod returns the period after the last invoiced one.
func (c *contract) nextPeriod() int {
	last := 0
	for _, issued := range c.invoices {
		last = max(last, issued.Period)
	}
	return last + 1
}

// invoiced reports whether a period has an invoice that is not cancelled.
func (c *contract) invoiced(period int) bool {
	return slices.ContainsFunc(c.invoices, func(i *invoice) bool {
		return i.Period == period && i.Status != commonwire.InvoiceStatusCancelled
	})
}

func (c *contract) invoicedFrom(start openapi_types.Date) bool {
	return !start.IsZero() && slices.ContainsFunc(c.invoices, func(i *invoice) bool {
		return i.PeriodStart.Equal(start.Time) && i.Status != commonwire.InvoiceStatusCancelled
	})
}

// replaced reports whether the period of a cancelled invoice has another invoice that is not cancelled.
func (i *invoice) replaced() bool {
	return i.Status == commonwire.InvoiceStatusCancelled && i.contract != nil &&
		(i.contract.invoiced(i.Period) || i.contract.invoicedFrom(i.PeriodStart))
}

// maxBatch is the maximum number of invoices in one batch.
const maxBatch = 100

// CreateInvoiceBatch issues one invoice for each entry, or none. In a refusal, the names of fields begin with the row,
// counted from 0.
func (b *Service) CreateInvoiceBatch(ctx context.Context, rows appwire.InvoiceBatch) (appwire.InvoiceList, error) {
	t := b.begin(ctx)
	defer b.commit()
	if len(rows) > maxBatch {
		return appwire.InvoiceList{},
			wire.InvalidField(strconv.Itoa(maxBatch), "too_long", "A batch has at most 100 rows.")
	}
	batch := batch{txn: t, planned: map[*contract]map[int]bool{}}
	var wrong []wire.Field
	for i, row := range rows {
		for _, problem := range batch.plan(row) {
			problem.Field = strconv.Itoa(i) + "." + problem.Field
			wrong = append(wrong, problem)
		}
	}
	if err := invalid(wrong); err != nil {
		return appwire.InvoiceList{}, err
	}
	issued := appwire.InvoiceList{Items: make([]commonwire.Invoice, len(batch.drafts))}
	for i, created := range batch.drafts {
		t.issue(created, "")
		issued.Items[i] = t.view(created)
	}
	count := len(issued.Items)
	issued.Total = &count
	return issued, nil
}

// batch holds the invoices of a batch before they are issued.
type batch struct {
	*txn
	drafts  []*invoice
	planned map[*contract]map[int]bool // periods of the rows so far
}

// plan makes the invoice of one row, or returns what is wrong with the row.
func (b *batch) plan(row appwire.InvoiceBatchEntry) []wire.Field {
	under, err := b.contract(row.ContractID)
	switch {
	case err != nil:
		return []wire.Field{{Field: "contractId", Code: "not_found", Message: "There is no such contract."}}
	case under.Status != commonwire.ContractStatusActive:
		return []wire.Field{{Field: "contractId", Code: "conflict",
			Message: "Only an active contract can be invoiced."}}
	}
	period := b.next(under)
	if row.Period != nil {
		period = *row.Period
	}
	switch {
	case period < 1:
		return []wire.Field{{Field: "period", Code: "greater_than_equal", Message: "Periods are counted from 1."}}
	case under.invoiced(period) || b.planned[under][period]:
		return []wire.Field{{Field: "period", Code: "conflict", Message: "The period is already invoiced."}}
	}
	lines := row.Items
	if len(lines) == 0 {
		lines = under.ownLines(openapi_types.Date{})
	}
	created, wrong := under.invoice(period, lines, "items")
	if len(wrong) > 0 {
		return wrong
	}
	created.Comment = row.Memo
	if b.planned[under] == nil {
		b.planned[under] = map[int]bool{}
	}
	b.planned[under][period] = true
	b.drafts = append(b.drafts, created)
	return nil
}

// next returns the period after the last period that is invoiced or planned.
func (b *batch) next(under *contract) int {
	next := under.nextPeriod()
	for period := range b.planned[under] {
		next = max(next, period+1)
	}
	return next
}
