package paperwork_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/paperwork"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// office is paperwork with a clock that moves only by Advance.
type office struct {
	*paperwork.Service
	config paperwork.Config
	t      testing.TB
	clock  *clock.Clock
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newOffice(t testing.TB) *office {
	t.Helper()
	clk := clock.New(func() time.Time { return start })
	kept := new(storetest.Encoded)
	t.Cleanup(func() { assert.Empty(t, kept.Stale()) })
	config := paperwork.Config{
		Store:    kept,
		Clock:    clk,
		Settings: func() *deployment.Settings { s := deployment.DefaultSettings(); s.MaxUpload = 100; return &s },
		Profile: func(ctx context.Context) paperwork.Profile {
			return paperwork.Profile{Email: wire.CallerOf(ctx).Email,
				WalletAddress: "0x1111111111111111111111111111111111111111"}
		},
	}
	return &office{t: t, clock: clk, Service: paperwork.New(config), config: config}
}

// reopen opens the paperwork again from its store, and asserts that every party reads the same.
func (o *office) reopen() {
	o.t.Helper()
	read, records := o.read(), o.Records()
	o.Service = paperwork.New(o.config)
	require.Equal(o.t, read, o.read())
	require.Equal(o.t, records, o.Records())
}

// read returns what every party reads, in JSON.
func (o *office) read() string {
	o.t.Helper()
	var all []any
	for _, who := range []string{acme, ada, eve} {
		all = append(all, o.Contracts(as(who), wire.Page{Limit: 100}), o.Invoices(as(who), wire.Page{Limit: 100}))
	}
	text, err := json.Marshal(all, json.Deterministic(true))
	require.NoError(o.t, err)
	return string(text)
}

// as returns the context of a request of the account with this email.
func as(email string) context.Context {
	return wire.WithCaller(context.Background(), wire.Caller{Email: email, Account: wire.Self})
}

const (
	acme = "acme@example.com" // pays
	ada  = "ada@example.com"  // works
	eve  = "eve@example.com"  // has no part in it
)

func line(name, quantity, price string) commonwire.LineItem {
	return commonwire.LineItem{
		Name: name, Quantity: wire.NumberOf(decimal.RequireFromString(quantity)),
		Price: decimal.RequireFromString(price),
	}
}

// contract is an active contract between acme and ada, of 100 EUR a month.
func (o *office) contract() string {
	o.t.Helper()
	created, err := o.CreateContract(as(acme), appwire.ContractCreate{
		ContractorEmail: ada, Type: commonwire.ContractTypeService, Period: "monthly",
		Fields: appwire.ContractFields{Amount: decimal.NewFromInt(100), Currency: commonwire.FiatCurrencyEUR,
			JobTitle: "Engineer"},
	})
	require.NoError(o.t, err)
	o.clock.Advance(time.Minute)
	o.status(created.ID, commonwire.ContractStatusActive)
	return created.ID
}

func (o *office) status(contract string, want commonwire.ContractStatus) {
	o.t.Helper()
	read, err := o.Contract(as(acme), contract)
	require.NoError(o.t, err)
	require.Equal(o.t, want, read.Status)
}

// invoice is an invoice from ada to acme.
func (o *office) invoice() commonwire.Invoice {
	o.t.Helper()
	created, err := o.CreateInvoice(as(ada), appwire.InvoiceCreate{
		ClientEmail: acme, Currency: commonwire.InvoiceCurrencyEUR,
		Items: []commonwire.LineItem{line("Work", "2", "50")},
	})
	require.NoError(o.t, err)
	return created
}

func (o *office) update(id string, body commonwire.InvoiceUpdate) (commonwire.Invoice, error) {
	return o.UpdateInvoice(as(ada), id, body)
}

// fields maps the names of failed fields to their codes.
func fields(t testing.TB, err error) map[string]string {
	t.Helper()
	var refusal *wire.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, "validation_failed", refusal.Code)
	found := map[string]string{}
	for _, field := range refusal.Details["fields"].([]wire.Field) {
		found[field.Field] = field.Code
	}
	return found
}

func TestResetDeletesEverything(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	contract, invoice := o.contract(), o.invoice()
	o.Reset()
	_, err := o.Contract(as(acme), contract)
	require.ErrorIs(t, err, wire.NotFound())
	_, err = o.PublicInvoice(invoice.ID)
	require.ErrorIs(t, err, wire.NotFound())
	assert.Equal(t, "INV-0001", o.invoice().InvoiceNumber)
}

