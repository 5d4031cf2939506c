package appapi_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

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
	call     func(context.Context, *appapi.Client) (any, error)
	method   string
	path     string // with query
	body     string // "" for none
	status   int
	response string
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

// send makes the one call that an exchange describes, and responds the request and its body as they were sent.
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
		response := httpmock.NewStringResponse(x.status, x.response)
		response.Header.Set("Content-Type", "application/json")
		return response, nil
	})
	app, err := appapi.New("https://service.example/v9", key,
		moneymovement.WithHTTPClient(&http.Client{Transport: mock}))
	require.NoError(t, err)
	value, err = x.call(t.Context(), app)
	require.NoError(t, err)
	require.NotNil(t, sent)
	return value, sent, body
}

func TestEachExchangeMatchesTheDescription(t *testing.T) {
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
			assertDecoded(t, x.response, value)
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

// assertDecoded checks that nothing of the response was lost: written again, each of its members is there.
func assertDecoded(t *testing.T, response string, value any) {
	t.Helper()
	if response == "" {
		assert.Nil(t, value)
		return
	}
	var want, got any
	require.NoError(t, json.Unmarshal([]byte(response), &want))
	if reflect.TypeOf(value).Kind() == reflect.Slice {
		want = want.(map[string]any)["items"] // of lists that have no pages, the items are returned
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

// exchanges are the 49 rows of the description's tables, by operation.
func exchanges() map[string]exchange {
	all := map[string]exchange{}
	for _, some := range []map[string]exchange{accountExchanges, contactExchanges, invoiceExchanges, contractExchanges,
		bankExchanges, cardExchanges, transferExchanges} {
		maps.Copy(all, some)
	}
	return all
}

var accountExchanges = map[string]exchange{
	"GetProfile": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Account.Profile(ctx) },
		"GET", "/user", "", 200, profileJSON},
	"UpdateProfile": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Account.UpdateProfile(ctx, appapi.ProfileUpdate{
			FirstName: model.Set("Ann"), LastName: model.Set("Roe"), EntityName: model.Set("Acme"),
			Address: model.Set(appapi.ProfileAddress{StreetAddress: "1 Main St", City: "Oslo", Country: "NO",
				Zip: "0150"}),
		})
	}, "PUT", "/user/kyc",
		`{"firstName":"Ann","lastName":"Roe","entityName":"Acme",` +
			`"address":{"streetAddress":"1 Main St","city":"Oslo","country":"NO","zip":"0150"}}`, 200, profileJSON},
	"CreateKYCLink": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Account.KYCLink(ctx) },
		"POST", "/user/kyc_link", "", 200, linkJSON},
	"GetKYCStatus": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Account.KYCStatus(ctx, appapi.GetKYCStatusParams{Provider: "first & best"})
	}, "GET", "/user/kyc/status?provider=first+%26+best", "", 200,
		`{"status":"a_status_of_tomorrow","provider":"first & best"}`},
	"ListBalances": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Account.Balances(ctx) },
		"GET", "/balance", "", 200,
		listOf(`{"id":"b1","currency":"USDC","available":"12.345678","walletAddress":"0x1"}`)},
	"GetMCPBalance": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Account.WalletBalance(ctx)
	},
		"GET", "/mcp/get_balance", "", 200,
		`{"walletEmail":"a@example.com","walletAddress":"0x1","usdcBalance":"12.5","remainingAllowance":"0"}`},
	"GetApp": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Account.App(ctx) },
		"GET", "/apps/me", "", 200,
		`{"userName":"Ann","userEmail":"a@example.com","appId":"app_1","appName":"Books","scopes":["transfer"],` +
			`"balance":"12.5","remainingSpendLimit":"99.5"}`},
	"UploadDocument": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Documents.Upload(ctx, appapi.DocumentUpload{Content: strings.NewReader("%PDF-1.7 ?>~"),
			Type: appapi.DocumentKindInvoice, Name: `Invoice "42"`, OriginName: "i42.pdf",
			Context: appapi.DocumentKindContract})
	}, "POST", "/documents/upload",
		`{"base64":"JVBERi0xLjcgPz5+","type":"invoice","name":"Invoice \"42\"",` +
			`"originName":"i42.pdf","context":"contract"}`, 201,
		`{"id":"` + id1 + `","name":"Invoice","key":"documents/1"}`},
	"ListTransactions": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Transactions.List(ctx,
			appapi.ListTransactionsParams{Limit: 2, Offset: 4, Type: []string{"sepa", "crypto"}, Status: "completed",
				IncomeOnly: true, BankAccountID: "bnk_1"})
	}, "GET", "/transactions?bankAccountId=bnk_1&incomeOnly=true&limit=2&offset=4&status=completed&type=sepa%2Ccrypto",
		"", 200,
		listOf(`{"id":"t1","type":"sepa","status":"completed","incoming":true,"amount":"10.25","currency":"EUR",` +
			`"bankAccountId":"bnk_1","contactId":null,"txHash":"0x2","createdAt":"2026-01-02T03:04:05Z"}`)},
}

