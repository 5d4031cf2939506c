package billing

import (
	"context"
	"strconv"

	openapi_types "github.com/oapi-codegen/runtime/types"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// maxBatch is the maximum number of invoices in one batch.
const maxBatch = 100

// CreateInvoiceBatch issues one invoice for each entry, or none. In a refusal, the names of fields begin with the row,
// counted from 0.
func (b *Billing) CreateInvoiceBatch(ctx context.Context, rows appwire.InvoiceBatch) (appwire.InvoiceList, error) {
	t := b.enter(ctx)
	defer b.leave()
	if len(rows) > maxBatch {
		return appwire.InvoiceList{},
			wire.InvalidField(strconv.Itoa(maxBatch), "too_long", "A batch has at most 100 rows.")
	}
	batch := batch{turn: t, planned: map[*contract]map[int]bool{}}
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
	issued := appwire.InvoiceList{Items: make([]commonwire.Invoice, len(batch.made))}
	for i, made := range batch.made {
		t.issue(made, "")
		issued.Items[i] = t.view(made)
	}
	count := len(issued.Items)
	issued.Total = &count
	return issued, nil
}

// batch holds the invoices of a batch before they are issued.
type batch struct {
	*turn
	made    []*invoice
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
	made, wrong := under.invoice(period, lines, "items")
	if len(wrong) > 0 {
		return wrong
	}
	made.Comment = row.Memo
	if b.planned[under] == nil {
		b.planned[under] = map[int]bool{}
	}
	b.planned[under][period] = true
	b.made = append(b.made, made)
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
