package dapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/signing"
)

// script answers each "METHOD path" with its bodies in turn, the last one for ever, and keeps what was sent.
type script struct {
	mu      sync.Mutex
	answers map[string][]string
	calls   []sentCall
}

type sentCall struct{ what, account, body string }

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	what := r.Method + " " + r.URL.RequestURI()[len("/dapi/v1"):]
	w.Header().Set("Content-Type", "application/json")
	switch what {
	case "POST /auth/challenge":
		_, _ = io.WriteString(w, `{"challengeId":"ch_1","payload":"bG9naW4=","expiresAt":"2126-01-01T00:00:00Z"}`)
		return
	case "POST /auth/token":
		_, _ = io.WriteString(w,
			`{"accessToken":"a","refreshToken":"r","tokenType":"Bearer","expiresIn":3600,"refreshExpiresIn":5184000}`)
		return
	}
	s.calls = append(s.calls, sentCall{what, r.Header.Get("X-Service-Account"), string(body)})
	answers := s.answers[what]
	if len(answers) == 0 {
		id := "x_1"
		switch {
		case strings.Contains(what, "/payouts"):
			id = "po_1"
		case strings.Contains(what, "/clients"):
			id = "cl_1"
		}
		_, _ = io.WriteString(w,
			`{"id":"`+id+`","items":[],"idempotencyKey":"k","status":"s","requisites":{"iban":"i"},`+
				`"action":{"idempotencyKey":"k"}}`)
		return
	}
	_, _ = io.WriteString(w, answers[0])
	if len(answers) > 1 {
		s.answers[what] = answers[1:]
	}
}

func (s *script) sent(what string) (count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range s.calls {
		if call.what == what {
			count++
		}
	}
	return count
}

func newScript(
	t *testing.T, answers map[string][]string, options ...moneymovement.Option,
) (*script, *dapi.Integrator) {
	t.Helper()
	s := &script{answers: answers}
	key, err := signing.Generate()
	require.NoError(t, err)
	integrator, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: "ops@example.com", Key: key},
		append(options, through(&inprocess.Transport{Handler: s}))...)
	require.NoError(t, err)
	return s, integrator
}

