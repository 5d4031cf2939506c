package contract_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/survey"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// usedHost is a host on which the suite has run, so that there is something of each kind to read.
func usedHost(t *testing.T) (*sandbox.Host, *suite, *world) {
	t.Helper()
	host := sandbox.New(sandbox.WithSettings(func(s *sandbox.Settings) {
		step := sandbox.Duration(10 * time.Millisecond)
		s.ClientReadyAfter, s.PayoutStepAfter, s.CardActiveAfter, s.ContractorAcceptsAfter = step, step, step, step
	}))
	s := asReal(t, host, host)
	w := s.open(t, nil)
	require.True(t, s.run(t, w))
	return host, s, w
}

// readable is the host of a suite, as a check gets it.
func readable(s *suite) survey.Host {
	host := survey.Host{BaseURL: s.real.BaseURL, Email: s.real.Email, APIKey: s.real.APIKey,
		AccessToken: s.real.AccessToken}
	if s.real.Key != nil {
		host.Key = s.real.Key
	}
	return host
}

// A check calls every operation that reads, confirms what it sees, and writes nothing.
func TestCheckReadsEveryOperationAndWritesNothing(t *testing.T) {
	host, s, w := usedHost(t)
	contact := contactOf(w)
	issueCard(w)
	before, written := len(host.Requests()), len(host.Ledger().Entries)
	judged, err := survey.Check(t.Context(), readable(s), http.DefaultTransport, survey.Options{
		IDs: map[string][]string{"clientId": {string(w.client)}, "contactId": {contact}}})
	require.NoError(t, err)

	requireAsDescribed(t, judged)
	assert.True(t, judged.ReadOnly)
	for _, o := range judged.Operations {
		if o.Method == http.MethodGet {
			assert.Positive(t, o.Accepted, "nothing called %s %s", o.Surface, o.ID)
		}
	}
	for _, c := range judged.Cases {
		assert.NotEqual(t, report.Failed, c.Outcome, "%s %s: %s", c.Flow, c.Name, c.Reason)
	}
	assert.Greater(t, judged.Count(report.Confirmed), 250)
	seen, _ := judged.Refused()
	assert.GreaterOrEqual(t, seen, len(survey.Refusals))

	for _, r := range host.Requests()[before:] {
		assert.True(t, r.Method == http.MethodGet || strings.HasPrefix(r.Path, "/dapi/v1/auth/"), "%s %s", r.Method,
			r.Path)
	}
	assert.Len(t, host.Ledger().Entries, written)
	var text strings.Builder
	require.NoError(t, judged.WriteText(&text))
	assert.Contains(t, text.String(), "Reads against http://127.0.0.1:")
	assert.Contains(t, text.String(), "Not called, because they write: ")
	assert.NotContains(t, text.String(), string(w.client), "ids stay out of the report")
}

// contactOf is a contact that the account has: no operation lists the contacts of the platform API.
func contactOf(w *world) string {
	made := w.came(w.session().caller().Send(w.Context(), http.MethodPost, "/dapi/v1/contacts",
		w.destinations()["wallet"],
		"Authorization", "Bearer "+w.session().access))
	require.NotEmpty(w, made.Text("id"), "%s", made.Raw)
	return made.Text("id")
}

func issueCard(w *world) {
	w.Helper()
	ok(w.app.Cards.KYCLink(w.Context()))(w)
	require.Eventually(w, func() bool {
		_, err := w.app.Cards.PreApprove(w.Context(),
			appapi.CardPreApprovalCreate{Amount: amount("100"), Currency: "USDC"})
		return err == nil
	}, 10*time.Second, 20*time.Millisecond)
	ok(w.app.Cards.Create(w.Context(), appapi.CardCreate{Format: appapi.CardFormatVirtual}))(w)
}

// A host that has just started has little to show: what was not read is listed with its reason.
func TestCheckOfANewHost(t *testing.T) {
	host := sandbox.New()
	s := asReal(t, host, host)
	s.real.APIKey = moneymovement.Secret{}
	var noted []string
	judged, err := survey.Check(t.Context(), readable(s), http.DefaultTransport, survey.Options{
		Noted: func(c report.Case) { noted = append(noted, c.Name) }})
	require.NoError(t, err)
	requireAsDescribed(t, judged)
	reasons := map[string]string{}
	for _, c := range judged.Cases {
		reasons[c.Flow+" "+c.Name] = c.Reason
	}
	assert.Len(t, noted, len(judged.Cases))
	assert.Equal(t, "no response shows a value of payoutId", reasons["dapi GetPayout"])
	assert.Contains(t, reasons["dapi GetKYB"], "needs a client")
	assert.Equal(t, "needs "+target.APIKeyVariable, reasons["appapi GetProfile"])
	assert.Empty(t, reasons["dapi ListChains"])
	assert.Empty(t, reasons["public GetRate"])
}

// Without permission, a check reads only from a host that shows that it is a sandbox.
func TestCheckOfAHostThatIsNotASandbox(t *testing.T) {
	host := sandbox.New()
	s := asReal(t, host, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/dapi/v1/sandbox/") {
			http.NotFound(w, r)
			return
		}
		host.ServeHTTP(w, r)
	}))
	_, err := survey.Check(t.Context(), readable(s), http.DefaultTransport, survey.Options{})
	require.ErrorIs(t, err, target.ErrNotSandbox)
	for _, r := range host.Requests() {
		assert.Contains(t, r.Path, "/auth/", "nothing but the login")
	}

	judged, err := survey.Check(t.Context(), readable(s), http.DefaultTransport, survey.Options{AnyHost: true})
	require.NoError(t, err)
	called, _ := judged.Called()
	assert.Greater(t, called, 15, "a person may allow the reads")

	s.real.Key = nil
	_, err = survey.Check(t.Context(), readable(s), http.DefaultTransport, survey.Options{})
	require.ErrorIs(t, err, survey.ErrShowsNothing)
	_, err = survey.Check(t.Context(), readable(s), http.DefaultTransport, survey.Options{AnyHost: true})
	require.NoError(t, err, "with an app key alone")
}

// A host with rate windows is waited for.
func TestCheckWaitsForARateWindow(t *testing.T) {
	host := sandbox.New()
	full := true
	s := asReal(t, host, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/dapi/v1/chains" && full {
			full = false
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		host.ServeHTTP(w, r)
	}))
	judged, err := survey.Check(t.Context(), readable(s), http.DefaultTransport, survey.Options{})
	require.NoError(t, err)
	for _, c := range judged.Cases {
		if c.Flow == "dapi" && c.Name == "ListChains" {
			assert.Equal(t, report.Passed, c.Outcome, c.Reason)
		}
	}
	assert.False(t, full)
}

// The clock of a sandbox host may have been moved. The login is then dated with the host's time.
func TestCheckOfAHostWithAMovedClock(t *testing.T) {
	host := sandbox.New()
	host.Advance(24 * time.Hour)
	judged, err := survey.Check(t.Context(), readable(asReal(t, host, host)), http.DefaultTransport, survey.Options{})
	require.NoError(t, err)
	requireAsDescribed(t, judged)
	expired := 0
	for _, r := range host.Requests() {
		if r.Slug == string(errors.CodeRequestExpired) {
			expired++
		}
	}
	assert.Equal(t, 1, expired)
}
