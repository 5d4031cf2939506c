package billing

import (
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/invoicepdf"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// dayFormat is how a copy writes dates.
const dayFormat = "2 January 2006"

// RenderInvoice makes a PDF copy of an invoice. Details is the index of the payment method to print, nil for a copy
// without payment details. Source: Invoice (reference endpoints); Public utilities.
func (b *Billing) RenderInvoice(id string, details *int) ([]byte, error) {
	content, err := b.copyOf(id, details)
	if err != nil {
		return nil, err
	}
	return invoicepdf.Render(content)
}

func (b *Billing) copyOf(id string, details *int) (invoicepdf.Copy, error) {
	t := b.enterPublic()
	defer b.leave()
	found, err := t.publicInvoice(id)
	if err != nil {
		return invoicepdf.Copy{}, err
	}
	content := found.copy()
	if details == nil {
		return content, nil
	}
	if *details < 0 || *details >= len(found.methods) {
		return invoicepdf.Copy{}, refuse.ValidationFailed("query", refuse.Field{
			Field: "details", Code: "index_out_of_range",
			Message: "The invoice has " + strconv.Itoa(len(found.methods)) + " payment methods, counted from 0.",
		})
	}
	content.Payment, err = detailsOf(found.methods[*details])
	return content, err
}

// copy is what a copy says, without payment details. It is dated by the invoice's last change, so that two copies of the
// same invoice are the same file.
func (i *invoice) copy() invoicepdf.Copy {
	content := invoicepdf.Copy{
		Title: "Invoice " + i.number,
		Facts: []invoicepdf.Row{
			{Label: "Status", Value: string(i.status)},
			{Label: "Issued", Value: i.issued.Format(dayFormat)},
		},
		From:       i.contractor.onCopy(),
		To:         i.client.onCopy(),
		Totals:     []invoicepdf.Row{{Label: "Amount due", Value: i.printed(i.amount) + " " + string(i.currency)}},
		Note:       i.comment,
		RenderedAt: i.updatedAt,
	}
	if !i.due.IsZero() {
		content.Facts = append(content.Facts, invoicepdf.Row{Label: "Due", Value: i.due.Format(dayFormat)})
	}
	if !i.paidAt.IsZero() {
		content.Facts = append(content.Facts, invoicepdf.Row{Label: "Paid", Value: i.paidAt.Format(dayFormat)})
		content.Totals[0].Label = "Amount paid"
	}
	if i.contract != nil {
		content.Facts = append(content.Facts,
			invoicepdf.Row{Label: "Contract", Value: i.contract.title()},
			invoicepdf.Row{Label: "Period", Value: strconv.Itoa(i.period)})
	}
	if i.document != nil {
		content.Facts = append(content.Facts, invoicepdf.Row{Label: "Document", Value: i.document.name})
	}
	for _, line := range i.items {
		content.Lines = append(content.Lines, invoicepdf.Line{
			Name: line.Name, Quantity: line.Quantity.Decimal.String(),
			Price: i.printed(line.Price), Total: i.printed(lineTotal(line, decimalsOf(i.currency))),
		})
	}
	return content
}

// printed is an amount with the decimals of a fiat currency, or with those that it has.
func (i *invoice) printed(amount decimal.Decimal) string {
	if decimals := decimalsOf(i.currency); decimals <= 2 {
		return amount.StringFixed(decimals)
	}
	return amount.String()
}

func (p party) onCopy() invoicepdf.Party {
	view := invoicepdf.Party{Name: p.name()}
	if address := p.profile.Address; address != nil {
		view.Lines = addressLines(*address)
	}
	if p.profile.Email != view.Name {
		view.Lines = append(view.Lines, p.profile.Email)
	}
	return view
}

// addressLines is an address as it stands on an envelope. Source: Contact (platform API), address shapes.
func addressLines(a commonwire.PostalAddress) []string {
	return []string{a.StreetAddress, a.AddressLine2, join(a.Zip, a.City), join(a.State, a.Country)}
}

func join(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + " " + second
}
