package dapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/signing"
)

// exchange is one call and what it has to look like on the wire, written down from the description.
type exchange struct {
	call   func(context.Context, *dapi.Integrator) (any, error)
	method string
	path   string // with query, below /dapi/v1
	body   string // "" for none
	status int
	answer string
	acting bool // for a client
}

const (
	clientJSON = `{"id":"cl_1","email":"a@example.com","status":"ready",` +
		`"baseSmartWallet":"0x52908400098527886E0F7030069857D2E4169EE7","balances":[{"currency":"USDC",` +
		`"available":"1.5"}],"createdAt":"2026-01-02T03:04:05Z"}`
	railJSON = `{"method":"sepa","currency":"EUR","status":"active","virtualAccount":{"id":"bnk_1",` +
		`"requisites":{"iban":"DE89370400440532013000"}}}`
	payinJSON  = `{"id":"pi_1","status":"quoted","createdAt":"2026-01-02T03:04:05Z"}`
	contactRes = `{"id":"ct_1","name":"Bob","isExternal":false,"createdAt":"2026-01-02T03:04:05Z"}`
	payoutJSON = `{"id":"po_1","status":"processing","idempotencyKey":"k","contactId":"ct_1","amount":"25",` +
		`"currency":"USDC","createdAt":"2026-01-02T03:04:05Z"}`
	escrowJSON = `{"id":"esc_1","status":"active","availableActions":["release"],"idempotencyKey":"k"}`
	txJSON     = `{"id":"tx_1","type":"deposit","direction":"in","amount":"10","currency":"USDC",` +
		`"status":"completed","createdAt":"2026-01-02T03:04:05Z"}`
)

func for1(p *dapi.Integrator) *dapi.Account { return p.For("cl_1") }