var contactExchanges = map[string]exchange{
	"ListContacts": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contacts.List(ctx, appapi.ListContactsParams{Limit: 100, Offset: 200})
	}, "GET", "/user/contacts?limit=100&offset=200", "", 200, listOf(contactJSON)},
	"CreateContact": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contacts.Create(ctx, appapi.ContactCreate{Name: "Bob", Relationship: "external",
			Account: appapi.Onchain(model.OnchainAccount{WalletAddress: "0x1", ChainID: "base", Currency: "USDC"})})
	}, "POST", "/user/contact",
		`{"name":"Bob","relationship":"external","account":{"accountType":"onchain","walletAddress":"0x1",` +
			`"chainId":"base","currency":"USDC"}}`, 201, contactJSON},
	"UpdateContact": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contacts.Update(ctx, id1, appapi.ContactUpdate{Name: model.Set("Bobby")})
	}, "PATCH", "/user/contacts/" + id1, `{"name":"Bobby"}`, 200, contactJSON},
	"DeleteContact": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return nil, app.Contacts.Delete(ctx, id1)
	},
		"DELETE", "/user/contacts/" + id1, "", 204, ""},
	"ValidateBankDetails": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contacts.ValidateBank(ctx, appapi.BankDetails{BankType: "iban", Country: "DE", BankName: "A bank",
			IBAN: "DE00", BIC: "ABCDEFGH", RoutingNumber: model.Set("1")})
	}, "POST", "/user/contact/bank/validate",
		`{"bankType":"iban","country":"DE","bankName":"A bank","iban":"DE00","bic":"ABCDEFGH","routingNumber":"1"}`,
		200,
		`{"valid":false,"errors":[{"field":"iban","code":"checksum","message":"does not add up"}]}`},
}

