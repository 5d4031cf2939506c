package appapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
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
	keyed := func(to appapi.Destination, key moneymovement.Key) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Transfers.Send(ctx, to, key)
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
	contact := func(account model.ContactAccount) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Contacts.Create(ctx, appapi.ContactCreate{Account: account})
			return err
		}
	}
	get := func(id string) call {
		return func(ctx context.Context, app *appapi.Client) error { _, err := app.Invoices.Get(ctx, id); return err }
	}
	quote := func(asked appapi.BalancePayoutQuote) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Quotes.Payout(ctx, asked)
			return err
		}
	}
	details := func(id string, by model.CardSigner) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Cards.Details(ctx, id, by)
			return err
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
		"a transfer to nothing": {transfer(nil), "destination", "unknown_variant"},
		"a transfer by pointer": {transfer(&appapi.ToQuote{QuoteID: "q"}), "destination",
			"unknown_variant"},
		"a transfer by a nil pointer": {transfer((*appapi.ToContact)(nil)), "destination", "unknown_variant"},
		"a transfer to no contact": {transfer(appapi.ToContact{Amount: price("1")}),
			"contactId|invoiceId|quoteId", "exactly_one_of"},
		"a transfer to no quote": {transfer(appapi.ToQuote{}), "contactId|invoiceId|quoteId",
			"exactly_one_of"},
		"a transfer to no invoice": {transfer(appapi.ToInvoice{}), "contactId|invoiceId|quoteId",
			"exactly_one_of"},
		"a transfer without amount": {transfer(appapi.ToContact{ContactID: id1}), "amount", "missing"},
		"an amount like a bomb": {transfer(appapi.ToContact{ContactID: id1,
			Amount: decimal.New(1, 999_999_999)}), "amount", "too_long"},
		"a quote for a payout's id": {quote(appapi.BalancePayoutQuote{ContactID: "po_1"}), "contactId",
			"invalid_id"},
		"a quote for a contact with a space": {quote(appapi.BalancePayoutQuote{ContactID: "ct 1"}), "contactId",
			"pattern"},
		"a contact by a client's id": {func(ctx context.Context, app *appapi.Client) error {
			return app.Contacts.Delete(ctx, "cl_1")
		}, "contact_id", "invalid_id"},
		"a contract called like a path": {func(ctx context.Context, app *appapi.Client) error {
			return app.Contracts.Delete(ctx, "invoices")
		}, "contract_id", "pattern"},
		"a card called like a path": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Cards.Freeze(ctx, "pre-approve")
			return err
		}, "card_id", "pattern"},
		"a contact that is no UUID": {transfer(appapi.ToContact{ContactID: "ct_1", Amount: price("1")}),
			"contactId", "pattern"},
		"an invoice that is no UUID": {transfer(appapi.ToInvoice{InvoiceID: "42"}), "invoiceId", "pattern"},
		"a transfer with a bad key": {keyed(appapi.ToQuote{QuoteID: "q"}, "a b"), "Idempotency-Key",
			"pattern"},
		"a transfer without a key": {keyed(appapi.ToQuote{QuoteID: "q"}, ""), "Idempotency-Key", "missing"},
		"a lookup of no key":       {byKey(""), "idempotency_key", "missing"},
		"a lookup of a bad key":    {byKey("a\n"), "idempotency_key", "pattern"},
		"a quantity like a bomb": {invoice(func(i *appapi.InvoiceCreate) {
			i.Items[0].Quantity = model.NewNumber(decimal.New(1, -99_999))
		}), "items[0].quantity", "too_long"},
		"a wallet without address": {contact(appapi.Onchain(model.OnchainAccount{ChainID: "base",
			Currency: "USDC"})), "account.walletAddress", "missing"},
		"a contact without email":       {contact(appapi.EmailContact("")), "account.email", "missing"},
		"no invoice":                    {get(""), "invoice_id", "missing"},
		"an invoice that climbs":        {get("../contracts"), "invoice_id", "pattern"},
		"an invoice called like a path": {get("uploaded"), "invoice_id", "pattern"},
		"details of no card":            {details("", &paperWallet{address: "0x1"}), "card_id", "missing"},
		"details of a card that says more": {details("card_1 at 0\nPay all", &paperWallet{address: "0x1"}), "card_id",
			"pattern"},
		"details without a wallet":          {details("card_1", nil), "wallet", "missing"},
		"details by a wallet without a key": {details("card_1", &paperWallet{}), "wallet", "missing"},
		"a document with a name that is not": {upload(appapi.DocumentUpload{Content: strings.NewReader("x"),
			Name: "\xff"}), "name", "unencodable"},
		"a limit like a bomb": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Cards.SetLimit(ctx, "card_1",
				appapi.CardLimitUpdate{MonthlyLimit: model.Set(model.NewNumber(decimal.New(1, 99_999)))})
			return err
		}, "monthlyLimit", "too_long"},
		"a payment method without a kind": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Contracts.ReplacePaymentMethods(ctx, id1, []model.PaymentMethod{{}})
			return err
		}, "paymentMethods[0].accountType", "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			server, app := serve(t, responding(200, `{}`))
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

