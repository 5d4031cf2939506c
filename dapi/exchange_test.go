package dapi_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/signing"
)

// exchange is one call and what it has to look like on the wire, written down from the description.
type exchange struct {
	call     func(context.Context, caller) (any, error)
	method   string
	path     string // with query, below /dapi/v1
	body     string // "" for none
	status   int
	response string
}

// caller is an account, with the clients of its integrator.
type caller struct {
	*dapi.Account

	clients *dapi.Clients
}

// by makes the call for a client.
func (x exchange) by(ctx context.Context, p *dapi.Integrator) (any, error) {
	return x.call(ctx, caller{p.For("cl_1"), p.Clients})
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

var exchanges = map[string]exchange{
	"CreateClient": {func(ctx context.Context, a caller) (any, error) {
		return a.clients.Create(ctx, dapi.ClientCreate{Email: "a@example.com", Type: dapi.ClientTypeIndividual})
	}, "POST", "/clients", `{"email":"a@example.com","type":"individual"}`, 201, clientJSON},
	"GetClient": {func(ctx context.Context, a caller) (any, error) { return a.clients.Get(ctx, "cl_1") },
		"GET", "/clients/cl_1", "", 200, clientJSON},
	"SaveKYB": {func(ctx context.Context, a caller) (any, error) {
		return a.Verification.Save(ctx,
			dapi.KYBInformation{Applicant: map[string]any{"country": "DE"}, DocumentIDs: []string{"d1"}})
	}, "PUT", "/client/kyb", `{"applicant":{"country":"DE"},"documentIds":["d1"]}`, 200,
		`{"status":"pending","requirements":[]}`},
	"GetKYB": {func(ctx context.Context, a caller) (any, error) { return a.Verification.Get(ctx) },
		"GET", "/client/kyb", "", 200,
		`{"status":"pending","requirements":[{"code":"c","message":"m","field":"country"}]}`},
	"CompleteKYB": {func(ctx context.Context, a caller) (any, error) { return a.Verification.Complete(ctx) },
		"POST", "/client/kyb/complete", "", 200, `{"status":"under_review","snapshotId":"s1"}`},
	"ListRails": {func(ctx context.Context, a caller) (any, error) {
		return a.Rails.List(ctx, dapi.ListRailsParams{Limit: 7, Cursor: "c"})
	}, "GET", "/banks?cursor=c&limit=7", "", 200, `{"items":[` + railJSON + `]}`},
	"OpenRail": {func(ctx context.Context, a caller) (any, error) {
		return a.Rails.Open(ctx, dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"})
	}, "POST", "/banks", `{"method":"sepa","currency":"EUR"}`, 201, railJSON},
	"CreatePayin": {func(ctx context.Context, a caller) (any, error) {
		return a.Payins.Create(ctx, dapi.PayinCreate{Amount: amount("10.50"), Currency: "USDC", OriginChainID: 1,
			MaxAmount: amount("11")})
	}, "POST", "/payins", `{"amount":"10.5","currency":"USDC","originChainId":1,"maxAmount":"11"}`, 201, payinJSON},
	"GetPayin": {func(ctx context.Context, a caller) (any, error) { return a.Payins.Get(ctx, "pi_1") },
		"GET", "/payins/pi_1", "", 200, payinJSON},
	"CreatePayinInstructions": {func(ctx context.Context, a caller) (any, error) {
		return a.Payins.Instructions(ctx, "pi_1")
	}, "POST", "/payins/pi_1/instructions", "", 201, `{"requisites":{"iban":"DE89370400440532013000"}}`},
	"CreateContact": {func(ctx context.Context, a caller) (any, error) {
		return a.Contacts.Create(ctx, dapi.ContactCreate{Name: "Bob",
			Account: dapi.Onchain(dapi.OnchainAccount{WalletAddress: "0x1", ChainID: "base", Currency: "USDC"})})
	}, "POST", "/contacts",
		`{"name":"Bob","account":{"accountType":"onchain","walletAddress":"0x1","chainId":"base","currency":"USDC"}}`,
		201, contactRes},
	"UpdateContact": {func(ctx context.Context, a caller) (any, error) {
		return a.Contacts.Update(ctx, "ct_1",
			dapi.ContactUpdate{Email: model.Null[string](), IsExternal: model.Set(false)})
	}, "PATCH", "/contacts/ct_1", `{"email":null,"isExternal":false}`, 200, contactRes},
	"DeleteContact": {func(ctx context.Context, a caller) (any, error) { return nil, a.Contacts.Delete(ctx, "ct_1") },
		"DELETE", "/contacts/ct_1", "", 204, ""},
	"GetContactCapabilities": {func(ctx context.Context, a caller) (any, error) {
		return a.Contacts.Capabilities(ctx, "ct_1")
	}, "GET", "/contacts/ct_1/capabilities", "", 200,
		`{"contactId":"ct_1","payable":false,"methods":[],"blockers":[{"code":"c","message":"m"}]}`},
	"BookPayout": {func(ctx context.Context, a caller) (any, error) {
		return a.Payouts.Book(ctx, dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25.00"),
			Currency: dapi.USDC, FromChainID: 8453, ToChainID: 1})
	}, "POST", "/payouts",
		`{"contactId":"ct_1","amount":"25","currency":"USDC","fromChainId":8453,"toChainId":1}`, 201,
		payoutJSON},
	"GetPayout": {func(ctx context.Context, a caller) (any, error) { return a.Payouts.Get(ctx, "po_1") },
		"GET", "/payouts/po_1", "", 200, payoutJSON},
	"ListTransactions": {func(ctx context.Context, a caller) (any, error) {
		return a.Transactions.List(ctx, dapi.ListTransactionsParams{Limit: 100, Type: dapi.TransactionTypeDeposit,
			Since: time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("CET", 3600))})
	}, "GET", "/transactions?limit=100&since=2026-01-02T03%3A04%3A05Z&type=deposit", "", 200,
		`{"items":[` + txJSON + `],"nextCursor":"c2"}`},
	"ListChains": {func(ctx context.Context, a caller) (any, error) {
		return a.Chains.List(ctx, dapi.ListChainsParams{})
	}, "GET", "/chains", "", 200,
		`{"items":[{"chainId":8453,"code":"base","name":"Base","tokens":[{"symbol":"USDC","decimals":6,` +
			`"address":"0x1"}]}]}`},
	"CreateEscrow": {func(ctx context.Context, a caller) (any, error) {
		return a.Escrows.Create(ctx,
			dapi.EscrowCreate{Amount: amount("5"), Currency: dapi.EURC,
				Payee: "0x52908400098527886E0F7030069857D2E4169EE7", HoldFor: "7d"})
	}, "POST", "/escrow",
		`{"amount":"5","currency":"EURC","payee":"0x52908400098527886E0F7030069857D2E4169EE7","holdFor":"7d"}`, 201,
		escrowJSON},
	"PrepareEscrowAction": {func(ctx context.Context, a caller) (any, error) {
		action, err := a.Escrows.Prepare(ctx, "esc_1", dapi.EscrowActionTypeRelease)
		return map[string]any{"action": action}, err
	}, "POST", "/escrow/esc_1/actions", `{"type":"release"}`, 201,
		`{"action":{"idempotencyKey":"k","type":"release"}}`},
	"SyncEscrow": {func(ctx context.Context, a caller) (any, error) { return a.Escrows.Sync(ctx, "esc_1") },
		"POST", "/escrow/esc_1/sync", "", 200, escrowJSON},
	"GetTreasury": {func(ctx context.Context, a caller) (any, error) { return a.Sandbox.Treasury(ctx) },
		"GET", "/sandbox/treasury", "", 200, `{"maxCredit":"100","balances":[],"gas":"0"}`},
	"CreateDeposit": {func(ctx context.Context, a caller) (any, error) {
		return a.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: amount("10"), Currency: dapi.USDC})
	}, "POST", "/sandbox/deposits", `{"amount":"10","currency":"USDC"}`, 201, txJSON},
	"CompletePayin": {func(ctx context.Context, a caller) (any, error) { return a.Sandbox.CompletePayin(ctx, "pi_1") },
		"POST", "/sandbox/payins/pi_1/complete", "", 200, payinJSON},
	"MovePayout": {func(ctx context.Context, a caller) (any, error) {
		return a.Sandbox.SetPayoutStatus(ctx, "po_1", dapi.PayoutStatusCompleted)
	}, "POST", "/sandbox/payouts/po_1/status", `{"status":"completed"}`, 200, payoutJSON},
}