var exchanges = map[string]exchange{
	"CreateClient": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return p.Clients.Create(ctx, dapi.ClientCreate{Email: "a@example.com", Type: dapi.ClientTypeIndividual})
	}, "POST", "/clients", `{"email":"a@example.com","type":"individual"}`, 201, clientJSON, false},
	"GetClient": {func(ctx context.Context, p *dapi.Integrator) (any, error) { return p.Clients.Get(ctx, "cl_1") },
		"GET", "/clients/cl_1", "", 200, clientJSON, false},
	"SaveKYB": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Verification.Save(ctx,
			dapi.KYBInformation{Applicant: map[string]any{"country": "DE"}, DocumentIDs: []string{"d1"}})
	}, "PUT", "/client/kyb", `{"applicant":{"country":"DE"},"documentIds":["d1"]}`, 200,
		`{"status":"pending","requirements":[]}`, true},
	"GetKYB": {func(ctx context.Context, p *dapi.Integrator) (any, error) { return for1(p).Verification.Get(ctx) },
		"GET", "/client/kyb", "", 200,
		`{"status":"pending","requirements":[{"code":"c","message":"m","field":"country"}]}`, true},
	"CompleteKYB": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Verification.Complete(ctx)
	},
		"POST", "/client/kyb/complete", "", 200, `{"status":"under_review","snapshotId":"s1"}`, true},
	"ListRails": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Rails.List(ctx, dapi.ListRailsParams{Limit: 2})
	}, "GET", "/banks?limit=2", "", 200, `{"items":[` + railJSON + `]}`, true},
	"OpenRail": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Rails.Open(ctx, dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"})
	}, "POST", "/banks", `{"method":"sepa","currency":"EUR"}`, 201, railJSON, true},
	"CreatePayin": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Payins.Create(ctx, dapi.PayinCreate{Amount: amount("10.50"), Currency: "USDC", OriginChainID: 1,
			MaxAmount: amount("11")})
	}, "POST", "/payins", `{"amount":"10.5","currency":"USDC","originChainId":1,"maxAmount":"11"}`, 201, payinJSON,
		true},
	"GetPayin": {func(ctx context.Context, p *dapi.Integrator) (any, error) { return for1(p).Payins.Get(ctx, "pi_1") },
		"GET", "/payins/pi_1", "", 200, payinJSON, true},
	"CreatePayinInstructions": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Payins.Instructions(ctx, "pi_1")
	},
		"POST", "/payins/pi_1/instructions", "", 201, `{"requisites":{"iban":"DE89370400440532013000"}}`, true},
	"CreateContact": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Contacts.Create(ctx, dapi.ContactCreate{Name: "Bob",
			Account: dapi.Onchain(dapi.OnchainAccount{WalletAddress: "0x1", ChainID: "base", Currency: "USDC"})})
	}, "POST", "/contacts",
		`{"name":"Bob","account":{"accountType":"onchain","walletAddress":"0x1","chainId":"base","currency":"USDC"}}`,
		201, contactRes, true},
	"UpdateContact": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Contacts.Update(ctx, "ct_1",
			dapi.ContactUpdate{Email: model.Null[string](), IsExternal: model.Set(false)})
	}, "PATCH", "/contacts/ct_1", `{"email":null,"isExternal":false}`, 200, contactRes, true},
	"DeleteContact": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return nil, for1(p).Contacts.Delete(ctx, "ct_1")
	},
		"DELETE", "/contacts/ct_1", "", 204, "", true},
	"GetContactCapabilities": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Contacts.Capabilities(ctx, "ct_1")
	},
		"GET", "/contacts/ct_1/capabilities", "", 200,
		`{"contactId":"ct_1","payable":false,"methods":[],"blockers":[{"code":"c","message":"m"}]}`, true},
	"BookPayout": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Payouts.Book(ctx, dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25.00"),
			Currency: dapi.USDC, FromChainID: 8453, ToChainID: 1})
	}, "POST", "/payouts",
		`{"contactId":"ct_1","amount":"25","currency":"USDC","fromChainId":8453,"toChainId":1}`, 201,
		payoutJSON, true},
	"GetPayout": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Payouts.Get(ctx, "po_1")
	},
		"GET", "/payouts/po_1", "", 200, payoutJSON, true},
	"ListTransactions": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Transactions.List(ctx, dapi.ListTransactionsParams{Limit: 100, Type: dapi.TransactionTypeDeposit,
			Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
	}, "GET", "/transactions?limit=100&since=2026-01-02T03%3A04%3A05Z&type=deposit", "", 200,
		`{"items":[` + txJSON + `],"nextCursor":"c2"}`, true},
	"ListChains": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return p.Self().Chains.List(ctx, dapi.ListChainsParams{})
	},
		"GET", "/chains", "", 200,
		`{"items":[{"chainId":8453,"code":"base","name":"Base","tokens":[{"symbol":"USDC","decimals":6,` +
			`"address":"0x1"}]}]}`, false},
	"CreateEscrow": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Escrows.Create(ctx,
			dapi.EscrowCreate{Amount: amount("5"), Currency: dapi.EURC,
				Payee: "0x52908400098527886E0F7030069857D2E4169EE7", HoldFor: "7d"})
	}, "POST", "/escrow",
		`{"amount":"5","currency":"EURC","payee":"0x52908400098527886E0F7030069857D2E4169EE7","holdFor":"7d"}`, 201,
		escrowJSON, true},
	"PrepareEscrowAction": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		action, err := for1(p).Escrows.Prepare(ctx, "esc_1", dapi.EscrowActionTypeRelease)
		return map[string]any{"action": action}, err
	}, "POST", "/escrow/esc_1/actions", `{"type":"release"}`, 201, `{"action":{"idempotencyKey":"k","type":"release"}}`,
		true},
	"SyncEscrow": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Escrows.Sync(ctx, "esc_1")
	},
		"POST", "/escrow/esc_1/sync", "", 200, escrowJSON, true},
	"GetTreasury": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return p.Self().Sandbox.Treasury(ctx)
	},
		"GET", "/sandbox/treasury", "", 200, `{"maxCredit":"100","balances":[],"gas":"0"}`, false},
	"CreateDeposit": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: amount("10"), Currency: dapi.USDC})
	}, "POST", "/sandbox/deposits", `{"amount":"10","currency":"USDC"}`, 201, txJSON, true},
	"CompletePayin": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Sandbox.CompletePayin(ctx, "pi_1")
	},
		"POST", "/sandbox/payins/pi_1/complete", "", 200, payinJSON, true},
	"MovePayout": {func(ctx context.Context, p *dapi.Integrator) (any, error) {
		return for1(p).Sandbox.SetPayoutStatus(ctx, "po_1", dapi.PayoutStatusCompleted)
	}, "POST", "/sandbox/payouts/po_1/status", `{"status":"completed"}`, 200, payoutJSON, true},
}

