package paperwork

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// dayFormat is the format of dates in a copy.
const dayFormat = "2 January 2006"

// RenderInvoice makes a PDF copy of an invoice. details is the index of the payment method to print, or nil for a copy
// without payment details.
func (b *Service) RenderInvoice(id string, details *int) ([]byte, error) {
	content, err := b.copyOf(id, details)
	if err != nil {
		return nil, err
	}
	return RenderCopy(content)
}

func (b *Service) copyOf(id string, details *int) (CopyContent, error) {
	t := b.beginPublic()
	defer b.commit()
	found, err := t.publicInvoice(id)
	if err != nil {
		return CopyContent{}, err
	}
	content := found.copy()
	if details == nil {
		return content, nil
	}
	if *details < 0 || *details >= len(found.Methods) {
		return CopyContent{}, wire.ValidationFailed("query", wire.Field{
			Field: "details", Code: "index_out_of_range",
			Message: "The invoice has " + strconv.Itoa(len(found.Methods)) + " payment methods, counted from 0.",
		})
	}
	content.Payment, err = detailsOf(found.Methods[*details])
	return content, err
}

// copy returns the content of a copy, without payment details. Its date is that of the invoice's last change, so two
// copies of the same invoice are the same file.
func (i *invoice) copy() CopyContent {
	content := CopyContent{
		Title: "Invoice " + i.Number,
		Facts: []CopyRow{
			{Label: "Status", Value: string(i.Status)},
			{Label: "Issued", Value: i.Issued.Format(dayFormat)},
		},
		From:       i.Contractor.copyView(),
		To:         i.Client.copyView(),
		Totals:     []CopyRow{{Label: "Amount due", Value: i.format(i.Amount) + " " + string(i.Currency)}},
		Note:       i.Comment,
		RenderedAt: i.UpdatedAt,
	}
	if !i.Due.IsZero() {
		content.Facts = append(content.Facts, CopyRow{Label: "Due", Value: i.Due.Format(dayFormat)})
	}
	if !i.PaidAt.IsZero() {
		content.Facts = append(content.Facts, CopyRow{Label: "Paid", Value: i.PaidAt.Format(dayFormat)})
		content.Totals[0].Label = "Amount paid"
	}
	if i.contract != nil {
		content.Facts = append(content.Facts,
			CopyRow{Label: "Contract", Value: i.contract.title()},
			CopyRow{Label: "Period", Value: strconv.Itoa(i.Period)})
	}
	if i.document != nil {
		content.Facts = append(content.Facts, CopyRow{Label: "Document", Value: i.document.Name})
	}
	for _, line := range i.Items {
		content.Lines = append(content.Lines, CopyLine{
			Name: line.Name, Quantity: line.Quantity.Decimal.String(),
			Price: i.format(line.Price), Total: i.format(lineTotal(line, decimalsOf(i.Currency))),
		})
	}
	return content
}

// format returns an amount with the decimals of its fiat currency, or with its own decimals for a token.
func (i *invoice) format(amount decimal.Decimal) string {
	if decimals := decimalsOf(i.Currency); decimals <= 2 {
		return amount.StringFixed(decimals)
	}
	return amount.String()
}

func (p party) copyView() CopyParty {
	view := CopyParty{Name: p.name()}
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
func (b *Service) Upload(ctx context.Context, body appwire.DocumentUpload) (commonwire.Document, error) {
	t := b.begin(ctx)
	defer b.commit()
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

// defaultMethods returns the payment methods of an invoice that names none: the contractor's wallet on Base if the
// invoice is on chain and the wallet is known, and the contractor's account by its email address.
func (i *invoice) defaultMethods(onchain bool) []commonwire.PaymentMethod {
	methods := make([]commonwire.PaymentMethod, 0, 2)
	payee := i.Contractor.Profile
	if onchain && payee.WalletAddress != "" {
		var wallet commonwire.PaymentMethod
		_ = wallet.FromOnchainAccount(commonwire.OnchainAccount{ // strings can always be encoded
			AccountType: commonwire.AccountTypeOnchain, WalletAddress: payee.WalletAddress, ChainID: "base",
			Currency: assetFor(i.Currency),
		})
		methods = append(methods, wallet)
	}
	var account commonwire.PaymentMethod
	_ = account.FromEmailAccount(commonwire.EmailAccount{AccountType: commonwire.AccountTypeEmail, Email: payee.Email})
	return append(methods, account)
}

// assetFor returns the token in which a wallet on Base receives a currency.
func assetFor(currency commonwire.InvoiceCurrency) string {
	if currency == commonwire.InvoiceCurrencyEUR {
		return "EURC"
	}
	return "USDC"
}

// methodLabels are the fields of payment methods that a payer needs, in printing order.
var methodLabels = []struct{ field, label string }{
	{"accountType", "Method"},
	{"method", "Rail"},
	{"beneficiaryName", "Beneficiary"},
	{"accountHolderBusinessName", "Account holder"},
	{"accountHolderFirstName", "Holder's first name"},
	{"accountHolderLastName", "Holder's last name"},
	{"accountHolderAddress", "Holder's address"},
	{"holderTaxId", "Holder's tax id"},
	{"ibanNumber", "IBAN"},
	{"accountNumber", "Account number"},
	{"routingNumber", "Routing number"},
	{"accountKind", "Kind of account"},
	{"bic", "BIC"},
	{"pixKey", "PIX key"},
	{"pixKeyType", "Kind of PIX key"},
	{"paymentKey", "Payment key"},
	{"phoneNumber", "Phone number"},
	{"walletAddress", "Wallet"},
	{"chainId", "Chain"},
	{"email", "Email"},
	{"currency", "Currency"},
	{"bankName", "Bank"},
	{"bankAddress", "Bank's address"},
	{"paymentReference", "Reference"},
}

// addressParts are the members of both address shapes, in printing order.
var addressParts = []string{"streetAddress", "addressLine1", "addressLine2", "zip", "postalCode", "city", "state",
	"country"}

// detailsOf returns a payment method in words.
func detailsOf(method commonwire.PaymentMethod) ([]CopyRow, error) {
	text, err := method.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	var rows []CopyRow
	for _, known := range methodLabels {
		switch value := fields[known.field].(type) {
		case string:
			rows = append(rows, CopyRow{Label: known.label, Value: value})
		case map[string]any:
			rows = append(rows, CopyRow{Label: known.label, Value: inOneLine(value)})
		}
	}
	return rows, nil
}

func inOneLine(address map[string]any) string {
	var parts []string
	for _, name := range addressParts {
		if part, ok := address[name].(string); ok && part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}