// Each call is sent as described, for the account that was asked for, and nothing of its response is lost.
// Rule: endpoint.rows, endpoint.base, endpoint.json, session.bearer, session.service-account, contact.response
// Rule: coverage.chains, ledger.whole-account, error.unknown-key
func TestEachOperationSendsTheDescribedRequest(t *testing.T) {
	for name, x := range exchanges {
		t.Run(name, func(t *testing.T) {
			var sent *http.Request
			var body []byte
			platform := sessionBy(t, testkit.Connection(func(r *http.Request) (*http.Response, error) {
				if sent, body = r, nil; r.Body != nil {
					body, _ = io.ReadAll(r.Body)
				}
				return testkit.Page(x.status, "application/json", x.response)(r)
			}))
			for account, acting := range map[string]*dapi.Account{"": platform.Self(), "cl_1": platform.For("cl_1")} {
				value, err := x.call(t.Context(), caller{acting, platform.Clients})
				require.NoError(t, err)
				assert.Equal(t, x.method, sent.Method)
				assert.Equal(t, baseURL+"/dapi/v1"+x.path, sent.URL.String())
				assert.Equal(t, "Bearer token", sent.Header.Get("Authorization"))
				assert.Equal(t, "application/json", sent.Header.Get("Accept"))
				if strings.HasPrefix(x.path, "/clients") {
					account = "" // of no account
				}
				assert.Equal(t, account, sent.Header.Get("X-Service-Account"))
				assert.Empty(t, headerOf(sent, "Idempotency-Key"), "no key is invented")
				if x.body == "" {
					assert.Empty(t, body)
				} else {
					assert.JSONEq(t, x.body, string(body))
				}
				assertDecoded(t, x.response, value)
			}
		})
	}
}

