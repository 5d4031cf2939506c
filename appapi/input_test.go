package appapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// paperWallet signs nothing of worth.
type paperWallet struct {
	address string
	err     error
	signed  []string
}

func (w *paperWallet) Address() string { return w.address }

func (w *paperWallet) SignMessage(_ context.Context, message []byte) (string, error) {
	w.signed = append(w.signed, string(message))
	return "0xsigned:" + string(message), w.err
}

func TestBadInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	type call = func(context.Context, *appapi.Client) error
	keyed := func(to appapi.Destination, key moneymovement.Key, options ...moneymovement.CallOption) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Transfers.Send(ctx, to, key, options...)
			return err
		}
	}
	transfer := func(to appapi.Destination) call { return keyed(to, "k") }
	invoice := func(change func(*appapi.InvoiceCreate)) call {
		return func(ctx context.Context, app *appapi.Client) error {
			asked := appapi.InvoiceCreate{Currency: "USD", Items: lines()}
			change(&asked)
			_, err := app.Invoices.Create(ctx, asked)
			return err
		}
	}
	batch := func(batch ...appapi.InvoiceBatchEntry) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Invoices.CreateBatch(ctx, batch)
			return err
		}
	}
	contact := func(account moneymovement.ContactAccount) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Contacts.Create(ctx, appapi.ContactCreate{Account: account})
			return err
		}
	}
	get := func(id string) call {
		return func(ctx context.Context, app *appapi.Client) error { _, err := app.Invoices.Get(ctx, id); return err }
	}
	details := func(id string, by moneymovement.CardSigner) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Cards.Details(ctx, id, by)
			return err
		}
	}
	list := func(params appapi.ListTransactionsParams) call {
		return func(ctx context.Context, app *appapi.Client) error {
			for _, err := range app.Transactions.All(ctx, params) {
				return err
			}
			return nil
		}
	}
	byKey := func(key moneymovement.Key) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, _, err := app.Transfers.ByKey(ctx, key)
			return err
		}
	}
	upload := func(document appapi.DocumentUpload) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Documents.Upload(ctx, document)
			return err
		}
	}
	for name, c := range map[string]struct {
		call        call
		field, code string
	}{
		"a transfer to nothing":              {transfer(nil), "destination", "unknown_variant"},
		"a transfer by pointer":              {transfer(&appapi.ToQuote{QuoteID: "q"}), "destination", "unknown_variant"},
		"a transfer by a nil pointer":        {transfer((*appapi.ToContact)(nil)), "destination", "unknown_variant"},
		"a transfer to no contact":           {transfer(appapi.ToContact{Amount: price("1")}), "contactId|invoiceId|quoteId", "exactly_one_of"},
		"a transfer to no quote":             {transfer(appapi.ToQuote{}), "contactId|invoiceId|quoteId", "exactly_one_of"},
		"a transfer to no invoice":           {transfer(appapi.ToInvoice{}), "contactId|invoiceId|quoteId", "exactly_one_of"},
		"a transfer without amount":          {transfer(appapi.ToContact{ContactID: id1}), "amount", "missing"},
		"a negative transfer":                {transfer(appapi.ToContact{ContactID: id1, Amount: price("-1")}), "amount", "too_small"},
		"an amount like a bomb":              {transfer(appapi.ToContact{ContactID: id1, Amount: decimal.New(1, 999_999_999)}), "amount", "too_long"},
		"a contact that is no UUID":          {transfer(appapi.ToContact{ContactID: "ct_1", Amount: price("1")}), "contactId", "pattern"},
		"an invoice that is no UUID":         {transfer(appapi.ToInvoice{InvoiceID: "42"}), "invoiceId", "pattern"},
		"a transfer with a bad key":          {keyed(appapi.ToQuote{QuoteID: "q"}, "a b"), "Idempotency-Key", "pattern"},
		"a transfer without a key":           {keyed(appapi.ToQuote{QuoteID: "q"}, ""), "Idempotency-Key", "missing"},
		"a transfer with a key in an option": {keyed(appapi.ToQuote{QuoteID: "q"}, "", moneymovement.IdempotencyKey("k")), "Idempotency-Key", "missing"},
		"a transfer with two keys":           {keyed(appapi.ToQuote{QuoteID: "q"}, "k", moneymovement.IdempotencyKey("l")), "Idempotency-Key", "exactly_one_of"},
		"a lookup of no key":                 {byKey(""), "idempotency_key", "missing"},
		"a lookup of a bad key":              {byKey("a\n"), "idempotency_key", "pattern"},
		"an invoice without lines":           {invoice(func(i *appapi.InvoiceCreate) { i.Items = nil }), "items", "missing"},
		"an invoice without currency":        {invoice(func(i *appapi.InvoiceCreate) { i.Currency = "" }), "currency", "missing"},
		"a line without a name":              {invoice(func(i *appapi.InvoiceCreate) { i.Items[0].Name = "" }), "items[0].name", "missing"},
		"a line without a price":             {invoice(func(i *appapi.InvoiceCreate) { i.Items[0].Price = price("0") }), "items[0].price", "missing"},
		"a quantity like a bomb":             {invoice(func(i *appapi.InvoiceCreate) { i.Items[0].Quantity = moneymovement.NewNumber(decimal.New(1, -99_999)) }), "items[0].quantity", "too_long"},
		"an empty batch":                     {batch(), "[]", "missing"},
		"a batch with one bad row":           {batch(appapi.InvoiceBatchEntry{ContractID: id1}, appapi.InvoiceBatchEntry{ContractID: "no"}), "[1].contractId", "pattern"},
		"a batch with one bad line":          {batch(appapi.InvoiceBatchEntry{ContractID: id1, Items: append(lines(), moneymovement.LineItem{Name: "x", Price: price("1")})}), "[0].items[1].quantity", "missing"},
		"a contact without account":          {contact(moneymovement.ContactAccount{}), "account.accountType", "missing"},
		"a wallet without address":           {contact(appapi.Onchain(moneymovement.OnchainAccount{ChainID: "base", Currency: "USDC"})), "account.walletAddress", "missing"},
		"a contact without email":            {contact(appapi.EmailContact("")), "account.email", "missing"},
		"no invoice":                         {get(""), "invoice_id", "missing"},
		"an invoice that climbs":             {get("../contracts"), "invoice_id", "pattern"},
		"an invoice called like a path":      {get("uploaded"), "invoice_id", "pattern"},
		"details of no card":                 {details("", &paperWallet{address: "0x1"}), "card_id", "missing"},
		"details of a card that says more":   {details("card_1 at 0\nPay all", &paperWallet{address: "0x1"}), "card_id", "pattern"},
		"details without a wallet":           {details("card_1", nil), "wallet", "missing"},
		"details by a wallet without a key":  {details("card_1", &paperWallet{}), "wallet", "missing"},
		"a page of 101":                      {list(appapi.ListTransactionsParams{Limit: 101}), "limit", "too_large"},
		"a page of -1":                       {list(appapi.ListTransactionsParams{Limit: -1}), "limit", "too_small"},
		"an offset of -1":                    {list(appapi.ListTransactionsParams{Offset: -1}), "offset", "too_small"},
		"an empty filter":                    {list(appapi.ListTransactionsParams{Type: []string{"sepa", ""}}), "type[1]", "missing"},
		"no document":                        {upload(appapi.DocumentUpload{}), "base64", "missing"},
		"an empty document":                  {upload(appapi.DocumentUpload{Content: strings.NewReader("")}), "base64", "missing"},
		"a document with a name that is not": {upload(appapi.DocumentUpload{Content: strings.NewReader("x"), Name: "\xff"}), "name", "unencodable"},
		"a key on a read": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Account.App(ctx, moneymovement.IdempotencyKey("k"))
			return err
		}, "Idempotency-Key", "not_applicable"},
		"a limit like a bomb": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Cards.SetLimit(ctx, "card_1", appapi.CardLimitUpdate{MonthlyLimit: moneymovement.Set(moneymovement.NewNumber(decimal.New(1, 99_999)))})
			return err
		}, "monthlyLimit", "too_long"},
		"a limit below nothing": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Cards.SetLimit(ctx, "card_1", appapi.CardLimitUpdate{DailyLimit: moneymovement.Set(moneymovement.NewNumber(price("-0.01")))})
			return err
		}, "dailyLimit", "too_small"},
		"a quote of nothing": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Quotes.SubmitPayin(ctx, "")
			return err
		}, "quoteId", "missing"},
		"a payment method without a kind": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Contracts.ReplacePaymentMethods(ctx, id1, []moneymovement.PaymentMethod{{}})
			return err
		}, "paymentMethods[0].accountType", "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			server, app := serve(t, answering(200, `{}`))
			refused, is := errors.AsType[*errors.InvalidInput](c.call(t.Context(), app))
			require.True(t, is)
			require.Len(t, refused.Fields, 1, "%v", refused)
			assert.Equal(t, c.field, refused.Fields[0].Field)
			assert.Equal(t, c.code, refused.Fields[0].Code)
			assert.NotEmpty(t, refused.Fields[0].Message)
			assert.Empty(t, server.requests())
		})
	}
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	_, app := serve(t, losing)
	_, err := app.Invoices.Create(t.Context(), appapi.InvoiceCreate{Items: []moneymovement.LineItem{{}}})
	assert.EqualError(t, err, "CreateInvoice: invalid input: currency is required; "+
		"items[0].name is required; items[0].price is required and not zero; items[0].quantity is required and not zero")
}