// TestEachMethodSendsItsOperation: as the table of endpoints says, and for the account that was asked for.
// Rule: endpoint.rows, session.service-account, ledger.whole-account, error.unknown-key
func TestEachMethodSendsItsOperation(t *testing.T) {
	type call = func(context.Context, *dapi.Account) error
	for what, c := range map[string]struct {
		call call
		body string
	}{
		"PUT /client/kyb": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Verification.Save(ctx,
				dapi.KYBInformation{Applicant: map[string]any{"name": "Acme"}, DocumentIDs: []string{"doc_1"}})
			return err
		}, `{"applicant":{"name":"Acme"},"documentIds":["doc_1"]}`},
		"GET /client/kyb": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Verification.Get(ctx)
			return err
		}, ""},
		"POST /client/kyb/complete": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Verification.Complete(ctx)
			return err
		}, ""},
		"GET /banks?cursor=c&limit=7": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Rails.List(ctx, dapi.ListRailsParams{Limit: 7, Cursor: "c"})
			return err
		}, ""},
		"POST /banks": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Rails.Open(ctx, dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"})
			return err
		}, `{"method":"sepa","currency":"EUR"}`},
		"POST /payins": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Payins.Create(ctx, dapi.PayinCreate{Amount: amount("10.50"), Currency: "EUR", BankID: "bnk_1",
				MaxAmount: amount("11")})
			return err
		}, `{"amount":"10.5","bankId":"bnk_1","currency":"EUR","maxAmount":"11"}`},
		"POST /payins/pi_1/instructions": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Payins.Instructions(ctx, "pi_1")
			return err
		}, ""},
		"GET /payins/pi_1": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Payins.Get(ctx, "pi_1")
			return err
		}, ""},
		"POST /contacts": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Contacts.Create(ctx,
				dapi.ContactCreate{Name: "Bob", Account: dapi.EmailContact("bob@example.com")})
			return err
		}, `{"name":"Bob","account":{"accountType":"email","email":"bob@example.com"}}`},
		"PATCH /contacts/ct_1": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Contacts.Update(ctx, "ct_1", dapi.ContactUpdate{})
			return err
		}, "{}"},
		"DELETE /contacts/ct_1": {func(ctx context.Context, a *dapi.Account) error {
			return a.Contacts.Delete(ctx, "ct_1")
		}, ""},
		"GET /contacts/ct_1/capabilities": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Contacts.Capabilities(ctx, "ct_1")
			return err
		}, ""},
		"POST /payouts": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Payouts.Book(ctx, dapi.PayoutCreate{
				ContactID: "ct_1", Amount: amount("25.00"), Currency: dapi.USDC, FromChainID: 8453, ToChainID: 1,
			})
			return err
		}, `{"contactId":"ct_1","amount":"25","currency":"USDC","fromChainId":8453,"toChainId":1}`},
		"GET /payouts/po_1": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Payouts.Get(ctx, "po_1")
			return err
		}, ""},
		"POST /escrow": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Escrows.Create(ctx, deal())
			return err
		},
			`{"amount":"40","currency":"USDC","payee":"` + payee + `","holdFor":"14d"}`},
		"POST /escrow/esc_1/actions": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Escrows.Prepare(ctx, "esc_1", dapi.EscrowActionTypeRefund)
			return err
		}, `{"type":"refund"}`},
		"POST /escrow/esc_1/sync": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Escrows.Sync(ctx, "esc_1")
			return err
		}, ""},
		"GET /transactions?limit=7&since=2026-01-02T03%3A04%3A05Z&type=payout": {func(ctx context.Context,
			a *dapi.Account) error {
			_, err := a.Transactions.List(ctx, dapi.ListTransactionsParams{
				Limit: 7, Type: dapi.TransactionTypePayout,
				Since: time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("CET", 3600)),
			})
			return err
		}, ""},
		"GET /chains": {func(ctx context.Context, a *dapi.Account) error { return read(ctx, a) }, ""},
		"GET /sandbox/treasury": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Sandbox.Treasury(ctx)
			return err
		}, ""},
		"POST /sandbox/deposits": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: amount("0.1"), Currency: dapi.EURC})
			return err
		}, `{"amount":"0.1","currency":"EURC"}`},
		"POST /sandbox/payins/pi_1/complete": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Sandbox.CompletePayin(ctx, "pi_1")
			return err
		}, ""},
		"POST /sandbox/payouts/po_1/status": {func(ctx context.Context, a *dapi.Account) error {
			_, err := a.Sandbox.SetPayoutStatus(ctx, "po_1", dapi.PayoutStatusFailed)
			return err
		}, `{"status":"failed"}`},
	} {
		t.Run(what, func(t *testing.T) {
			for _, account := range []string{"", "cl_1"} {
				s, integrator := newScript(t, nil)
				acting := integrator.Self()
				if account != "" {
					acting = integrator.For(dapi.ClientID(account))
				}
				require.NoError(t, c.call(t.Context(), acting))
				require.Len(t, s.calls, 1)
				assert.Equal(t, what, s.calls[0].what)
				assert.Equal(t, account, s.calls[0].account)
				if c.body == "" {
					assert.Empty(t, s.calls[0].body)
					continue
				}
				assert.JSONEq(t, c.body, s.calls[0].body)
			}
		})
	}
}