func TestEveryInvalidFieldIsNamedAtOnce(t *testing.T) {
	_, app := serve(t, losing)
	_, err := app.Transfers.Send(t.Context(), appapi.ToContact{ContactID: "ct_1"}, "k")
	assert.ErrorContains(t, err, "CreateTransfer: invalid input: contactId does not match "+
		"^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$; amount is required (ct_1, key k)")
}

// What is assumed is not checked, and what is required by assumption alone may be left out.
func TestAssumedRulesAreNotChecked(t *testing.T) {
	type call = func(context.Context, *appapi.Client) error
	invoice := func(items ...model.LineItem) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Invoices.Create(ctx, appapi.InvoiceCreate{Items: items})
			return err
		}
	}
	batch := func(batch ...appapi.InvoiceBatchEntry) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Invoices.CreateBatch(ctx, batch)
			return err
		}
	}
	list := func(params appapi.ListTransactionsParams) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Transactions.List(ctx, params)
			return err
		}
	}
	contact := func(change appapi.ContactUpdate) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Contacts.Update(ctx, "ct_1", change)
			return err
		}
	}
	contract := func(change appapi.ContractUpdate) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Contracts.Update(ctx, "c 1", change)
			return err
		}
	}
	profile := func(change appapi.ProfileUpdate) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Account.UpdateProfile(ctx, change)
			return err
		}
	}
	pay := func(change model.InvoiceUpdate) call {
		return func(ctx context.Context, app *appapi.Client) error {
			change.Status = model.InvoiceStatusPaid
			_, err := app.Invoices.Update(ctx, id1, change)
			return err
		}
	}
	upload := func(document appapi.DocumentUpload) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Documents.Upload(ctx, document)
			return err
		}
	}
	limit := func(value string) call {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Cards.SetLimit(ctx, "card_1", appapi.CardLimitUpdate{DailyLimit: model.Set(number(value)),
				MonthlyLimit: model.Null[model.Number]()})
			return err
		}
	}
	east := time.Date(2026, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600))
	none, empty := model.Null[string](), model.Set("")
	for name, c := range map[string]struct {
		call       call
		sent, body string
	}{
		"a negative transfer": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Transfers.Send(ctx, appapi.ToContact{ContactID: id1, Amount: price("-1")}, "k")
			return err
		}, "POST /apps/transfer", `{"contactId":"` + id1 + `","amount":-1}`},
		"an invoice of nothing": {invoice(), "POST /documents/contracts/invoices", `{}`},
		"lines that say nothing": {invoice(model.LineItem{}), "POST /documents/contracts/invoices",
			`{"items":[{"quantity":0,"price":"0"}]}`},
		"a line that is free": {invoice(model.LineItem{Name: "Tea", Quantity: number("2"),
			Price: decimal.Zero}), "POST /documents/contracts/invoices",
			`{"items":[{"name":"Tea","quantity":2,"price":"0"}]}`},
		"a line of nothing": {invoice(model.LineItem{Quantity: number("0"), Price: price("-1.50")}),
			"POST /documents/contracts/invoices", `{"items":[{"quantity":0,"price":"-1.5"}]}`},
		"an empty batch": {batch(), "POST /documents/contracts/invoices/batch_invoicing", `[]`},
		"a batch of other ids": {batch(appapi.InvoiceBatchEntry{ContractID: "no", Period: -1},
			appapi.InvoiceBatchEntry{}), "POST /documents/contracts/invoices/batch_invoicing",
			`[{"contractId":"no","period":-1},{}]`},
		"a page of 101": {list(appapi.ListTransactionsParams{Limit: 101}), "GET /transactions?limit=101",
			""},
		"a page of less than nothing": {list(appapi.ListTransactionsParams{Limit: -1, Offset: -1}),
			"GET /transactions?limit=-1&offset=-1", ""},
		"an empty filter": {list(appapi.ListTransactionsParams{Type: []string{"sepa", ""}}),
			"GET /transactions?type=sepa%2C", ""},
		"a contact without an account": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Contacts.Create(ctx, appapi.ContactCreate{Name: strings.Repeat("n", 201)})
			return err
		}, "POST /user/contact", `{"name":"` + strings.Repeat("n", 201) + `"}`},
		"a contact by its prefix": {func(ctx context.Context, app *appapi.Client) error {
			return app.Contacts.Delete(ctx, "ct_1")
		}, "DELETE /user/contacts/ct_1", ""},
		"a quote for it": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Quotes.Payout(ctx, appapi.BalancePayoutQuote{ContactID: "ct_1", Amount: price("-1")})
			return err
		}, "POST /balance/payout/quote", `{"contactId":"ct_1","amount":"-1"}`},
		"a quote of nothing": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Quotes.SubmitPayin(ctx, "")
			return err
		}, "POST /banks/payin/quote/submit", `{}`},
		"an invoice with signs": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Invoices.Get(ctx, "INV=7 é;a")
			return err
		}, "GET /documents/contracts/invoices/INV=7%20%C3%A9%3Ba", ""},
		"a limit below nothing": {limit("-0.01"), "PUT /cards/card_1/limit",
			`{"dailyLimit":-0.01,"monthlyLimit":null}`},
		"a limit of nothing": {limit("0"), "PUT /cards/card_1/limit", `{"dailyLimit":0,"monthlyLimit":null}`},
		"an empty label": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Cards.SetLabel(ctx, "card_1", "")
			return err
		}, "PUT /cards/card_1/label", `{"label":""}`},
		"no document": {upload(appapi.DocumentUpload{}), "POST /documents/upload", `{}`},
		"an empty document": {upload(appapi.DocumentUpload{Content: strings.NewReader(""), Name: "a"}),
			"POST /documents/upload", `{"base64":"","name":"a"}`},
		"a change of nothing": {contact(appapi.ContactUpdate{}), "PATCH /user/contacts/ct_1", `{}`},
		"a contact's cleared fields": {contact(appapi.ContactUpdate{Name: empty, Relationship: none}),
			"PATCH /user/contacts/ct_1", `{"name":"","relationship":null}`},
		"a profile's cleared fields": {profile(appapi.ProfileUpdate{FirstName: empty, EntityName: none,
			Address: model.Null[appapi.ProfileAddress]()}), "PUT /user/kyc",
			`{"firstName":"","entityName":null,"address":null}`},
		"a contract's cleared fields": {contract(appapi.ContractUpdate{
			Label: empty, Period: none, ExpirationAt: model.Null[time.Time](), ActivationAt: model.Set(east),
			PriorityMethods: model.Set([]model.PriorityMethod{}),
			Fields: appapi.ContractFieldsUpdate{Amount: model.Set(price("0")),
				Currency: model.Null[model.FiatCurrency](), ScopeDescription: empty},
		}), "PATCH /documents/contracts/c%201",
			`{"label":"","period":null,"expirationAt":null,"activationAt":"2026-01-01T00:00:00Z",` +
				`"priorityMethods":[],"fields":{"amount":"0","currency":null,"scopeDescription":""}}`},
		"a reference that is taken away": {pay(model.InvoiceUpdate{OnchainTransactionID: none}),
			"PUT /documents/contracts/invoices/" + id1, `{"status":"paid","onchainTransactionId":null}`},
		"a payment in another zone": {pay(model.InvoiceUpdate{PaidAt: model.Set(east)}),
			"PUT /documents/contracts/invoices/" + id1, `{"status":"paid","paidAt":"2026-01-01T00:00:00Z"}`},
		"a bank without a routing number": {func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Contacts.ValidateBank(ctx, appapi.BankDetails{BankType: "sepa", RoutingNumber: none})
			return err
		}, "POST /user/contact/bank/validate", `{"bankType":"sepa","routingNumber":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			server, app := serve(t, responding(422, `{"error":{"code":"validation_failed","message":"No."}}`))
			_, judged := errors.AsType[*errors.ValidationFailed](c.call(t.Context(), app))
			assert.True(t, judged, "by the service")
			require.Len(t, server.requests(), 1)
			sent := server.requests()[0]
			assert.Equal(t, c.sent, sent.what)
			if c.body == "" {
				assert.Empty(t, sent.body)
			} else {
				assert.JSONEq(t, c.body, sent.body)
			}
		})
	}
}

// Not parallel: decimal's switch is the whole program's.
func TestAmountsInsideOfUpdatesAndLinesStayStrings(t *testing.T) {
	before := decimal.MarshalJSONWithoutQuotes
	t.Cleanup(func() { decimal.MarshalJSONWithoutQuotes = before })
	decimal.MarshalJSONWithoutQuotes = true
	server, app := serve(t, responding(422, `{}`))
	_, _ = app.Contracts.Update(t.Context(), id1,
		appapi.ContractUpdate{Fields: appapi.ContractFieldsUpdate{Amount: model.Set(price("1.5"))}})
	_, _ = app.Invoices.Create(t.Context(),
		appapi.InvoiceCreate{Items: []model.LineItem{{Quantity: number("1"), Price: price("1.5")}}})
	assert.JSONEq(t, `{"fields":{"amount":"1.5"}}`, server.requests()[0].body)
	assert.JSONEq(t, `{"items":[{"quantity":1,"price":"1.5"}]}`, server.requests()[1].body)
}