// assertDecoded checks that nothing of the response was lost: written again, each of its members is there.
func assertDecoded(t *testing.T, response string, value any) {
	t.Helper()
	if response == "" {
		return
	}
	written, err := json.Marshal(value)
	require.NoError(t, err)
	var want, got map[string]any
	require.NoError(t, json.Unmarshal([]byte(response), &want))
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

// open are members whose sets of values can grow.
var open = map[string]bool{"status": true, "type": true, "direction": true, "method": true}

// proof are members that an operation's response is nothing without, besides the id and the items.
var proof = map[string]bool{
	"BookPayout.idempotencyKey": true, "PrepareEscrowAction.action": true, "CreateEscrow.idempotencyKey": true,
	"CreatePayinInstructions.requisites": true,
}

// A later version of the service may add members and values, and leave out what may be null.
func TestResponsesOfALaterVersionAreRead(t *testing.T) {
	for name, x := range exchanges {
		if x.response == "" {
			continue
		}
		var described map[string]any
		require.NoError(t, json.Unmarshal([]byte(x.response), &described))
		read := func(t *testing.T, response map[string]any) map[string]any {
			t.Helper()
			text, err := json.Marshal(response)
			require.NoError(t, err)
			value, err := x.by(t.Context(), responding(t, x.status, string(text)))
			require.NoError(t, err, "%s", text)
			written, err := json.Marshal(value)
			require.NoError(t, err)
			var got map[string]any
			require.NoError(t, json.Unmarshal(written, &got))
			return got
		}
		t.Run(name, func(t *testing.T) {
			later := maps.Clone(described)
			later["addedLater"] = map[string]any{"id": "x", "items": []any{1, nil}}
			for member := range described {
				if open[member] {
					later[member] = "of_a_later_version"
				}
			}
			got := read(t, later)
			for member := range described {
				assert.Equal(t, later[member], got[member], member)
			}
			for member := range described {
				if proof[name+"."+member] || member == "id" || member == "items" {
					continue // without it the response is another: see TestUnexpectedResponseIsAnError
				}
				without := maps.Clone(described)
				without[member] = nil
				got := read(t, without)
				for other := range described {
					if other != member {
						assert.Equal(t, described[other], got[other], "%s without %s", other, member)
					}
				}
			}
		})
	}
}

// Everything optional in a contact may be null. What a response holds beyond that is kept in its body.
// Rule: contact.response
func TestContactWithNullFields(t *testing.T) {
	const text = `{"id":"7c9e6679","name":"","isExternal":true,"createdAt":"2026-01-02T03:04:05","email":null,"address":null,"bank":null,
		"crypto":null,"userId":null,"user":null,"labels":["a"]}`
	var response moneymovement.Response
	contact, err := responding(t, 201, text).Self().Contacts.Create(t.Context(), dapi.ContactCreate{},
		moneymovement.CaptureResponse(&response))
	require.NoError(t, err)
	assert.Equal(t, &dapi.Contact{ID: "7c9e6679", IsExternal: true, CreatedAt: contact.CreatedAt}, contact)
	assert.Equal(t, "2026-01-02T03:04:05Z", contact.CreatedAt.Format("2006-01-02T15:04:05Z07:00"))
	assert.JSONEq(t, text, string(response.Body))
}

// A body that is not the resource, such as one in an envelope, is an error. It is not read as a resource without an id,
// or as an empty ledger.
func TestUnexpectedResponseIsAnError(t *testing.T) {
	for name, x := range exchanges {
		var described map[string]any
		if x.response != "" {
			require.NoError(t, json.Unmarshal([]byte(x.response), &described))
		}
		if described["id"] == nil && described["items"] == nil || silent[name] {
			continue
		}
		for _, response := range []string{`{}`, `{"data":` + x.response + `}`,
			`{"error":{"code":"conflict","message":"No."}}`, `{"id":null}`} {
			_, err := x.by(t.Context(), responding(t, x.status, response))
			if x.method != http.MethodGet {
				err = as[*errors.InDoubt](t, err).Cause
			}
			unexpected := as[*errors.UnexpectedResponse](t, err)
			assert.Equal(t, x.status, unexpected.Status, "%s: %s", name, response)
			assert.ErrorContains(t, unexpected.Err, "the response has no i", name)
		}
	}
}

// If a stated member is missing, the rest of the response is read. The member is reported, and logged as an error. An
// assumed member is logged as a warning, once.
func TestUnreadableMembersAreReportedAndLogged(t *testing.T) {
	var log strings.Builder
	response := `{"id":"po_1","status":"processing","contactId":"ct_1","amount":{"value":"25"},"currency":"USDC",` +
		`"createdAt":"soon","purpose":["x"]}`
	platform := responding(t, 200, response, moneymovement.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	var kept moneymovement.Response
	for range 3 {
		payout, err := platform.Self().Payouts.Get(t.Context(), "po_1", moneymovement.CaptureResponse(&kept))
		require.NoError(t, err)
		assert.Equal(t, &dapi.Payout{ID: "po_1", Status: "processing", ContactID: "ct_1", Currency: dapi.USDC}, payout)
	}
	assert.ElementsMatch(t, []moneymovement.Unread{
		{Pointer: "/idempotencyKey", Stated: true, Problem: "is missing"},
		{Pointer: "/purpose", Stated: true, Problem: "is an array"},
		{Pointer: "/amount", Problem: "is an object"},
		{Pointer: "/createdAt", Problem: "is not a time"},
	}, kept.Unread)
	assert.Equal(t, 3, strings.Count(log.String(), "level=ERROR"))
	assert.Equal(t, 1, strings.Count(log.String(), "level=WARN"), "one warning for each assumption")
	assert.Contains(t, log.String(), "/createdAt is not a time")
	assert.NotContains(t, log.String(), "soon")
}

func TestUnreadableEntryDoesNotAffectOthers(t *testing.T) {
	var kept moneymovement.Response
	page, err := responding(t, 200,
		`{"items":[`+txJSON+`,"what",{"id":"tx_2","amount":{},"createdAt":"2026-01-02T03:04:05Z"},`+txJSON+`],`+
			`"nextCursor":"c"}`).
		Self().Transactions.List(t.Context(), dapi.ListTransactionsParams{}, moneymovement.CaptureResponse(&kept))
	require.NoError(t, err)
	require.Len(t, page.Items, 3)
	assert.Equal(t, dapi.TransactionID("tx_2"), page.Items[1].ID)
	assert.Equal(t, "c", page.NextCursor)
	assert.Equal(t, moneymovement.Unread{Pointer: "/items/1", Problem: "is a string"}, kept.Unread[0])
	for _, unread := range kept.Unread[1:] {
		assert.Contains(t, unread.Pointer, "/items/2/")
	}
}

// A page has at most 100 entries. Up to 1,000 are read. A page with more is refused before it is decoded.
func TestPageWithTooManyItemsIsRefused(t *testing.T) {
	list := func(n int) (*dapi.TransactionPage, []moneymovement.Unread, error) {
		var kept moneymovement.Response
		page, err := responding(t, 200, `{"items":[`+strings.Repeat(txJSON+",", n-1)+txJSON+`]}`).Self().Transactions.
			List(t.Context(), dapi.ListTransactionsParams{Limit: 10}, moneymovement.CaptureResponse(&kept))
		return page, kept.Unread, err
	}
	page, unread, err := list(1000)
	require.NoError(t, err)
	assert.Len(t, page.Items, 1000)
	assert.Contains(t, unread, moneymovement.Unread{Pointer: "/items", Stated: true,
		Problem: "has 1000 entries, but 10 were asked for"})
	_, unread, err = list(10)
	require.NoError(t, err)
	assert.Empty(t, unread)
	_, _, err = list(1001)
	assert.ErrorContains(t, as[*errors.UnexpectedResponse](t, err).Err, "more than 1000 items")
}

// A success without content does not prove that money moved.
func TestSandboxWriteWithoutProofIsInDoubt(t *testing.T) {
	for _, body := range []string{"", "null", "{}", `{"ok":true}`} {
		sandbox := responding(t, 200, body).Self().Sandbox
		for name, write := range map[string]func() (any, error){
			"Deposit": func() (any, error) {
				return sandbox.Deposit(t.Context(), dapi.DepositCreate{Amount: amount("1"), Currency: dapi.USDC})
			},
			"CompletePayin":   func() (any, error) { return sandbox.CompletePayin(t.Context(), "pi_1") },
			"SetPayoutStatus": func() (any, error) { return sandbox.SetPayoutStatus(t.Context(), "po_1", "completed") },
		} {
			got, err := write()
			_ = as[*errors.InDoubt](t, err)
			assert.Nil(t, got, "%s after %q", name, body)
		}
	}
}

// The description does not limit the length of a challenge's id.
func TestLoginWithLongChallenge(t *testing.T) {
	id := strings.Repeat("c", 3000)
	var completed string
	service := testkit.Connection(func(r *http.Request) (*http.Response, error) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/auth/challenge"):
			return testkit.Page(http.StatusCreated, "application/json",
				`{"challengeId":"`+id+`","payload":"bG9naW4"}`)(r)
		case strings.HasSuffix(r.URL.Path, "/auth/token"):
			var body struct{ ChallengeID string }
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				return nil, err
			}
			completed = body.ChallengeID
			return testkit.Page(http.StatusCreated, "application/json", `{"accessToken":"a"}`)(r)
		}
		return testkit.Page(http.StatusOK, "application/json", `[]`)(r)
	})
	integrator := integratorBy(t, service)
	page, err := integrator.Self().Chains.List(t.Context(), dapi.ListChainsParams{})
	require.NoError(t, err)
	assert.Empty(t, page.Items)
	assert.Equal(t, id, completed)
}