func TestListsAreNewestFirstAndPaged(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var numbers []string
	for range 60 {
		numbers = append(numbers, o.invoice().InvoiceNumber)
	}
	first := o.Invoices(as(acme), wire.Page{})
	assert.Len(t, first.Items, 50)
	assert.Equal(t, 60, *first.Total)
	assert.Equal(t, numbers[59], first.Items[0].InvoiceNumber)

	second := o.Invoices(as(acme), wire.Page{Limit: 20, Offset: 50})
	assert.Len(t, second.Items, 10)
	assert.Equal(t, numbers[9], second.Items[0].InvoiceNumber)
	beyond := o.Invoices(as(acme), wire.Page{Offset: 60})
	assert.NotNil(t, beyond.Items, "an empty list is a list")
	assert.Empty(t, beyond.Items)
	assert.Zero(t, *o.Invoices(as(eve), wire.Page{}).Total)
}

func TestUploads(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	stored, err := o.Upload(as(ada),
		appwire.DocumentUpload{Base64: make([]byte, 100), Type: appwire.DocumentKindInvoice, OriginName: "a.pdf"})
	require.NoError(t, err)
	assert.Equal(t, "a.pdf", stored.Name)
	assert.Equal(t, "documents/invoice/"+stored.ID, stored.Key)

	_, err = o.Upload(as(ada), appwire.DocumentUpload{Base64: make([]byte, 101)})
	require.ErrorIs(t, err, wire.PayloadTooLarge())
	_, err = o.Upload(as(ada), appwire.DocumentUpload{})
	assert.Equal(t, map[string]string{"base64": "string_too_short"}, fields(t, err))
	apart, err := o.Upload(as(ada), appwire.DocumentUpload{Base64: []byte("x"), Type: "invoice", Context: "contract"})
	require.NoError(t, err)
	assert.Equal(t, "documents/invoice/"+apart.ID, apart.Key)
}

// TestPaperworkIsRestoredFromStore opens the same store again, compares, and continues.
func TestPaperworkIsRestoredFromStore(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	contract, first := o.contract(), o.invoice()
	_, err := o.ReplacePaymentMethods(as(ada), contract, first.PaymentMethods)
	require.NoError(t, err)
	uploaded, err := o.Upload(as(acme), appwire.DocumentUpload{Name: "bill.pdf", Base64: []byte("%PDF"),
		Type: appwire.DocumentKindInvoice})
	require.NoError(t, err)
	billed, err := o.CreateUploadedInvoice(as(acme), appwire.UploadedInvoiceCreate{
		DocumentID: uploaded.ID, ContractorEmail: ada, Amount: decimal.NewFromInt(5), Currency: "EUR",
	})
	require.NoError(t, err)
	_, err = o.UpdateInvoice(as(acme), billed.ID,
		commonwire.InvoiceUpdate{Status: "paid", OnchainTransactionID: referring("ref 1")})
	require.NoError(t, err)
	_, err = o.CreateInvoiceFromContract(as(ada), contract, appwire.ContractInvoiceCreate{InvoicePrefix: "ADA"})
	require.NoError(t, err)
	pdf, err := o.RenderInvoice(billed.ID, nil)
	require.NoError(t, err)

	o.reopen()
	again, err := o.RenderInvoice(billed.ID, nil)
	require.NoError(t, err)
	assert.Equal(t, pdf, again)
	_, err = o.UpdateInvoice(as(ada), first.ID,
		commonwire.InvoiceUpdate{Status: "paid", OnchainTransactionID: referring("ref 1")})
	assert.ErrorIs(t, err, wire.Conflict(""), "the reference belongs to another invoice")
	second, err := o.CreateInvoiceFromContract(as(ada), contract, appwire.ContractInvoiceCreate{InvoicePrefix: "ADA"})
	require.NoError(t, err)
	assert.Equal(t, "ADA-0002", second.InvoiceNumber)
	assert.Equal(t, 2, second.PeriodNumber)

	o.Reset()
	o.reopen()
	assert.Zero(t, o.Records())
}

func TestListProductsActiveOnly(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	products := paperwork.NewProducts(now)
	yes, no := true, false
	list := func(activeOnly *bool) []referencewire.MerchantProduct {
		response, err := products.ListMerchantProducts(t.Context(),
			referencewire.ListMerchantProductsParams{ActiveOnly: activeOnly})
		require.NoError(t, err)
		return response.Body.([]referencewire.MerchantProduct)
	}
	assert.Equal(t, list(&yes), list(nil))
	assert.Greater(t, len(list(&no)), len(list(nil)))

	ids := map[string]bool{}
	for _, product := range list(&no) {
		ids[product.ID] = true
		assert.Equal(t, now, product.CreatedAt)
	}
	assert.Len(t, ids, len(list(&no)))
	for _, product := range list(nil) {
		assert.True(t, product.Active, product.Name)
	}
}
