package refapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/refapi"
)

var paid = model.InvoiceUpdate{Status: model.InvoiceStatusPaid}

func TestValidationErrorNamesTheFields(t *testing.T) {
	client := newClient(t, func(*http.Request) (*http.Response, error) {
		return response(http.StatusUnprocessableEntity, `{"detail":[
			{"loc":["body","items","0","price"],"msg":"is no amount","type":"decimal_parsing"},
			{"loc":["body","rows",12,"period"],"msg":"is required","type":"missing"},
			{"loc":["path","invoice_id"],"msg":"is no UUID","type":"uuid_parsing"}]}`), nil
	})
	_, err := client.Invoices.Update(t.Context(), invoiceID, paid)
	var failed *errors.DetailErrors
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, http.StatusUnprocessableEntity, failed.Status)
	assert.Equal(t, "req_1", failed.RequestID)
	assert.Equal(t, []errors.DetailItem{
		{Loc: []string{"body", "items", "0", "price"}, Path: "body.items[0].price", Message: "is no amount",
			Type: "decimal_parsing"},
		{Loc: []string{"body", "rows", "12", "period"}, Path: "body.rows[12].period", Message: "is required",
			Type: "missing"},
		{Loc: []string{"path", "invoice_id"}, Path: "path.invoice_id", Message: "is no UUID", Type: "uuid_parsing"},
	}, failed.Items)
	assert.False(t, failed.Retryable())
	assert.ErrorContains(t, err, "body.items[0].price (decimal_parsing)")
}

func TestRefusalsInTheEnvelope(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		is     func(error) bool
	}{
		"no session":      {401, `{"error":{"code":"unauthenticated","message":"m"}}`, is[*errors.Unauthenticated]},
		"token expired":   {401, `{"error":{"code":"token_expired","message":"m"}}`, is[*errors.TokenExpired]},
		"another surface": {403, `{"error":{"code":"forbidden","message":"m"}}`, is[*errors.Forbidden]},
		"no such invoice": {404, `{"error":{"code":"not_found","message":"m"}}`, is[*errors.NotFound]},
		"paid already":    {409, `{"error":{"code":"conflict","message":"m"}}`, is[*errors.Conflict]},
		"an unknown slug": {409, `{"error":{"code":"invoice_locked","message":"m"}}`, is[*errors.Unrecognized]},
		"no envelope":     {404, `<html>nothing here</html>`, is[*errors.UnexpectedResponse]},
	} {
		t.Run(name, func(t *testing.T) {
			sent := 0
			client := newClient(t, func(*http.Request) (*http.Response, error) {
				sent++
				return response(test.status, test.body), nil
			})
			_, err := client.Invoices.Update(t.Context(), invoiceID, paid)
			assert.True(t, test.is(err), "%T %v", err, err)
			assert.Equal(t, 1, sent)
		})
	}
}

func TestARefusalInASentence(t *testing.T) {
	for status, is := range map[int]func(error) bool{
		401: is[*errors.Unauthenticated], 403: is[*errors.Unrecognized], 404: is[*errors.Unrecognized],
		409: is[*errors.Unrecognized],
	} {
		for operation, x := range exchanges {
			sent := 0
			client := newClient(t, func(*http.Request) (*http.Response, error) {
				sent++
				return response(status, `{"detail":"Not authenticated"}`), nil
			})
			_, err := x.call(t.Context(), client)
			assert.Equal(t, 1, sent)
			if unknown, doubted := errors.AsType[*errors.InDoubt](err); doubted {
				assert.Equal(t, http.StatusConflict, status, operation)
				err = unknown.Cause
			}
			assert.True(t, is(err), "%s, %d: %T %v", operation, status, err, err)
			var refusal *errors.Refusal
			require.ErrorAs(t, err, &refusal)
			assert.Equal(t, "Not authenticated", refusal.Message)
			assert.Equal(t, status, refusal.Status)
			assert.Equal(t, "req_1", refusal.RequestID)
		}
	}
}