const signerFails = "the signer fails"

// allFaults are the faults of any surface, and those of this one.
func allFaults() map[string]testkit.Fault {
	all := map[string]testkit.Fault{
		"canceled before, for a cause": {Context: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(testkit.ErrCustom)
			return ctx, func() {}
		}},
		"out of time": {
			Context: func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, time.Second)
			},
			Service: func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			},
		},
		"neither of both": {Service: func(*http.Request) (*http.Response, error) { return nil, nil }},
		//nolint:nilnil // what is tested
		"nothing at all": {Service: testkit.Page(http.StatusNoContent, "", "")},
		"null":           {Service: testkit.Page(http.StatusOK, "application/json", "null")},
		signerFails:      {},
	}
	maps.Copy(all, testkit.CommonFaults())
	return all
}

// silent are the writes of which the description does not say what they return: any success is one.
var silent = map[string]bool{
	"SaveKYB": true, "CompleteKYB": true, "UpdateContact": true, "OpenRail": true,
	"CreateDeposit": true, "CompletePayin": true, "MovePayout": true,
}

// failingSigner is a key that is held elsewhere, out of reach.
type failingSigner struct {
	signing.Signer
	err error
}

func (s failingSigner) Sign(ctx context.Context, message []byte) ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.Signer.Sign(ctx, message)
}

