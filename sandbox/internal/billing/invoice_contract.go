package billing

import (
	"context"
	"fmt"
	"slices"

	openapi_types "github.com/oapi-codegen/runtime/types"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// CreateInvoiceFromContract issues the invoice of the next period of a contract. It has the contract's own line, and
// the lines of the request.
func (b *Billing) CreateInvoiceFromContract(
	ctx context.Context, contractID string, body appwire.ContractInvoiceCreate,
) (commonwire.Invoice, error) {
	t := b.enter(ctx)
	defer b.leave()
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
	made, wrong := under.invoice(under.nextPeriod(), append(under.ownLines(body.PeriodStart), body.AddItems...),
		"addItems")
	if err := invalid(wrong); err != nil {
		return commonwire.Invoice{}, err
	}
	made.PeriodStart = body.PeriodStart
	made.Contractor = made.Contractor.renamed("", body.ContractorAddress)
	t.issue(made, body.InvoicePrefix)
	return t.view(made), nil
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
	made := &invoice{
		Client: c.Client, Contractor: c.Contractor, ContractID: c.ID, contract: c, Period: period,
		Amount: amount, Currency: currency, Items: lines,
	}
	if made.Methods = slices.Clone(c.Methods); len(made.Methods) == 0 {
		made.Methods = made.ownMethods(slices.Contains(c.Terms.PriorityMethods, commonwire.PriorityMethodCrypto))
	}
	return made, wrong
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
	return []commonwire.LineItem{{Name: name, Quantity: wire.NumberOf(decimal.NewFromInt(1)), Price: c.Terms.Fields.Amount}}
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
