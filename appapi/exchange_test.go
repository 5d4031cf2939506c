package appapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/model"
)

// exchange is one call and what it has to look like on the wire, written down from the description.
type exchange struct {
	call   func(context.Context, *appapi.Client) (any, error)
	method string
	path   string // with query
	body   string // "" for none
	status int
	answer string
}

const (
	id1 = "11111111-1111-4111-8111-111111111111"
	id2 = "22222222-2222-4222-8222-222222222222"

	profileJSON = `{"id":"` + id1 +
		`","email":"a@example.com","firstName":"Ann","isBusiness":true,"kycStatus":"approved",` +
		`"address":{"city":"Oslo"},"createdAt":"2026-01-02T03:04:05Z"}`
	contactJSON = `{"id":"` + id1 +
		`","name":"Bob","relationship":"external","account":{"accountType":"email","email":"bob@example.com"},` +
		`"createdAt":"2026-01-02T03:04:05Z"}`
	invoiceJSON = `{"id":"` + id1 +
		`","amount":"120.5","currency":"USD","status":"sent","createdAt":"2026-01-02T03:04:05Z",` +
		`"updatedAt":"2026-01-02T03:04:05Z","dueDate":"2026-02-01","items":[{"name":"Design","quantity":1.5,` +
		`"price":"80"}],"discount":"0.5","paymentMethods":[{"accountType":"sepa",` +
		`"ibanNumber":"DE89370400440532013000"}]}`
	contractJSON = `{"id":"` + id1 + `","clientId":"` + id1 + `","contractorId":"` + id2 +
		`","type":"service","status":"active","createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z",` +
		`"amount":"3000","currency":"EUR","priorityMethods":["swift-usd"],"client":{"id":"` + id1 + `",` +
		`"isBusiness":true},"fields":{"jobTitle":"Designer"}}`
	cardJSON = `{"id":"card_1","walletAddress":"0x1","status":"active","label":"Travel","activated":true,` +
		`"limit":{"dailyLimit":100.25,"dailyUsage":1,"monthlyLimit":1000,"lifetimeLimit":5000,"currency":"USD"},` +
		`"cardData":{"lastFour":"4242"},"dailySpend":1,"createdAt":"2026-01-02"}`
	quoteJSON = `{"quoteId":"q_1","sourceAmount":"100","sourceCurrency":"USDC","destinationAmount":"91.37",` +
		`"destinationCurrency":"EUR","rate":"0.9137","fee":"0.5","expiresAt":"2026-01-02T03:06:05Z"}`
	bankListJSON = `{"items":[{"method":"sepa","currency":"EUR","status":"active","bankAccountId":"bnk_1",` +
		`"requisites":{"iban":"DE89370400440532013000"}}],"total":1}`
	statusJSON = `{"id":"` + id1 +
		`","quoteId":"q_1","type":"payin","paymentChannel":"bank","status":"pending","fromAmount":100.10,` +
		`"fromCurrency":"EUR","toAmount":null,"toCurrency":"USDC","createdAt":"2026-01-02T03:04:05Z"}`
	linkJSON = `{"url":"https://verify.example/1","status":"requested"}`
)

func listOf(item string) string { return `{"items":[` + item + `],"total":1}` }

func price(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func number(text string) model.Number { return model.NewNumber(price(text)) }

func pointer[T any](value T) *T { return &value }

func lines() []model.LineItem {
	return []model.LineItem{{Name: "Design", Quantity: number("1.5"), Price: price("80.00")}}
}

const linesJSON = `[{"name":"Design","quantity":1.5,"price":"80"}]`

// send makes the one call that an exchange describes, and answers the request and its body as they were sent.
func send(t *testing.T, x exchange) (value any, sent *http.Request, body string) {
	t.Helper()
	return sendAs(t, appapi.NewAPIKey("secret-key"), x)
}

// sendAs is send with a key.
func sendAs(t *testing.T, key appapi.APIKey, x exchange) (value any, sent *http.Request, body string) {
	t.Helper()
	mock := httpmock.NewMockTransport()
	mock.RegisterNoResponder(func(r *http.Request) (*http.Response, error) {
		require.Nil(t, sent, "sent more than once")
		sent = r
		if r.Body != nil {
			read, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			body = string(read)
		}
		answer := httpmock.NewStringResponse(x.status, x.answer)
		answer.Header.Set("Content-Type", "application/json")
		return answer, nil
	})
	app, err := appapi.New("https://service.example/v9", key,
		moneymovement.WithHTTPClient(&http.Client{Transport: mock}))
	require.NoError(t, err)
	value, err = x.call(t.Context(), app)
	require.NoError(t, err)
	require.NotNil(t, sent)
	return value, sent, body
}

func TestEachExchangeLooksAsDescribed(t *testing.T) {
	for name, x := range exchanges() {
		t.Run(name, func(t *testing.T) {
			value, sent, body := send(t, x)

			assert.Equal(t, x.method, sent.Method)
			assert.Equal(t, "https://service.example/v9"+x.path, sent.URL.String())
			assert.Equal(t, []string{"Bearer secret-key"}, sent.Header.Values("Authorization"))
			assert.Empty(t, sent.Header.Values("X-Api-Key"))
			assert.Equal(t, []string{"application/json"}, sent.Header.Values("Accept"))
			assert.Equal(t, sent.Method == http.MethodPost && sent.URL.Path == "/v9/apps/transfer", hasKey(sent),
				"only a transfer carries a key")
			if x.body == "" {
				assert.Empty(t, body)
			} else {
				assert.Equal(t, "application/json", sent.Header.Get("Content-Type"))
				assert.JSONEq(t, x.body, body)
			}
			assertDecoded(t, x.answer, value)
		})
	}
}

// hasKey looks for the idempotency key whatever its spelling in the map.
func hasKey(r *http.Request) bool {
	for spelled, values := range r.Header {
		if strings.EqualFold(spelled, "Idempotency-Key") {
			return len(values) == 1 && values[0] != ""
		}
	}
	return false
}

// assertDecoded checks that nothing of the answer was lost: written again, each of its members is there.
func assertDecoded(t *testing.T, answer string, value any) {
	t.Helper()
	if answer == "" {
		assert.Nil(t, value)
		return
	}
	var want, got any
	require.NoError(t, json.Unmarshal([]byte(answer), &want))
	if reflect.TypeOf(value).Kind() == reflect.Slice {
		want = want.(map[string]any)["items"] // of lists that have no pages, the items are answered
	}
	written, err := json.Marshal(value)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(written, &got))
	assertContains(t, want, got, "")
}

func assertContains(t *testing.T, want, got any, at string) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		members, is := got.(map[string]any)
		require.True(t, is, "%s: %v", at, got)
		for name, member := range want {
			if member != nil {
				assertContains(t, member, members[name], at+"."+name)
			}
		}
	case []any:
		items, is := got.([]any)
		require.True(t, is && len(items) == len(want), "%s: %v", at, got)
		for i := range want {
			assertContains(t, want[i], items[i], at+"[]")
		}
	default:
		assert.Equal(t, want, got, at)
	}
}