var invoiceExchanges = map[string]exchange{
	"ListInvoices": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.List(ctx, appapi.ListInvoicesParams{})
	}, "GET", "/documents/contracts/invoices", "", 200, listOf(invoiceJSON)},
	"GetInvoice": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Invoices.Get(ctx, id1) },
		"GET", "/documents/contracts/invoices/" + id1, "", 200, invoiceJSON},
	"CreateInvoice": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.Create(ctx, appapi.InvoiceCreate{
			Currency: model.InvoiceCurrencyUSD, ContractorEmail: "c@example.com", ContractorDisplayName: "C",
			ClientEmail: "d@example.com", ClientDisplayName: "D",
			ClientAddress: model.PostalAddress{City: "Oslo"}, Items: lines(), InvoicePrefix: "INV",
			Onchain: pointer(false), DueDate: model.Date{Year: 2026, Month: 2, Day: 1},
		})
	}, "POST", "/documents/contracts/invoices",
		`{"currency":"USD","contractorEmail":"c@example.com","contractorDisplayName":"C",` +
			`"clientEmail":"d@example.com","clientDisplayName":"D","clientAddress":{"city":"Oslo"},"items":` + linesJSON + `,"invoicePrefix":"INV","onchain":false,"dueDate":"2026-02-01"}`, 201, invoiceJSON},
	"CreateUploadedInvoice": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.CreateUploaded(ctx, appapi.UploadedInvoiceCreate{DocumentID: id2, Amount: price("10"),
			Currency: model.InvoiceCurrencyUSDC})
	}, "POST", "/documents/contracts/invoices/uploaded", `{"documentId":"` + id2 + `","amount":"10","currency":"USDC"}`,
		201, invoiceJSON},
	"UpdateInvoice": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.Update(ctx, id1, model.InvoiceUpdate{Status: model.InvoiceStatusCancelled})
	}, "PUT", "/documents/contracts/invoices/" + id1, `{"status":"cancelled"}`, 200, invoiceJSON},
	"UpdateInvoice paid offline, now": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.MarkPaid(ctx, id1, appapi.InvoicePayment{})
	}, "PUT", "/documents/contracts/invoices/" + id1, `{"status":"paid"}`, 200, invoiceJSON},
	"UpdateInvoice paid by a transaction, earlier": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.MarkPaid(ctx, id1,
			appapi.InvoicePayment{Reference: "ref-1", At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	}, "PUT", "/documents/contracts/invoices/" + id1,
		`{"status":"paid","onchainTransactionId":"ref-1","paidAt":"2026-01-01T00:00:00Z"}`, 200, invoiceJSON},
	"CreateInvoiceFromContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.CreateFromContract(ctx, id2, appapi.ContractInvoiceCreate{
			ContractorAddress: model.PostalAddress{Zip: "1"}, InvoicePrefix: "INV",
			PeriodStart: model.Date{Year: 2026, Month: 1, Day: 1}, AddItems: lines(),
		})
	}, "POST", "/documents/contracts/" + id2 + "/create-invoice",
		`{"contractorAddress":{"zip":"1"},"invoicePrefix":"INV","periodStart":"2026-01-01","addItems":` + linesJSON +
			`}`, 201, invoiceJSON},
	"CreateInvoiceBatch": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.CreateBatch(ctx,
			appapi.InvoiceBatch{{ContractID: id1, Period: 1, Memo: "January", Items: lines()}, {ContractID: id2}})
	}, "POST", "/documents/contracts/invoices/batch_invoicing",
		`[{"contractId":"` + id1 + `","period":1,"memo":"January","items":` + linesJSON + `},{"contractId":"` + id2 +
			`"}]`, 201,
		`{"items":[` + invoiceJSON + `,` + invoiceJSON + `],"total":2}`},
}

