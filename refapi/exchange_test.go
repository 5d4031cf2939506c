package refapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// exchange is one call and what it has to look like on the wire, written down from the description.
type exchange struct {
	call     func(context.Context, *refapi.Client) (any, error)
	method   string
	path     string // with query
	body     string // "" for none
	response string
}

const (
	invoiceID  = "0b1f7d3e-58a4-4c8e-9d55-3f1f0f0c9a11"
	contractID = "5d0c2a64-0c6e-4f0a-8a53-6e4a4f9f1c22"

	invoiceJSON = `{"id":"` + invoiceID +
		`","amount":"1250.50","currency":"EUR","status":"paid","createdAt":"2026-01-02T03:04:05Z",` +
		`"updatedAt":"2026-01-03T03:04:05Z",` +
		`"paidAt":"2026-01-01T00:00:00Z","issuedDate":"2026-01-02","dueDate":"2026-02-01","invoiceNumber":"INV-7",` +
		`"transaction":{"onchainTransactionId":"ref-1","amount":1250.50,"txHash":"0xabc","type":"invoice",` +
		`"createdAt":"2026-01-01T00:00:00Z"},` +
		`"paymentMethods":[{"accountType":"sepa","ibanNumber":"DE89370400440532013000"},` +
		`{"accountType":"carrier_pigeon","loft":"7"}],` +
		`"client":{"email":"a@example.com","displayName":"A"},"documents":[{"id":"d1","name":"n","key":"k"}]}`
	contractJSON = `{"id":"` + contractID +
		`","clientId":"c1","contractorId":"c2","type":"service","status":"active","createdAt":"2026-01-02T03:04:05Z",` +
		`"updatedAt":"2026-01-02T03:04:05Z","amount":"0.10","currency":"USD","priorityMethods":["sepa","swift-usd"],` +
		`"period":"monthly",` +
		`"lastInvoice":{"id":"i1","amount":"3.5","dueDate":"2026-02-01"},"signed":{"client":true}}`
	productJSON = `{"id":"p1","name":"Tea","currency":"USD","soldCount":3,"active":true,` +
		`"createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z",` +
		`"price":"4.20","minAmount":null,"maxQuantity":2,"images":["https://shop.example/tea.png"],` +
		`"metadata":{"sku":"T-1"}}`
	statusJSON = `{"id":"t1","quoteId":"q_1","type":"payout","paymentChannel":"bank","status":"pending",` +
		`"fromAmount":10.10,"fromCurrency":"USDC",` +
		`"toCurrency":"EUR","toAmount":9.123456789012345678901,"createdAt":"2026-01-02T03:04:05Z",` +
		`"expiresAt":"2026-01-02T03:06:05Z"}`
)

var exchanges = map[string]exchange{
	"UpdateInvoice": {func(ctx context.Context, c *refapi.Client) (any, error) {
		return c.Invoices.Update(ctx, invoiceID, model.InvoiceUpdate{Status: model.InvoiceStatusPaid})
	}, "PUT", "/api/v1/documents/contracts/invoices/" + invoiceID, `{"status":"paid"}`, invoiceJSON},
	"UpdateInvoiceOnInvoicesPath": {func(ctx context.Context, c *refapi.Client) (any, error) {
		return c.Invoices.UpdateOnInvoicesPath(ctx, invoiceID, model.InvoiceUpdate{
			Status: model.InvoiceStatusPaid, OnchainTransactionID: model.Set("ref-1"),
			PaidAt: model.Set(time.Date(2026, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600))),
		})
	}, "PUT", "/api/v1/invoices/documents/contracts/invoices/" + invoiceID,
		`{"status":"paid","onchainTransactionId":"ref-1","paidAt":"2026-01-01T00:00:00Z"}`, invoiceJSON},
	"GetContract": {func(ctx context.Context, c *refapi.Client) (any, error) {
		return c.Contracts.Get(ctx, contractID)
	},
		"GET", "/api/v1/invoices/documents/contracts/" + contractID, "", contractJSON},
	"ListMerchantProducts": {func(ctx context.Context, c *refapi.Client) (any, error) {
		products, err := c.Products.List(ctx, refapi.ListMerchantProductsParams{ActiveOnly: new(false)})
		return map[string]any{"items": products}, err
	}, "GET", "/api/v1/transactions/merchant/products?active_only=false", "", `[` + productJSON + `]`},
	"ListCards": {func(ctx context.Context, c *refapi.Client) (any, error) { return c.Cards.List(ctx) },
		"GET", "/api/v1/accounts/cards", "",
		`{"cards":[{"id":"card-1","status":"pending","walletAddress":"0x1","limit":{"dailyLimit":100.25,` +
			`"dailyUsage":0.1,"currency":"USD"},` +
			`"cardData":{"lastFour":"4242"},"activated":true,"dailySpend":12.30}],"total":1,"created":true,` +
			`"kycStatus":"approved","phoneVerified":true}`},
	"RevealCardDetails": {func(ctx context.Context, c *refapi.Client) (any, error) {
		details, err := c.Cards.DetailsWithProof(ctx, "card-1",
			model.CardDetailsProof{MessageSignature: moneymovement.NewSecret("0xsig"), Nonce: 1767323045})
		if err != nil {
			return nil, err
		}
		return map[string]string{"cardNumber": details.CardNumber.Reveal(), "cvv": details.CVV.Reveal(),
			"expiryDate": details.ExpiryDate.Reveal()}, nil
	}, "POST", "/api/v1/accounts/cards/card-1/details", `{"messageSignature":"0xsig","nonce":1767323045}`,
		`{"cardNumber":"4000000000000002","cvv":"123","expiryDate":"12/29"}`},
	"GetTransactionStatus": {func(ctx context.Context, c *refapi.Client) (any, error) {
		return c.Quotes.Status(ctx, "q_1")
	},
		"GET", "/api/v1/wallet/balance/transaction/status/q_1", "", statusJSON},
	"LogInWallet": {func(ctx context.Context, c *refapi.Client) (any, error) {
		return c.Wallet.LogIn(ctx,
			refapi.WalletLogin{Message: "hello", Signatures: []moneymovement.Secret{moneymovement.NewSecret("0x1"),
				moneymovement.NewSecret("0x2")}},
			refapi.LogInWalletParams{DeviceID: "d-1", DeviceType: "android", DeviceName: "Pixel"})
	}, "POST", "/api/v1/wallet/login", `{"message":"hello","signatures":["0x1","0x2"]}`,
		`{"status":"ok","transactionHash":"0xabc","userOpHash":null}`},
	"ReceiveWebhook": {func(ctx context.Context, c *refapi.Client) (any, error) {
		ok, err := c.Webhooks.Send(ctx, "acme",
			refapi.WebhookEvent{EventType: "kyc", EntityID: "e1", EntityType: "user", CreatedAt: "2026-01-02T03:04:05Z",
				EventPayload: map[string]any{"state": "done"}})
		return map[string]bool{"ok": ok}, err
	}, "POST", "/api/v1/webhook/acme",
		`{"eventType":"kyc","entityId":"e1","entityType":"user","createdAt":"2026-01-02T03:04:05Z",` +
			`"eventPayload":{"state":"done"}}`, `{"ok":true}`},
}

