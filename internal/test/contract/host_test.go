package contract_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// asReal makes a sandbox host on loopback look to the suite as one that the environment names.
func asReal(t *testing.T, host *sandbox.Host, handler http.Handler) *suite {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	require.NoError(t, err)
	credentials := host.Credentials()
	s := newSuite(t, &target.Real{
		BaseURL: base, Email: credentials.Email, Key: credentials.Key, CardWallet: credentials.Wallet,
		APIKey:      moneymovement.NewSecret(credentials.APIKey.Reveal()),
		AccessToken: moneymovement.NewSecret(credentials.AccessToken.Reveal()),
	})
	s.pause, s.writePause, s.retries.WaitMin = time.Millisecond, time.Millisecond, time.Millisecond
	return s
}

// The suite as it runs against a real host: without control over it, sparing, and tidy.
func TestContractAgainstANamedHost(t *testing.T) {
	host := sandbox.New(sandbox.WithRateLimits(), sandbox.WithSettings(func(s *sandbox.Settings) {
		step := sandbox.Duration(10 * time.Millisecond)
		s.ClientReadyAfter, s.PayoutStepAfter, s.CardActiveAfter, s.ContractorAcceptsAfter = step, step, step, step
	}))
	s := asReal(t, host, host)
	w := s.open(t, nil)
	require.True(t, s.run(t, w))
	judged := s.judge()
	requireAsDescribed(t, judged)

	seen := map[string]bool{}
	for _, slug := range judged.Slugs {
		seen[slug.Slug] = slug.Responses > 0
	}
	for _, slug := range []string{"idempotency_key_reused", "signature_invalid", "key_not_registered",
		"approval_mismatch", "contact_not_payable", "quote_not_submitted", "invalid_credentials"} {
		assert.True(t, seen[slug], "%s needs neither the clock nor settings", slug)
	}
	passed := map[string]bool{}
	for _, c := range judged.Cases {
		passed[c.Flow+" "+c.Name] = c.Outcome == report.Passed
	}
	for _, name := range []string{"clients prepare a verification", "cards issue", "cards details",
		"reference card details"} {
		assert.True(t, passed[name], name)
	}
	var printed strings.Builder
	require.NoError(t, judged.WriteText(&printed))
	assert.Contains(t, printed.String(), "Skipped, needs the embedded host: ")
	assert.Contains(t, printed.String(), "payouts ")

	called, _ := judged.Called()
	assert.Greater(t, called, 60)
	embedded := 0
	for _, c := range judged.Cases {
		assert.NotEqual(t, report.Failed, c.Outcome, "%s %s", c.Flow, c.Name)
		if c.Reason == report.NeedsEmbedded {
			embedded++
		}
	}
	assert.Greater(t, embedded, 30, "what needs control is counted")

	assertSparing(t, host.Ledger())
	ctx := t.Context()
	contacts, err := w.app.Contacts.List(ctx, appapi.ListContactsParams{})
	require.NoError(t, err)
	assert.Empty(t, contacts.Items, "made and not removed")
	contracts, err := w.app.Contracts.List(ctx, appapi.ListContractsParams{})
	require.NoError(t, err)
	for _, contract := range contracts.Items {
		assert.Equal(t, model.ContractStatusCancelled, contract.Status, "a deleted contract is listed as cancelled")
	}
	invoices, err := w.app.Invoices.List(ctx, appapi.ListInvoicesParams{Limit: 100})
	require.NoError(t, err)
	require.Greater(t, len(invoices.Items), 3)
	for _, invoice := range invoices.Items {
		assert.Equal(t, model.InvoiceStatusCancelled, invoice.Status, "made and not cancelled")
	}
	for _, request := range host.Requests() {
		assert.NotEqual(t, "rate_limited", request.Slug, "%s %s", request.Method, request.Path)
	}
}

// assertSparing checks the books: little leaves the faucet, and no two departures are closer than 0.20.
func assertSparing(t *testing.T, books sandbox.Ledger) {
	t.Helper()
	spent := decimal.Decimal{}
	var departures []decimal.Decimal
	for _, entry := range books.Entries {
		if entry.Account == "faucet" && entry.Amount.IsNegative() && entry.Kind != "opening" {
			spent = spent.Sub(entry.Amount)
		}
		if entry.Amount.IsNegative() && entry.Kind == "payout_funding" {
			departures = append(departures, entry.Amount.Neg())
		}
	}
	assert.True(t, spent.IsPositive() && spent.LessThan(decimal.NewFromInt(25)), "%s left the faucet", spent)
	require.Greater(t, len(departures), 1)
	for i, one := range departures {
		for _, other := range departures[:i] {
			assert.True(t, one.Sub(other).Abs().GreaterThan(amount("0.20")), "%s and %s", one, other)
		}
	}
}