// Rule: rail.states, rail.residency
func TestRailWaits(t *testing.T) {
	page := func(status string) string {
		return `{"items":[{"method":"ach","currency":"USD","status":"active"},{"method":"sepa","currency":"EUR",` +
			`"status":"` + status + `"}]}`
	}
	const list = "GET /banks?limit=100"
	t.Run("until it is active", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, integrator := newScript(t,
				map[string][]string{list: {page("available"), page("pending"), page("active")}})
			rail, err := integrator.For("cl_1").Rails.WaitActive(t.Context(), dapi.BankMethodSEPA, "EUR")
			require.NoError(t, err)
			assert.Equal(t, dapi.RailStatusActive, rail.Status)
			assert.Equal(t, dapi.BankMethodSEPA, rail.Method)
			assert.Equal(t, 3, s.sent(list))
		})
	})
	t.Run("until its channel is down", func(t *testing.T) {
		_, integrator := newScript(t, map[string][]string{list: {page("channel_unavailable")}})
		rail, err := integrator.For("cl_1").Rails.WaitActive(t.Context(), dapi.BankMethodSEPA, "EUR")
		down := as[*dapi.ChannelUnavailable](t, err)
		assert.Same(t, rail, down.Rail)
		assert.Equal(t, []string{"ListRails", "", "cl_1"}, []string{down.Operation, down.Resource, down.Account})
		assert.ErrorContains(t, err,
			"rail sepa EUR reports channel_unavailable: the channel of its banking partner is down; "+
				"wait again later")
	})
	t.Run("not for one that is not there", func(t *testing.T) {
		_, integrator := newScript(t, map[string][]string{list: {page("active")}})
		_, err := integrator.For("cl_1").Rails.WaitActive(t.Context(), dapi.BankMethodSEPA, "PLN")
		unlisted := as[*dapi.RailNotListed](t, err)
		assert.Equal(t, "PLN", unlisted.Currency)
		assert.Equal(t, []string{"ListRails", "", "cl_1"},
			[]string{unlisted.Operation, unlisted.Resource, unlisted.Account})
		assert.ErrorContains(t, err, "rail sepa PLN is not in the client's list: it was not requested (see "+
			"Rails.Open), or it is not available for the client's country of residence or legal form")
	})
	t.Run("on any page", func(t *testing.T) {
		_, integrator := newScript(t, map[string][]string{
			list: {`{"items":[],"nextCursor":"2"}`}, "GET /banks?cursor=2&limit=100": {page("active")},
		})
		_, err := integrator.For("cl_1").Rails.WaitActive(t.Context(), dapi.BankMethodSEPA, "EUR")
		require.NoError(t, err)
	})
}

func TestPayinWaits(t *testing.T) {
	payin := func(status string) string {
		return `{"id":"pi_1","status":"` + status + `","createdAt":"2026-01-01T00:00:00Z"}`
	}
	for end, completed := range map[string]bool{"completed": true, "expired": false} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, integrator := newScript(t,
					map[string][]string{"GET /payins/pi_1": {payin("quoted"), payin("awaiting_funds"), payin(end)}})
				got, err := integrator.For("cl_1").Payins.Wait(t.Context(), "pi_1")
				assert.Equal(t, dapi.PayinStatus(end), got.Status)
				assert.Equal(t, 3, s.sent("GET /payins/pi_1"))
				if completed {
					require.NoError(t, err)
					return
				}
				assert.Same(t, got, as[*dapi.PayinNotCompleted](t, err).Payin)
				assert.ErrorContains(t, err,
					"payin pi_1 ended with status expired: no money arrived; to receive money, create a new payin")
			})
		})
	}
}

// A completion whose answer shows nothing is read. It was taken also where it cannot be read.
func TestCompletionThatShowsNothing(t *testing.T) {
	for answer, status := range map[string]model.KYCStatus{`{"status":"under_review","requirements":[]}`: "under_review", `[`: ""} {
		_, integrator := newScript(t,
			map[string][]string{"POST /client/kyb/complete": {`{}`}, "GET /client/kyb": {answer}})
		submitted, err := integrator.For("cl_1").Verification.Complete(t.Context())
		require.NoError(t, err)
		require.NotNil(t, submitted)
		assert.Equal(t, status, submitted.Status)
	}
}

// Rule: verification.completed-explicitly
func TestVerificationWaits(t *testing.T) {
	for _, end := range []model.KYCStatus{model.KYCStatusApproved, model.KYCStatusRejected} {
		t.Run(string(end), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, integrator := newScript(t, map[string][]string{"GET /client/kyb": {
					`{"status":"under_review","requirements":[]}`,
					`{"status":"a_status_of_tomorrow","requirements":[]}`,
					`{"status":"` + string(end) + `","requirements":[]}`,
				}})
				var ids []string
				kyb, err := integrator.For("cl_1").Verification.WaitDecided(t.Context(),
					moneymovement.OnProgress(func(p moneymovement.Progress) { ids = append(ids, p.ID) }))
				require.NoError(t, err)
				assert.Equal(t, end, kyb.Status)
				assert.Equal(t, []string{"cl_1", "cl_1", "cl_1"}, ids)
			})
		})
	}
}