var contractExchanges = map[string]exchange{
	"ListContracts": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.List(ctx, appapi.ListContractsParams{Limit: 1})
	}, "GET", "/documents/contracts?limit=1", "", 200, listOf(contractJSON)},
	"GetContract": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Contracts.Get(ctx, id1) },
		"GET", "/documents/contracts/" + id1, "", 200, contractJSON},
	"PreviewContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.Preview(ctx, id1)
	},
		"GET", "/documents/contracts/" + id1 + "/preview", "", 200,
		`{"fields":{"jobTitle":"Designer"},"text":"Agreement"}`},
	"ListContractTemplates": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.Templates(ctx)
	},
		"GET", "/documents/contracts/templates", "", 200,
		listOf(`{"id":"t1","name":"Service","type":"service","fields":["jobTitle"]}`)},
	"CreateContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.Create(ctx, appapi.ContractCreate{
			ContractorEmail: "c@example.com", Type: model.ContractTypeService, Period: "monthly", Label: "L",
			RequireSignature: pointer(true),
			Fields: appapi.ContractFields{Amount: price("3000"), Currency: model.FiatCurrencyEUR,
				JobTitle: "Designer", ScopeDescription: "All"},
			ActivationAt:    time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			PriorityMethods: []model.PriorityMethod{model.PriorityMethodSWIFTUSD},
		})
	}, "POST", "/documents/contracts",
		`{"contractorEmail":"c@example.com","type":"service","period":"monthly","label":"L","requireSignature":true,` +
			`"fields":{"amount":"3000","currency":"EUR","jobTitle":"Designer","scopeDescription":"All"},` +
			`"activationAt":"2026-01-01T00:00:00Z","priorityMethods":["swift-usd"]}`, 201, contractJSON},
	"UpdateContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.Update(ctx, id1,
			appapi.ContractUpdate{Fields: appapi.ContractFieldsUpdate{JobTitle: model.Set("Lead")},
				ExpirationAt: model.Set(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))})
	}, "PATCH", "/documents/contracts/" + id1, `{"fields":{"jobTitle":"Lead"},"expirationAt":"2027-01-01T00:00:00Z"}`,
		200, contractJSON},
	"PauseContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.Pause(ctx, id1)
	},
		"POST", "/documents/contracts/" + id1 + "/pause", "", 200, contractJSON},
	"ApproveContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.Approve(ctx, id1)
	},
		"POST", "/documents/contracts/" + id1 + "/approve", "", 200, contractJSON},
	"ReplacePaymentMethods": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.ReplacePaymentMethods(ctx, id1, []model.PaymentMethod{
			model.NewPaymentMethod(model.SEPAPaymentMethod{IBANNumber: "DE89370400440532013000",
				BankAddress: model.InstitutionAddress{City: "Bonn"}}),
			model.NewPaymentMethod(model.PIXPaymentMethod{PIXKey: "k"}),
		})
	}, "PUT", "/documents/contracts/" + id1 + "/payment_methods",
		`{"paymentMethods":[{"accountType":"sepa","ibanNumber":"DE89370400440532013000",` +
			`"bankAddress":{"city":"Bonn"}},{"accountType":"pix","pixKey":"k"}]}`, 200, contractJSON},
	"ReplacePaymentMethods by none": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.ReplacePaymentMethods(ctx, id1, nil)
	}, "PUT", "/documents/contracts/" + id1 + "/payment_methods", `{"paymentMethods":[]}`, 200, contractJSON},
	"DeleteContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return nil, app.Contracts.Delete(ctx, id1)
	},
		"DELETE", "/documents/contracts/" + id1, "", 204, ""},
}

var bankExchanges = map[string]exchange{
	"ListBanks": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Banks.List(ctx) },
		"GET", "/banks", "", 200, bankListJSON},
	"ActivateBanks": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Banks.Activate(ctx, []string{"sepa", "ach"})
	}, "POST", "/banks/activate", `{"methods":["sepa","ach"]}`, 200, bankListJSON},
	"ActivateBanks all": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Banks.Activate(ctx, nil)
	},
		"POST", "/banks/activate", `{}`, 200, bankListJSON},
	"QuoteBalancePayin": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Quotes.PayinFromChain(ctx, appapi.BalancePayinQuote{Amount: price("100"), Currency: "USDC",
			OriginChainID: 1})
	}, "POST", "/balance/payin/quote", `{"amount":"100","currency":"USDC","originChainId":1}`, 200, quoteJSON},
	"QuoteBankPayin": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Quotes.PayinFromBank(ctx, appapi.BankPayinQuote{Amount: price("100.10"), BankAccountID: "bnk_1",
			Memo: "m"})
	}, "POST", "/banks/payin/quote", `{"amount":"100.1","bankAccountId":"bnk_1","memo":"m"}`, 200, quoteJSON},
	"SubmitBankPayinQuote": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Quotes.SubmitPayin(ctx, "q_1")
	},
		"POST", "/banks/payin/quote/submit", `{"quoteId":"q_1"}`, 200, statusJSON},
	"QuoteBalancePayout": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Quotes.Payout(ctx, appapi.BalancePayoutQuote{ContactID: id1, Amount: price("100"),
			BankAccountID: "bnk_1"})
	}, "POST", "/balance/payout/quote", `{"contactId":"` + id1 + `","amount":"100","bankAccountId":"bnk_1"}`, 200,
		quoteJSON},
}