// With nothing but a developer key, what needs another credential is skipped, and says which.
func TestContractWithADeveloperKeyAlone(t *testing.T) {
	host := sandbox.New(sandbox.WithSettings(func(s *sandbox.Settings) {
		s.ClientReadyAfter, s.PayoutStepAfter = 0, 0
	}))
	s := asReal(t, host, host)
	s.real.APIKey, s.real.AccessToken, s.real.CardWallet = moneymovement.Secret{}, moneymovement.Secret{}, nil
	require.True(t, s.run(t, s.open(t, nil)))
	judged := s.judge()
	requireAsDescribed(t, judged)
	needs := map[string]string{}
	for _, c := range judged.Cases {
		if c.Name == "all" {
			needs[c.Flow] = c.Reason
		}
	}
	key := "needs " + target.APIKeyVariable
	assert.Equal(t, map[string]string{"account": key, "paperwork": key, "cards": key, "transfers": key,
		"reference": "needs " + target.AccessTokenVariable}, needs)
	for _, o := range judged.Operations {
		if o.Surface == "appapi" || o.Surface == "refapi" {
			assert.Zero(t, o.Calls, o.ID)
		}
	}
}

func TestHostThatIsNotASandboxIsNotWrittenTo(t *testing.T) {
	host := sandbox.New()
	production := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/dapi/v1/sandbox/") {
			http.NotFound(w, r)
			return
		}
		host.ServeHTTP(w, r)
	})
	s := asReal(t, host, production)
	w := s.open(t, nil)
	_, err := w.platform.Self().Sandbox.Treasury(t.Context())
	require.Error(t, err)
	_, err = w.platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"})
	require.ErrorIs(t, err, target.ErrNotSandbox)
	_, err = w.app.Contacts.Create(t.Context(),
		appapi.ContactCreate{Name: "Bob", Account: appapi.EmailContact("bob@example.com")})
	require.ErrorIs(t, err, target.ErrNotSandbox)
	for _, request := range host.Requests() {
		assert.Contains(t, request.Path, "/auth/", "nothing but the login")
	}
}

// rename spells a field otherwise in every response.
type rename struct {
	next     http.RoundTripper
	from, to string
}

func (r rename) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	body = bytes.ReplaceAll(body, []byte(`"`+r.from+`":`), []byte(`"`+r.to+`":`))
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Del("Content-Length")
	return response, response.Body.Close()
}

// assertPrinted finds the line and the edit in what make contract prints.
func assertPrinted(t *testing.T, judged *report.Report, a report.AssumptionSeen) {
	t.Helper()
	var printed strings.Builder
	require.NoError(t, judged.WriteText(&printed))
	assert.Regexp(t, `(?m)^  line:    openapi/dapi\.yaml:\d+$`, printed.String())
	assert.Contains(t, printed.String(), "  edit:    "+a.Edit()+"\n")
}

// A service that spells assumed fields otherwise is found out by the flows of the suite, with the field and the
// response.
func TestDifferencesOfAServiceAreReported(t *testing.T) {
	for _, c := range []struct{ from, to, assumption string }{
		{"gas", "fuel", "Treasury.gas"},
		{"code", "slug", "Chain.code"},
		{"direction", "way", "Transaction.direction"},
	} {
		t.Run(c.from, func(t *testing.T) {
			s := newSuite(t, nil)
			w := s.open(t, func(next http.RoundTripper) http.RoundTripper { return rename{next, c.from, c.to} })
			ok(w.platform.Self().Sandbox.Deposit(t.Context(),
				dapi.DepositCreate{Amount: amount("5"), Currency: dapi.USDC}))(w)
			ok(w.platform.Self().Sandbox.Treasury(t.Context()))(w)
			ok(w.platform.Self().Chains.List(t.Context(), dapi.ListChainsParams{}))(w)
			ok(w.platform.Self().Transactions.List(t.Context(), dapi.ListTransactionsParams{}))(w)
			judged := s.judge()
			var found []string
			for _, a := range judged.Of(report.Contradicted) {
				found = append(found, a.Where)
				assert.Equal(t, "missing", a.Evidence.Seen)
				assert.Equal(t, fmt.Sprintf("take `%s` out of `required`", c.from), a.Edit())
				assertPrinted(t, judged, a)
				assert.Contains(t, a.Evidence.Response, `"`+c.to+`":`, "the response shows the field under its other name")
			}
			assert.Equal(t, []string{c.assumption}, found)
			require.NotEmpty(t, judged.Undescribed)
			assert.True(t, strings.HasSuffix(judged.Undescribed[0].Field, c.to), judged.Undescribed[0].Field)
			assert.NotEmpty(t, judged.Violations, "the second reader sees it as well")
		})
	}
}

// proxyVariable names the HTTP proxy that everything between the SDK and the host passes, so that a tool of others can
// judge it (internal/test/interop/). The variables that net/http knows do not apply to loopback.
const proxyVariable = "MONEYMOVEMENT_PROXY"

// way is how the clients reach the host: through the proxy that the environment names, or else directly.
func way(t *testing.T) http.RoundTripper {
	t.Helper()
	named := os.Getenv(proxyVariable)
	if named == "" {
		return http.DefaultTransport
	}
	proxy, err := url.Parse(named)
	require.NoError(t, err)
	transport := &http.Transport{Proxy: http.ProxyURL(proxy)}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}