// storedSession keeps logins out of single exchanges.
type storedSession struct{ credential string }

func (s storedSession) Load(context.Context) (dapi.Session, error) {
	return dapi.Session{
		AccessToken: moneymovement.NewSecret("token"), RefreshToken: moneymovement.NewSecret("refresh"),
		Credential: s.credential,
		ExpiresAt:  time.Now().Add(time.Hour), RefreshExpiresAt: time.Now().Add(time.Hour),
	}, nil
}

func (storedSession) Save(context.Context, dapi.Session) error { return nil }

// loggedIn is a developer whose session is stored.
func loggedIn(baseURL string, key signing.Signer) dapi.Developer {
	developer := dapi.Developer{Email: "ops@example.com", Key: key}
	developer.Store = storedSession{developer.Credential(baseURL)}
	return developer
}

// Rule: endpoint.rows, endpoint.base, endpoint.json, session.bearer, contact.answer, coverage.chains
func TestEachExchangeLooksAsDescribed(t *testing.T) {
	for name, x := range exchanges {
		t.Run(name, func(t *testing.T) {
			mock := httpmock.NewMockTransport()
			var sent *http.Request
			var body []byte
			mock.RegisterNoResponder(func(r *http.Request) (*http.Response, error) {
				sent = r
				if r.Body != nil {
					body, _ = io.ReadAll(r.Body)
				}
				answer := httpmock.NewStringResponse(x.status, x.answer)
				answer.Header.Set("Content-Type", "application/json")
				return answer, nil
			})
			key, err := signing.Generate()
			require.NoError(t, err)
			platform, err := dapi.NewIntegrator("https://service.example", loggedIn("https://service.example", key),
				moneymovement.WithHTTPClient(&http.Client{Transport: mock}))
			require.NoError(t, err)

			value, err := x.call(t.Context(), platform)
			require.NoError(t, err)

			assert.Equal(t, x.method, sent.Method)
			assert.Equal(t, "https://service.example/dapi/v1"+x.path, sent.URL.String())
			assert.Equal(t, "Bearer token", sent.Header.Get("Authorization"))
			assert.Equal(t, "application/json", sent.Header.Get("Accept"))
			assert.Equal(t, x.acting, sent.Header.Get("X-Service-Account") == "cl_1")
			assert.Empty(t, headerOf(sent, "Idempotency-Key"), "no key is made up")
			if x.body == "" {
				assert.Empty(t, body)
			} else {
				assert.JSONEq(t, x.body, string(body))
			}
			assertDecoded(t, x.answer, value)
		})
	}
}

// assertDecoded checks that nothing of the answer was lost: written again, each of its members is there.
func assertDecoded(t *testing.T, answer string, value any) {
	t.Helper()
	if answer == "" {
		return
	}
	written, err := json.Marshal(value)
	require.NoError(t, err)
	var want, got map[string]any
	require.NoError(t, json.Unmarshal([]byte(answer), &want))
	require.NoError(t, json.Unmarshal(written, &got))
	for member := range want {
		assert.Equal(t, want[member], got[member], member)
	}
}

// headerOf reads a header whatever its spelling in the map.
func headerOf(r *http.Request, name string) []string {
	for spelled, values := range r.Header {
		if http.CanonicalHeaderKey(spelled) == name {
			return values
		}
	}
	return nil
}
