package dapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/signing"
)

// baseURL is where the tests' clients send; the wire delivers whatever the address is.
const baseURL = "http://127.0.0.1"

// payee is the address of a wallet.
const payee = "0x52908400098527886E0F7030069857D2E4169EE7"

// through makes a client send its requests by a transport.
func through(transport http.RoundTripper) moneymovement.Option {
	return moneymovement.WithHTTPClient(&http.Client{Transport: transport})
}

func amount(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// as finds an error type or fails the test.
func as[E error](t *testing.T, err error) E {
	t.Helper()
	typed, ok := errors.AsType[E](err)
	require.True(t, ok, "%T: %v", err, err)
	return typed
}

// read makes a call that needs a session.
func read(ctx context.Context, account *dapi.Account) error {
	_, err := account.Chains.List(ctx, dapi.ListChainsParams{})
	return err
}

// integratorBy makes a client that logs in and sends by a transport.
func integratorBy(t *testing.T, by http.RoundTripper, options ...moneymovement.Option) *dapi.Integrator {
	t.Helper()
	key, err := signing.Generate()
	require.NoError(t, err)
	integrator, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: "ops@example.com", Key: key},
		append(options, through(by))...)
	require.NoError(t, err)
	return integrator
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

// sessionBy is integratorBy with a session, so that only the call itself is sent.
func sessionBy(t *testing.T, by http.RoundTripper, options ...moneymovement.Option) *dapi.Integrator {
	t.Helper()
	key, err := signing.Generate()
	require.NoError(t, err)
	platform, err := dapi.NewIntegrator(baseURL, loggedIn(baseURL, key), append(options, through(by))...)
	require.NoError(t, err)
	return platform
}

// responding returns a client that has a session and gets this response to each request.
func responding(t *testing.T, status int, response string, options ...moneymovement.Option) *dapi.Integrator {
	t.Helper()
	return sessionBy(t, testkit.Page(status, "application/json", response), options...)
}

// script returns for each "METHOD path" its bodies in turn, then the last one again, and keeps what was sent.
type script struct {
	mu        sync.Mutex
	responses map[string][]string
	calls     []string
}

// RoundTrip implements http.RoundTripper.
func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/dapi/v1")
	s.calls = append(s.calls, what)
	responses := s.responses[what]
	if len(responses) == 0 {
		return nil, errors.New("no response for " + what)
	}
	if len(responses) > 1 {
		s.responses[what] = responses[1:]
	}
	return testkit.Page(http.StatusOK, "application/json", responses[0])(r)
}

func (s *script) sent(what string) (count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range s.calls {
		if call == what {
			count++
		}
	}
	return count
}

func newScript(
	t *testing.T, responses map[string][]string, options ...moneymovement.Option,
) (*script, *dapi.Integrator) {
	t.Helper()
	s := &script{responses: responses}
	return s, sessionBy(t, s, options...)
}

// counted is an integrator and the number of requests that it has sent, the login included.
func counted(t *testing.T) (*dapi.Integrator, *atomic.Int32) {
	t.Helper()
	sent := new(atomic.Int32)
	count := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) })
	return integratorBy(t, &inprocess.Transport{Handler: count}), sent
}

// refusedUnsent expects that a call refuses one field of its input and sends nothing, not even a login.
func refusedUnsent(t *testing.T, call func(context.Context, *dapi.Integrator) error, field, code string) {
	t.Helper()
	integrator, sent := counted(t)
	refused := as[*errors.InvalidInput](t, call(t.Context(), integrator))
	require.Len(t, refused.Fields, 1)
	assert.Equal(t, field, refused.Fields[0].Field)
	assert.Equal(t, code, refused.Fields[0].Code)
	assert.NotEmpty(t, refused.Fields[0].Message)
	assert.NotEmpty(t, refused.Operation)
	assert.Zero(t, sent.Load())
}

// ledgerOf is an account whose ledger has the pages that a function returns for their cursors. It keeps which were
// asked for.
func ledgerOf(t *testing.T, page func(cursor string) string) (account *dapi.Account, asked *[]string) {
	t.Helper()
	asked = new([]string)
	return sessionBy(t, testkit.Connection(func(r *http.Request) (*http.Response, error) {
		cursor := r.URL.Query().Get("cursor")
		*asked = append(*asked, cursor)
		assert.Equal(t, "2", r.URL.Query().Get("limit"))
		if text := page(cursor); text != "" {
			return testkit.Page(http.StatusOK, "application/json", text)(r)
		}
		return testkit.Page(http.StatusForbidden, "application/json", `{"error":{"code":"forbidden"}}`)(r)
	})).Self(), asked
}