// Each error of the SDK names its call, with or without a session, for every kind of failure.
func TestEveryErrorDescribesItsCall(t *testing.T) {
	key, err := signing.Generate()
	require.NoError(t, err)
	for fault, m := range allFaults() {
		for _, store := range []dapi.TokenStore{loggedIn(baseURL, key).Store, nil} {
			key := failingSigner{Signer: key}
			if fault == signerFails {
				if store != nil {
					continue // nothing to sign
				}
				key.err = testkit.ErrCustom
			}
			if m.Service == nil { // a service that only knows challenges
				m.Service = testkit.Page(http.StatusCreated, "application/json",
					`{"challengeId":"ch_1","payload":"YQ=="}`)
			}
			for operation, x := range exchanges {
				t.Run(fault+"/"+operation, func(t *testing.T) {
					m.CheckCall(t, func(t *testing.T, ctx context.Context, next *http.Client) error {
						platform, err := dapi.NewIntegrator(baseURL,
							dapi.Developer{Email: "ops@example.com", Key: key, Store: store},
							moneymovement.WithHTTPClient(next))
						require.NoError(t, err)
						if _, err = x.by(ctx, platform); err == nil {
							assert.True(t, x.response == "" || silent[operation], "a response that nobody sent")
						} else {
							time.Sleep(3 * time.Minute) // until a login that nobody waits for has ended
						}
						return err
					})
				})
			}
		}
	}
}