func TestARefusalOfAnotherShapeKeepsAnExcerpt(t *testing.T) {
	for _, body := range []string{`{"message":"Forbidden by policy"}`, `{"error":"forbidden"}`,
		`{"detail":{"code":"forbidden"}}`} {
		client := newClient(t, func(*http.Request) (*http.Response, error) {
			return response(http.StatusForbidden, body), nil
		})
		_, err := client.Invoices.Update(t.Context(), invoiceID, paid)
		var unexpected *errors.UnexpectedResponse
		require.ErrorAs(t, err, &unexpected)
		assert.Equal(t, http.StatusForbidden, unexpected.Status)
		assert.Equal(t, body, unexpected.Excerpt)
	}
}

func is[E error](err error) bool { _, ok := errors.AsType[E](err); return ok }

// TestOnlyRepeatableCallsAreRetried: a state that is set, and a reveal, are; a login and an event are not.
func TestOnlyRepeatableCallsAreRetried(t *testing.T) {
	for name, repeats := range map[string]bool{
		"UpdateInvoice": true, "UpdateInvoiceOnInvoicesPath": true, "RevealCardDetails": true, "ListCards": true,
		"GetTransactionStatus": true,
		"LogInWallet":          false, "ReceiveWebhook": false,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				client := newClient(t, func(*http.Request) (*http.Response, error) {
					if sent++; sent == 1 {
						return nil, io.ErrUnexpectedEOF // lost on the way back
					}
					return response(http.StatusOK, exchanges[name].response), nil
				})
				_, err := exchanges[name].call(t.Context(), client)
				if repeats {
					require.NoError(t, err)
					assert.Equal(t, 2, sent)
					return
				}
				var unknown *errors.InDoubt
				require.ErrorAs(t, err, &unknown)
				assert.Equal(t, 1, sent)
			})
		})
	}
}

func TestBadInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	event := refapi.WebhookEvent{EventType: "t", EntityID: "e", EntityType: "u", CreatedAt: "now"}
	device := refapi.LogInWalletParams{}
	for name, test := range map[string]struct {
		call        func(context.Context, *refapi.Client) error
		field, code string
	}{
		"an invoice without id":    {update("", paid), "invoice_id", "missing"},
		"an invoice by its number": {update("INV-7", paid), "invoice_id", "pattern"},
		"an id that is a path":     {update("../contracts", paid), "invoice_id", "pattern"},
		"no state":                 {update(invoiceID, model.InvoiceUpdate{}), "status", "missing"},
		"a contract by its name":   {read("contract"), "contract_id", "pattern"},
		"a card of two steps": {reveal("a/b",
			model.CardDetailsProof{MessageSignature: moneymovement.NewSecret("0x1"), Nonce: 1}), "card_id", "pattern"},
		"a proof without signature": {reveal("a", model.CardDetailsProof{Nonce: 1}), "messageSignature", "missing"},
		"a proof without nonce": {reveal("a",
			model.CardDetailsProof{MessageSignature: moneymovement.NewSecret("0x1")}), "nonce", "missing"},
		"a quote of dots":            {status(".."), "quote_id", "pattern"},
		"a login without signatures": {logIn(refapi.WalletLogin{Message: "m"}, device), "signatures", "missing"},
		"a login without message": {
			logIn(refapi.WalletLogin{Signatures: []moneymovement.Secret{moneymovement.NewSecret("0x1")}}, device),
			"message", "missing"},
		"a device that splits headers": {logIn(refapi.WalletLogin{Message: "m",
			Signatures: []moneymovement.Secret{moneymovement.NewSecret("0x1")}},
			refapi.LogInWalletParams{DeviceName: "a\r\nX-Api-Key: b"}), "device-name", "pattern"},
		"an event from nobody": {send("", event), "partner", "missing"},
		"an event of nothing": {send("acme",
			refapi.WebhookEvent{EventType: "t", EntityType: "u", CreatedAt: "now"}), "entityId", "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, func(*http.Request) (*http.Response, error) {
				t.Error("something was sent")
				return response(http.StatusOK, `{}`), nil
			})
			err := test.call(t.Context(), client)
			var invalid *errors.InvalidInput
			require.ErrorAs(t, err, &invalid)
			require.Len(t, invalid.Fields, 1, "%+v", invalid.Fields)
			assert.Equal(t, test.field, invalid.Fields[0].Field)
			assert.Equal(t, test.code, invalid.Fields[0].Code)
		})
	}
}