// inPages are five entries, the newest first.
func inPages(cursor string) string {
	entry := func(id string) string { return `{"id":"tx_` + id + `","createdAt":"2026-01-02T03:04:05Z"}` }
	return map[string]string{
		"":  `{"items":[` + entry("5") + `,` + entry("4") + `],"nextCursor":"b"}`,
		"b": `{"items":[` + entry("3") + `,` + entry("2") + `],"nextCursor":"c"}`,
		"c": `{"items":[` + entry("1") + `]}`,
	}[cursor]
}

// Rule: page.next-cursor, ledger.whole-account
func TestAllWalksThePages(t *testing.T) {
	for name, c := range map[string]struct {
		page   func(cursor string) string
		cursor string
		most   int // entries that are taken
		found  []dapi.TransactionID
		asked  []string
	}{
		"to the last": {page: inPages, found: []dapi.TransactionID{"tx_5", "tx_4", "tx_3", "tx_2", "tx_1"},
			asked: []string{"", "b", "c"}},
		"from a cursor": {page: inPages, cursor: "b", found: []dapi.TransactionID{"tx_3", "tx_2", "tx_1"},
			asked: []string{"b", "c"}},
		"no further than they are ranged": {page: inPages, most: 3, found: []dapi.TransactionID{"tx_5", "tx_4", "tx_3"},
			asked: []string{"", "b"}},
		// Only a page without a next cursor is the last one, whatever can be read of it.
		"past those that cannot be read": {page: func(cursor string) string {
			return map[string]string{
				"": `{"items":[null,"tx"],"nextCursor":"b"}`, "b": `{"items":[7],"nextCursor":"c"}`,
				"c": `{"items":[],"nextCursor":"d"}`, "d": `{"items":[` + txJSON + `,null]}`,
			}[cursor]
		}, found: []dapi.TransactionID{"tx_1"}, asked: []string{"", "b", "c", "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			account, asked := ledgerOf(t, c.page)
			all := account.Transactions.All(t.Context(), dapi.ListTransactionsParams{Limit: 2,
				Cursor: c.cursor})
			for range 2 { // the same list can be walked again
				var found []dapi.TransactionID
				for transaction, err := range all {
					require.NoError(t, err)
					if found = append(found, transaction.ID); len(found) == c.most {
						break
					}
				}
				assert.Equal(t, c.found, found)
				assert.Equal(t, c.asked, *asked)
				*asked = nil
			}
		})
	}
}

func TestAllEndsAfterAnError(t *testing.T) {
	account, _ := ledgerOf(t, func(cursor string) string {
		if cursor == "" {
			return inPages(cursor)
		}
		return ""
	})
	var failures []error
	seen := 0
	for transaction, err := range account.Transactions.All(t.Context(), dapi.ListTransactionsParams{Limit: 2}) {
		if err != nil {
			failures = append(failures, err)
			assert.Equal(t, dapi.Transaction{}, transaction)
			continue
		}
		seen++
	}
	assert.Equal(t, 2, seen)
	require.Len(t, failures, 1, "a consumer that goes on after an error is not fed errors for ever")
	as[*errors.Forbidden](t, failures[0])
}

// A cursor that leads back to an earlier page is noticed before a page is read twice.
func TestCursorThatLeadsBackIsRefused(t *testing.T) {
	for _, length := range []int{1, 2, 7} {
		account, asked := ledgerOf(t, func(cursor string) string {
			number, _ := strconv.Atoi(cursor)
			return fmt.Sprintf(`{"items":[],"nextCursor":"%d"}`, number%length+1)
		})
		var last error
		for _, err := range account.Transactions.All(t.Context(), dapi.ListTransactionsParams{Limit: 2}) {
			last = err
		}
		stuck := as[*errors.UnexpectedResponse](t, last)
		assert.Equal(t, "ListTransactions", stuck.Operation)
		require.ErrorContains(t, stuck.Err, "does not advance")
		want := []string{""} // the first page has no cursor
		for number := range length {
			want = append(want, strconv.Itoa(number+1))
		}
		assert.Equal(t, want, *asked)
	}
}