func TestErrorsOfFlowsHaveRetryableAndMovedByCall(t *testing.T) {
	pending := func(resource string) error {
		return &moneymovement.StillPending{Progress: moneymovement.Progress{Resource: resource}}
	}
	for name, tc := range map[string]struct {
		err       error
		retryable bool
		moved     errors.Movement
	}{
		"a payout that goes on":  {pending("payout"), true, errors.MaybeMoved},
		"an escrow that goes on": {pending("escrow"), true, errors.MaybeMoved},
		"a payin that goes on":   {pending("payin"), true, errors.MaybeMoved},
		"a review that goes on":  {pending("verification"), true, errors.NotMoved},
		"a client not yet ready": {pending("client"), true, errors.NotMoved},
		"a payin that ended":     {&dapi.PayinNotCompleted{}, false, errors.NotMoved},
		"a channel that is down": {&dapi.ChannelUnavailable{}, true, errors.NotMoved},
		"a rail nobody has":      {&dapi.RailNotListed{}, false, errors.NotMoved},
		"an escrow that lapsed":  {&dapi.EscrowNotOpened{}, false, errors.NotMoved},
		"a payout that failed":   {&dapi.PayoutNotCompleted{}, false, errors.NotMoved},
		"other terms":            {&dapi.TermsDiffer{}, false, errors.NotMoved},
		"another price":          {&dapi.PriceRefused{}, false, errors.NotMoved},
		"a hook that declines":   {&dapi.PaymentDeclined{}, true, errors.NotMoved},
		"a key too old":          {&dapi.KeyTooOld{}, false, errors.NotMoved},
		"a rail not yet active":  {pending("rail"), true, errors.NotMoved},
		"an approval refused":    {&signing.ApprovalRefused{}, false, errors.NotMoved},
		"a challenge refused":    {&signing.ChallengeRefused{}, false, errors.NotMoved},
		"a key that cannot sign": {&signing.NotSigned{}, true, errors.NotMoved},
		"a key that signs wrong": {&signing.RemoteSignatureRefused{}, false, errors.NotMoved},
	} {
		t.Run(name, func(t *testing.T) {
			failure, ok := errors.AsType[errors.Failure](tc.err)
			require.True(t, ok)
			assert.Equal(t, tc.retryable, failure.Retryable())
			assert.Equal(t, tc.moved, failure.MovedByCall())
			assert.NotEmpty(t, failure.Error(), "also if its fields are empty")
			_, headed := errors.CallInfoOf(failure)
			assert.Equal(t, !strings.HasSuffix(name, "goes on") && !strings.HasPrefix(name, "a key that ") &&
				!strings.Contains(name, " not yet "), headed, "what a payment ends in names its call")
		})
	}
}

