package billing

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strconv"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/invoicepdf"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// dayFormat is the format of dates in a copy.
const dayFormat = "2 January 2006"

// RenderInvoice makes a PDF copy of an invoice. details is the index of the payment method to print, or nil for a copy
// without payment details.
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
	if *details < 0 || *details >= len(found.Methods) {
		return invoicepdf.Copy{}, wire.ValidationFailed("query", wire.Field{
			Field: "details", Code: "index_out_of_range",
			Message: "The invoice has " + strconv.Itoa(len(found.Methods)) + " payment methods, counted from 0.",
		})
	}
	content.Payment, err = detailsOf(found.Methods[*details])
	return content, err
}

// copy returns the content of a copy, without payment details. Its date is that of the invoice's last change, so two
// copies of the same invoice are the same file.
func (i *invoice) copy() invoicepdf.Copy {
	content := invoicepdf.Copy{
		Title: "Invoice " + i.Number,
		Facts: []invoicepdf.Row{
			{Label: "Status", Value: string(i.Status)},
			{Label: "Issued", Value: i.Issued.Format(dayFormat)},
		},
		From:       i.Contractor.onCopy(),
		To:         i.Client.onCopy(),
		Totals:     []invoicepdf.Row{{Label: "Amount due", Value: i.printed(i.Amount) + " " + string(i.Currency)}},
		Note:       i.Comment,
		RenderedAt: i.UpdatedAt,
	}
	if !i.Due.IsZero() {
		content.Facts = append(content.Facts, invoicepdf.Row{Label: "Due", Value: i.Due.Format(dayFormat)})
	}
	if !i.PaidAt.IsZero() {
		content.Facts = append(content.Facts, invoicepdf.Row{Label: "Paid", Value: i.PaidAt.Format(dayFormat)})
		content.Totals[0].Label = "Amount paid"
	}
	if i.contract != nil {
		content.Facts = append(content.Facts,
			invoicepdf.Row{Label: "Contract", Value: i.contract.title()},
			invoicepdf.Row{Label: "Period", Value: strconv.Itoa(i.Period)})
	}
	if i.document != nil {
		content.Facts = append(content.Facts, invoicepdf.Row{Label: "Document", Value: i.document.Name})
	}
	for _, line := range i.Items {
		content.Lines = append(content.Lines, invoicepdf.Line{
			Name: line.Name, Quantity: line.Quantity.Decimal.String(),
			Price: i.printed(line.Price), Total: i.printed(lineTotal(line, decimalsOf(i.Currency))),
		})
	}
	return content
}

// printed returns an amount with the decimals of its fiat currency, or with its own decimals for a token.
func (i *invoice) printed(amount decimal.Decimal) string {
	if decimals := decimalsOf(i.Currency); decimals <= 2 {
		return amount.StringFixed(decimals)
	}
	return amount.String()
}

func (p party) onCopy() invoicepdf.Party {
	view := invoicepdf.Party{Name: p.name()}
	if address := p.Profile.Address; address != nil {
		view.Lines = addressLines(*address)
	}
	if p.Profile.Email != view.Name {
		view.Lines = append(view.Lines, p.Profile.Email)
	}
	return view
}

// addressLines returns the lines of an address, as on an envelope.
func addressLines(a commonwire.PostalAddress) []string {
	return []string{a.StreetAddress, a.AddressLine2, join(a.Zip, a.City), join(a.State, a.Country)}
}

func join(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + " " + second
}

// document is an uploaded file. The host stores its metadata only.
type document struct {
	ID, Name, Key string
	Kind          appwire.DocumentKind // "" if it was not given
	Owner         party
}

func (d *document) view() commonwire.Document {
	return commonwire.Document{ID: d.ID, Name: d.Name, Key: d.Key}
}

// Upload stores a document.
func (b *Billing) Upload(ctx context.Context, body appwire.DocumentUpload) (commonwire.Document, error) {
	t := b.enter(ctx)
	defer b.leave()
	switch size := len(body.Base64); {
	case size == 0:
		return commonwire.Document{}, wire.InvalidField("base64", "string_too_short", "The document is empty.")
	case size > t.settings.MaxUpload:
		refusal := wire.PayloadTooLarge()
		refusal.Message = fmt.Sprintf("A document has at most %d bytes.", t.settings.MaxUpload)
		return commonwire.Document{}, refusal
	}
	stored := &document{
		ID:    uuid.NewString(),
		Name:  cmp.Or(body.Name, body.OriginName, "document"),
		Kind:  body.Type,
		Owner: t.me,
	}
	stored.Key = path.Join("documents", cmp.Or(string(body.Type), "other"), stored.ID)
	t.documents.Put(stored.ID, stored)
	return stored.view(), nil
}