var cardExchanges = map[string]exchange{
	"ListCards": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Cards.List(ctx) },
		"GET", "/cards", "", 200,
		`{"cards":[` + cardJSON + `],"total":1,"created":true,"kycStatus":"approved","phoneVerified":true}`},
	"CreateCard": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Cards.Create(ctx, appapi.CardCreate{Format: appapi.CardFormatVirtual})
	}, "POST", "/cards", `{"format":"virtual"}`, 201, cardJSON},
	"GetCard": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Cards.Get(ctx, "card_1") },
		"GET", "/cards/card_1", "", 200, cardJSON},
	"RevealCardDetails": {func(ctx context.Context, app *appapi.Client) (any, error) {
		details, err := app.Cards.DetailsWithProof(ctx, "card_1",
			model.CardDetailsProof{MessageSignature: moneymovement.NewSecret("0x1"), Nonce: 1767323045})
		if err != nil {
			return nil, err
		}
		return map[string]string{"cardNumber": details.CardNumber.Reveal(), "cvv": details.CVV.Reveal(),
			"expiryDate": details.ExpiryDate.Reveal()}, nil
	}, "POST", "/cards/card_1/details", `{"messageSignature":"0x1","nonce":1767323045}`, 200,
		`{"cardNumber":"4242424242424242","cvv":"123","expiryDate":"12/29"}`},
	"SetCardLabel": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Cards.SetLabel(ctx, "card_1", "Travel")
	}, "PUT", "/cards/card_1/label", `{"label":"Travel"}`, 200, cardJSON},
	"SetCardLimit": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Cards.SetLimit(ctx, "card_1", appapi.CardLimitUpdate{DailyLimit: model.Set(number("100.25"))})
	}, "PUT", "/cards/card_1/limit", `{"dailyLimit":100.25}`, 200, cardJSON},
	"FreezeCard": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Cards.Freeze(ctx, "card_1")
	},
		"POST", "/cards/card_1/freeze", "", 200, cardJSON},
	"UnfreezeCard": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Cards.Unfreeze(ctx, "card_1")
	},
		"POST", "/cards/card_1/unfreeze", "", 200, cardJSON},
	"CreateCardKYCLink": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Cards.KYCLink(ctx) },
		"POST", "/cards/kyc/link", "", 200, linkJSON},
	"PreApproveCard": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Cards.PreApprove(ctx, appapi.CardPreApprovalCreate{Amount: price("500"), Currency: "USDC"})
	}, "POST", "/cards/pre-approve", `{"amount":"500","currency":"USDC"}`, 200, `{"approved":true,"txHash":"0x1"}`},
}

var transferExchanges = map[string]exchange{
	"CreateTransfer to a contact": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Transfers.Send(ctx, appapi.ToContact{ContactID: id1, Amount: price("0.100000000000000001"),
			Memo: "rent"}, "rent-1")
	}, "POST", "/apps/transfer", `{"contactId":"` + id1 + `","amount":0.100000000000000001,"memo":"rent"}`, 200,
		`{"txHash":"0xabc"}`},
	"CreateTransfer for a quote": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Transfers.Send(ctx, appapi.ToQuote{QuoteID: "q_1"}, "quote-1")
	}, "POST", "/apps/transfer", `{"quoteId":"q_1"}`, 200, `{"txHash":"0xabc"}`},
	"CreateTransfer": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Transfers.Send(ctx, appapi.ToInvoice{InvoiceID: id2, Memo: "m"}, "invoice-42")
	}, "POST", "/apps/transfer", `{"invoiceId":"` + id2 + `","memo":"m"}`, 200, `{"txHash":"0xabc"}`},
	"ListTransfers": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Transfers.List(ctx, appapi.ListTransfersParams{Limit: 3, Offset: 6, IdempotencyKey: "rent-1"})
	}, "GET", "/apps/transfers?idempotency_key=rent-1&limit=3&offset=6", "", 200,
		listOf(`{"id":"tr_1","contactId":"` + id1 +
			`","amount":25.5,"memo":"rent","txHash":"0xabc","status":"completed","idempotencyKey":"rent-1",` +
			`"createdAt":"2026-01-02T03:04:05Z"}`)},
}