func TestEachExchangeMatchesTheDescription(t *testing.T) {
	for name, x := range exchanges {
		t.Run(name, func(t *testing.T) {
			var sent *http.Request
			var body []byte
			client := newClient(t, func(r *http.Request) (*http.Response, error) {
				sent = r
				if r.Body != nil {
					body, _ = io.ReadAll(r.Body)
				}
				return response(http.StatusOK, x.response), nil
			})

			value, err := x.call(t.Context(), client)
			require.NoError(t, err)

			assert.Equal(t, x.method, sent.Method)
			assert.Equal(t, baseURL+x.path, sent.URL.String())
			assert.Equal(t, "Bearer token-1", sent.Header.Get("Authorization"))
			assert.Empty(t, sent.Header["X-Service-Account"], "the token alone says whom it is for")
			assert.Empty(t, sent.Header.Values("X-Api-Key"))
			assert.Equal(t, "application/json", sent.Header.Get("Accept"))
			if x.body == "" {
				assert.Empty(t, body)
			} else {
				assert.JSONEq(t, x.body, string(body))
				assert.Equal(t, "application/json", sent.Header.Get("Content-Type"))
			}
			assertDecoded(t, x.response, value)
		})
	}
}

// assertDecoded checks that nothing of the response was lost: written again, each of its members is there. Numbers are
// compared by their digits, and null is the same as absent.
func assertDecoded(t *testing.T, response string, value any) {
	t.Helper()
	written, err := json.Marshal(value)
	require.NoError(t, err)
	if response[0] == '[' {
		response = `{"items":` + response + `}`
	}
	assert.Subset(t, flat(t, written), flat(t, []byte(response)))
}

// flat lists every value of a document with its path.
func flat(t *testing.T, document []byte) map[string]string {
	t.Helper()
	var value any
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&value))
	found := map[string]string{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, member := range v {
				walk(path+"."+name, member)
			}
		case []any:
			for i, entry := range v {
				walk(path+"["+string(rune('0'+i))+"]", entry)
			}
		case json.Number:
			found[path] = "number " + decimal.RequireFromString(v.String()).String()
		case string:
			if amount, err := decimal.NewFromString(v); err == nil {
				v = amount.String()
			}
			found[path] = v
		case bool:
			found[path] = map[bool]string{true: "yes", false: "no"}[v]
		}
	}
	walk("", value)
	return found
}

const baseURL = "https://service.example"

// newClient is a client whose requests go to respond.
func newClient(t *testing.T, respond httpmock.Responder, options ...moneymovement.Option) *refapi.Client {
	t.Helper()
	return newClientOf(t, refapi.Credential{AccessToken: refapi.NewAccessToken("token-1")}, respond, options...)
}

// newClientOf is newClient for a credential.
func newClientOf(
	t *testing.T, with refapi.Credential, respond httpmock.Responder, options ...moneymovement.Option,
) *refapi.Client {
	t.Helper()
	mock := httpmock.NewMockTransport()
	mock.RegisterNoResponder(respond)
	client, err := refapi.New(baseURL, with,
		append([]moneymovement.Option{moneymovement.WithHTTPClient(&http.Client{Transport: mock})}, options...)...)
	require.NoError(t, err)
	return client
}

func response(status int, body string) *http.Response {
	a := httpmock.NewStringResponse(status, body)
	a.Header.Set("Content-Type", "application/json")
	a.Header.Set("X-Request-ID", "req_1")
	return a
}