// What nobody stated is for the service to judge.
func TestAssumedRulesAreNotChecked(t *testing.T) {
	const invoicePath = "PUT /api/v1/documents/contracts/invoices/" + invoiceID
	updateOnly := func(change model.InvoiceUpdate) call {
		return func(ctx context.Context, c *refapi.Client) error {
			_, err := c.Invoices.Update(ctx, invoiceID, change)
			return err
		}
	}
	quoted := func(ctx context.Context, c *refapi.Client) error {
		_, err := c.Quotes.Status(ctx, "q=1 é")
		return err
	}
	for name, test := range map[string]struct {
		call       call
		sent, body string
		device     string
	}{
		"a nonce before all time": {reveal("a b",
			model.CardDetailsProof{MessageSignature: moneymovement.NewSecret("0x1"), Nonce: -1}),
			"POST /api/v1/accounts/cards/a%20b/details", `{"messageSignature":"0x1","nonce":-1}`, ""},
		"a login with an empty one": {logIn(refapi.WalletLogin{Message: "m",
			Signatures: []moneymovement.Secret{moneymovement.NewSecret("0x1"), moneymovement.NewSecret("")}},
			refapi.LogInWalletParams{}), "POST /api/v1/wallet/login", `{"message":"m","signatures":["0x1",""]}`, ""},
		"a login with none": {logIn(refapi.WalletLogin{Message: "m", Signatures: []moneymovement.Secret{}},
			refapi.LogInWalletParams{}), "POST /api/v1/wallet/login", `{"message":"m","signatures":[]}`, ""},
		"a device of any name": {logIn(refapi.WalletLogin{Message: "m",
			Signatures: []moneymovement.Secret{moneymovement.NewSecret("0x1")}},
			refapi.LogInWalletParams{DeviceName: strings.Repeat("Zoë's ", 200)}), "POST /api/v1/wallet/login",
			`{"message":"m","signatures":["0x1"]}`, strings.Repeat("Zoë's ", 200)},
		"a quote with signs": {quoted, "GET /api/v1/wallet/balance/transaction/status/q=1%20%C3%A9", "", ""},
		"a reference that is cleared": {updateOnly(model.InvoiceUpdate{Status: "paid",
			OnchainTransactionID: model.Null[string]()}), invoicePath, `{"status":"paid","onchainTransactionId":null}`,
			""},
		"a reference that is empty": {updateOnly(model.InvoiceUpdate{Status: "paid",
			OnchainTransactionID: model.Set("")}), invoicePath, `{"status":"paid","onchainTransactionId":""}`, ""},
		"a time that is cleared": {updateOnly(model.InvoiceUpdate{Status: "paid",
			PaidAt: model.Null[time.Time]()}), invoicePath, `{"status":"paid","paidAt":null}`, ""},
		"a state of a later version": {updateOnly(model.InvoiceUpdate{Status: "settled"}), invoicePath,
			`{"status":"settled"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var sent *http.Request
			var body []byte
			client := newClient(t, func(r *http.Request) (*http.Response, error) {
				if sent = r; r.Body != nil {
					body, _ = io.ReadAll(r.Body)
				}
				return response(http.StatusUnprocessableEntity, `{"detail":[]}`), nil
			})
			err := test.call(t.Context(), client)
			require.True(t, is[*errors.DetailErrors](err), "%v", err)
			assert.Equal(t, test.sent, sent.Method+" "+sent.URL.EscapedPath())
			assert.Equal(t, test.device, sent.Header.Get("Device-Name"))
			if test.body != "" {
				assert.JSONEq(t, test.body, string(body))
			}
		})
	}
}

type call = func(context.Context, *refapi.Client) error

func update(id string, change model.InvoiceUpdate) call {
	return func(ctx context.Context, c *refapi.Client) error {
		_, err := c.Invoices.Update(ctx, id, change)
		_, second := c.Invoices.UpdateOnInvoicesPath(ctx, id, change)
		if (err == nil) != (second == nil) {
			return errors.New("the paths judge differently")
		}
		return err
	}
}

func read(id string, options ...moneymovement.CallOption) call {
	return func(ctx context.Context, c *refapi.Client) error {
		_, err := c.Contracts.Get(ctx, id, options...)
		return err
	}
}

func reveal(id string, proof model.CardDetailsProof) call {
	return func(ctx context.Context, c *refapi.Client) error {
		_, err := c.Cards.DetailsWithProof(ctx, id, proof)
		return err
	}
}

func status(id string) call {
	return func(ctx context.Context, c *refapi.Client) error {
		_, err := c.Quotes.Wait(ctx, id, refapi.Settled)
		return err
	}
}

func logIn(login refapi.WalletLogin, device refapi.LogInWalletParams) call {
	return func(ctx context.Context, c *refapi.Client) error {
		_, err := c.Wallet.LogIn(ctx, login, device)
		return err
	}
}

func send(partner string, event refapi.WebhookEvent) call {
	return func(ctx context.Context, c *refapi.Client) error {
		_, err := c.Webhooks.Send(ctx, partner, event)
		return err
	}
}

// TestAbsentFieldsHaveTheStatedDefaults: what a response leaves out, and what a request leaves to the service.
func TestAbsentFieldsHaveTheStatedDefaults(t *testing.T) {
	var sent *http.Request
	body := ""
	client := newClient(t, func(r *http.Request) (*http.Response, error) {
		sent = r
		return response(http.StatusOK, body), nil
	})

	body = `{"cards":[{"id":"card-1","limit":{"dailyLimit":10}}]}`
	cards, err := client.Cards.List(t.Context())
	require.NoError(t, err)
	assert.Equal(t, model.KYCStatusNotStarted, cards.KYCStatus)
	assert.False(t, cards.Created || cards.PhoneVerified || cards.Cards[0].Activated)
	assert.True(t, cards.Cards[0].Limit.DailyUsage.IsZero())
	assert.True(t, cards.Cards[0].DailySpend.IsZero())

	body = contractJSON
	contract, err := client.Contracts.Get(t.Context(), contractID)
	require.NoError(t, err)
	assert.False(t, contract.Client.IsBusiness)

	event := refapi.WebhookEvent{EventType: "t", EntityID: "e", EntityType: "u", CreatedAt: "now"}
	for answered, want := range map[string]bool{`{}`: true, `{"ok":null}`: true, `{"ok":true}`: true,
		`{"ok":false}`: false} {
		body = answered
		ok, err := client.Webhooks.Send(t.Context(), "acme", event)
		require.NoError(t, err)
		assert.Equal(t, want, ok, answered)
	}

	body = `[]`
	products, err := client.Products.List(t.Context(), refapi.ListMerchantProductsParams{})
	require.NoError(t, err)
	assert.Empty(t, products)
	assert.Empty(t, sent.URL.RawQuery, "the service's default is to list what is on sale")

	body = `{"status":"ok"}`
	_, err = client.Wallet.LogIn(t.Context(),
		refapi.WalletLogin{Message: "m", Signatures: []moneymovement.Secret{moneymovement.NewSecret("0x1")}},
		refapi.LogInWalletParams{DeviceID: "d"})
	require.NoError(t, err)
	assert.Equal(t, "d", sent.Header.Get("Device-Id"))
	assert.Empty(t, sent.Header.Values("Device-Type"), "the service's default is ios")
	assert.Empty(t, sent.Header.Values("Device-Name"), "the service's default is ios")
}

func TestPaidAtBackdates(t *testing.T) {
	client := newClient(t, func(*http.Request) (*http.Response, error) {
		return response(http.StatusOK, invoiceJSON), nil
	})
	invoice, err := client.Invoices.Update(t.Context(), invoiceID, paid)
	require.NoError(t, err)
	assert.Equal(t, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), invoice.PaidAt)
	assert.Equal(t, "1250.5", invoice.Amount.String())
	assert.Equal(t, "1250.5", invoice.Transaction.Amount.String())
	require.Len(t, invoice.PaymentMethods, 2)
	assert.IsType(t, model.SEPAPaymentMethod{}, invoice.PaymentMethods[0].Variant())
	assert.Nil(t, invoice.PaymentMethods[1].Variant(), "an unknown method is kept as it came")
	assert.JSONEq(t, `{"accountType":"carrier_pigeon","loft":"7"}`, string(invoice.PaymentMethods[1].Raw()))
}