// A client that no constructor made, and a call without a context, are refused by each method before it does anything.
func TestCallsOfZeroClientsAreRefused(t *testing.T) {
	const makers = "dapi.NewIntegrator or dapi.NewSelfServe"
	key, err := signing.Generate()
	require.NoError(t, err)
	integrator, sent := counted(t)
	own, err := dapi.NewSelfServe(baseURL, dapi.Developer{Email: "ops@example.com", Key: key})
	require.NoError(t, err)
	nobody, zero := (*dapi.Integrator)(nil), new(dapi.Integrator)

	calls := testkit.Surface{
		Constructors: makers,
		Clients:      []any{integrator, integrator.Self(), integrator.For("cl_x"), own},
		ZeroClients: []any{zero, nobody.Self(), nobody.For("cl_x"), zero.Self(), zero.For("cl_x"), new(dapi.Account),
			new(dapi.SelfServe)},
	}.Test(t)
	assert.Greater(t, calls, 400, "the walk found next to nothing")
	assert.Zero(t, sent.Load())
	assert.Equal(t, 108, own.Payouts.MaxInFlight())
	assert.Zero(t, new(dapi.Payouts).MaxInFlight())
	assert.Zero(t, (*dapi.Payouts)(nil).MaxInFlight())

	testkit.CheckNoClient(t, nobody.UseKey(key), makers)
	require.ErrorContains(t, nobody.UseKey(key), "UseKey: ")
	testkit.CheckNoClient(t, zero.UseKey(key), makers)
	testkit.CheckNoClient(t, zero.Self().UseKey(key), makers)
	testkit.CheckNoClient(t, (*dapi.Account)(nil).UseKey(key), makers)
	testkit.CheckNoClient(t, new(dapi.Account).UseKey(key), makers)
	testkit.CheckNoClient(t, (*dapi.SelfServe)(nil).UseKey(key), makers)
	testkit.CheckNoClient(t, new(dapi.SelfServe).UseKey(key), makers)
}

func TestWaitAllOfZeroClientIsRefused(t *testing.T) {
	for most := range 2 {
		var refused []dapi.PayoutID
		for waited := range new(dapi.Payouts).WaitAll(t.Context(), []dapi.PayoutID{"po_1", "po_2"}) {
			testkit.CheckNoClient(t, waited.Err, "dapi.NewIntegrator or dapi.NewSelfServe")
			if refused = append(refused, waited.ID); most == 0 {
				break
			}
		}
		assert.Equal(t, []dapi.PayoutID{"po_1", "po_2"}[:most+1], refused)
	}
}

func TestTokenStoreRefusesNilContext(t *testing.T) {
	var without context.Context
	store := dapi.NewFileTokenStore(t.TempDir() + "/session")
	_, err := store.Load(without)
	testkit.CheckNoContext(t, err)
	require.ErrorContains(t, err, "NewFileTokenStore: ")
	testkit.CheckNoContext(t, store.Save(without, dapi.Session{}))
}
