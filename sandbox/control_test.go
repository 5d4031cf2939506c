package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestTheClockOverHTTP(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	moved := w.call("POST", "/_host/clock", object{"advance": "61s"})
	require.Equal(t, http.StatusOK, moved.status)
	now, err := time.Parse(time.RFC3339, moved.body.text("now"))
	require.NoError(t, err)
	assert.Equal(t, w.host.Now(), now)
	assert.Equal(t, moved.body, w.call("GET", "/_host/clock", nil).body)
	refused422 := w.call("POST", "/_host/clock", object{"advance": "-1s"})
	assert.Equal(t, map[string]string{"advance": "greater_than_equal"}, refused422.fields())
	far := w.call("POST", "/_host/clock", object{"advance": "2500000h"}).body.text("now")
	assert.GreaterOrEqual(t, w.call("POST", "/_host/clock", object{"advance": "2500000h"}).body.text("now"), far,
		"time never moves back")
}

func TestKeysOverHTTP(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	key := newSigner(t)
	registration := object{"email": w.email, "publicKey": key.public(t), "scopes": []string{"read"},
		"allowlist": []string{"127.0.0.0/8", "::1"}}
	created := w.call("POST", "/_host/keys", registration)
	require.Equal(t, http.StatusCreated, created.status, "%s", created.raw)
	id := created.body.text("id")
	assert.True(t, strings.HasPrefix(id, "dk_"))
	assert.Equal(t, "developer_key_already_exists", w.call("POST", "/_host/keys", registration).slug())
	w.loginAs(w.email, key).must(http.StatusOK, "GET", "/chains", nil)

	require.Equal(t, http.StatusNoContent, w.call("DELETE", "/_host/keys/"+id, nil).status)
	assert.Equal(t, "developer_key_not_found", w.call("DELETE", "/_host/keys/"+id, nil).slug())
	assert.Equal(t, "invalid_credentials", w.token(w.challenge(w.email), key).slug())
	assert.Len(t, w.call("GET", "/_host/keys", nil).body.at("items"), 2, "the credentials' and the world's")

	wrong := w.call("POST", "/_host/keys",
		object{"publicKey": "AAAA", "scopes": []string{"all"}, "allowlist": []string{"here"}})
	assert.Equal(t, map[string]string{"email": "missing", "publicKey": "value_error", "scopes.0": "enum",
		"allowlist.0": "value_error"}, wrong.fields())
}

func TestLedgerRequestsAndFaultsOverHTTP(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	acme := w.login().readyClient("acme@example.com")
	acme.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"},
		"Idempotency-Key", "d-1")

	ledger := w.call("GET", "/_host/ledger", nil)
	assert.Equal(t, "0", ledger.body.text("sums", "USDC"))
	assert.Contains(t, string(ledger.raw), acme.account)

	requests := w.call("GET", "/_host/requests", nil)
	items := requests.body.at("items").([]any)
	last := object(items[len(items)-1].(map[string]any))
	assert.Equal(t, "d-1", last.text("idempotencyKey"))
	assert.Equal(t, "CreateDeposit", last.text("operation"))
	assert.NotContains(t, string(requests.raw), acme.access)

	armed := w.call("POST", "/_host/faults", object{"method": "GET", "path": "/chains", "times": 2,
		"fault": object{"kind": "respond", "status": 410, "code": "gone", "headers": object{"X-Why": "a test"}}})
	require.Equal(t, http.StatusCreated, armed.status, "%s", armed.raw)
	gone := acme.call("GET", "/chains", nil)
	refused(t, http.StatusGone, "gone", gone)
	assert.Equal(t, "a test", gone.header.Get("X-Why"))
	listed := object(w.call("GET", "/_host/faults", nil).body.at("items").([]any)[0].(map[string]any))
	assert.EqualValues(t, 1, listed.at("consumed"))
	assert.EqualValues(t, 2, listed.at("times"))

	for _, wrong := range []any{
		object{"path": "/chains", "fault": object{"kind": "explode"}},
		object{"path": "/chains", "fault": object{"kind": "respond"}},
		object{"fault": object{"kind": "drop_before"}},
	} {
		assert.Equal(t, "validation_failed", w.call("POST", "/_host/faults", wrong).slug())
	}
	assert.Equal(t, "invalid_request", w.call("POST", "/_host/faults", object{"pathh": "/chains"}).slug())
}

func TestAFaultOfNoOperationIsRefusedOverHTTP(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	for _, c := range []struct{ method, path, near string }{
		{"POST", "/payout/{payoutId}/confirm", "POST /dapi/v1/payouts/{payoutId}/confirm"},
		{"put", "/payouts", "POST /dapi/v1/payouts"},
		{"", "/api/v1/accounts/card", "GET /api/v1/accounts/cards"},
	} {
		got := w.call("POST", "/_host/faults",
			object{"method": c.method, "path": c.path, "fault": object{"kind": "drop_before"}})
		assert.Equal(t, http.StatusBadRequest, got.status)
		assert.Equal(t, "invalid_request", got.slug())
		assert.Contains(t, got.body.text("error", "message"), c.near)
		assert.Contains(t, got.body.at("error", "details", "near"), c.near)
	}
	assert.Empty(t, w.call("GET", "/_host/faults", nil).body.at("items"))
}

func TestFaultsAreDisarmedOverHTTP(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	me := w.login()
	arm := func() string {
		armed := w.call("POST", "/_host/faults", object{"method": "GET", "path": "/chains", "times": 9,
			"fault": object{"kind": "respond", "status": 503, "code": "provider_unavailable"}})
		require.Equal(t, http.StatusCreated, armed.status, "%s", armed.raw)
		return armed.body.text("id")
	}
	first, second := arm(), arm()
	refused(t, http.StatusServiceUnavailable, "provider_unavailable", me.call("GET", "/chains", nil))

	assert.Equal(t, http.StatusNoContent, w.call("DELETE", "/_host/faults/"+first, nil).status)
	listed := object(w.call("GET", "/_host/faults", nil).body.at("items").([]any)[0].(map[string]any))
	assert.Equal(t, first, listed.text("id"))
	assert.Equal(t, true, listed.at("disarmed"))
	assert.EqualValues(t, 1, listed.at("consumed"))
	refused(t, http.StatusServiceUnavailable, "provider_unavailable", me.call("GET", "/chains", nil))
	assert.Equal(t, http.StatusNoContent, w.call("DELETE", "/_host/faults/"+second, nil).status)
	me.must(http.StatusOK, "GET", "/chains", nil)

	arm()
	assert.Equal(t, http.StatusNoContent, w.call("DELETE", "/_host/faults", nil).status)
	me.must(http.StatusOK, "GET", "/chains", nil)
	assert.Equal(t, "not_found", w.call("DELETE", "/_host/faults/flt_99", nil).slug())
}

func TestSettingsOverHTTPChangeOnlyWhatIsNamed(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	changed := w.call("PUT", "/_host/settings", object{"maxCredit": "7.5", "payoutStepAfter": "2s", "rateLimits": true})
	require.Equal(t, http.StatusOK, changed.status, "%s", changed.raw)
	assert.Equal(t, "7.5", changed.body.text("maxCredit"))

	settings := w.host.Settings()
	assert.Equal(t, "7.5", settings.MaxCredit.String())
	assert.Equal(t, sandbox.Duration(2*time.Second), settings.PayoutStepAfter)
	assert.True(t, settings.RateLimits)
	assert.True(t, settings.LoginAvailable, "the others stay")
	assert.Equal(t, changed.body, w.call("GET", "/_host/settings", nil).body)

	for _, wrong := range []any{object{"maxCredits": "1"}, object{"maxCredit": "-1"}, object{"loginMode": ""},
		object{"quoteLifetime": "soon"}, "{"} {
		assert.Equal(t, "invalid_request", w.call("PUT", "/_host/settings", wrong).slug(), "%v", wrong)
	}
	assert.Equal(t, settings, w.host.Settings(), "a refused change changes nothing")
}

func TestResetOverHTTP(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	me := w.login()
	require.Equal(t, http.StatusNoContent, w.call("POST", "/_host/reset", nil).status)
	refused(t, http.StatusUnauthorized, "unauthenticated", me.call("GET", "/chains", nil))
}

func TestControlsAnswerTheMachineItselfOnly(t *testing.T) {
	host := sandbox.New(sandbox.WithControl())
	for _, c := range []struct {
		name, remote, host, origin string
		status                     int
	}{
		{"the machine", "127.0.0.1:4000", "127.0.0.1:8080", "", http.StatusOK},
		{"the machine by IPv6", "[::1]:4000", "[::1]:8080", "", http.StatusOK},
		{"the machine by name", "127.0.0.1:4000", "localhost:8080", "", http.StatusOK},
		{"another machine", "192.0.2.7:4000", "127.0.0.1:8080", "", http.StatusForbidden},
		{"a name that was made to lead here", "127.0.0.1:4000", "rebound.example.com", "", http.StatusForbidden},
		{"a name under localhost", "127.0.0.1:4000", "x.localhost:8080", "", http.StatusForbidden},
		{"a page of another origin", "127.0.0.1:4000", "127.0.0.1:8080", "https://elsewhere.example.com",
			http.StatusForbidden},
		{"a page of another port", "127.0.0.1:4000", "127.0.0.1:8080", "http://127.0.0.1:3000", http.StatusForbidden},
		{"a page in a sandbox", "127.0.0.1:4000", "127.0.0.1:8080", "null", http.StatusForbidden},
		{"its own page", "127.0.0.1:4000", "127.0.0.1:8080", "http://127.0.0.1:8080", http.StatusOK},
	} {
		for _, path := range []string{"POST /clock", "GET /clock", "GET /credentials", "HEAD /credentials"} {
			t.Run(c.name+" "+path, func(t *testing.T) {
				method, control, _ := strings.Cut(path, " ")
				request := httptest.NewRequest(method, "http://"+c.host+"/_host"+control,
					strings.NewReader(`{"advance":"1s"}`))
				request.RemoteAddr = c.remote
				if c.origin != "" {
					request.Header.Set("Origin", c.origin)
				}
				recorder := httptest.NewRecorder()
				host.ServeHTTP(recorder, request)
				assert.Equal(t, c.status, recorder.Code)
			})
		}
	}
	for _, site := range []string{"cross-site", "same-site"} { // a read has no Origin where a page only embeds it
		request := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/_host/credentials", http.NoBody)
		request.RemoteAddr = "127.0.0.1:4000"
		request.Header.Set("Sec-Fetch-Site", site)
		recorder := httptest.NewRecorder()
		host.ServeHTTP(recorder, request)
		assert.Equal(t, http.StatusForbidden, recorder.Code, site)
	}
	recorder := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/_host/clock",
		strings.NewReader(`{"advance":"1s"}`))
	request.RemoteAddr = "127.0.0.1:4000"
	sandbox.New().ServeHTTP(recorder, request)
	assert.Equal(t, http.StatusNotFound, recorder.Code, "not served unless asked for")
}

func TestTheGoControlsRefuseTheSame(t *testing.T) {
	w := newWorld(t)
	_, err := w.host.RegisterKey(sandbox.KeyRegistration{Email: w.email, PublicKey: w.key.public(t)})
	assert.ErrorContains(t, err, "developer_key_already_exists")
	_, err = w.host.RegisterKey(sandbox.KeyRegistration{Email: w.email, PublicKey: []byte("no key"),
		Allowlist: []string{}})
	assert.ErrorContains(t, err, "validation_failed")
	assert.ErrorContains(t, w.host.DeleteKey("dk_unknown"), "developer_key_not_found")
	assert.Error(t, w.host.Configure(func(s *sandbox.Settings) { s.LoginMode = "" }))
	assert.Equal(t, sandbox.DefaultSettings(), w.host.Settings())
}

func TestCredentialsPrintWithoutTheirSecrets(t *testing.T) {
	credentials := sandbox.New(sandbox.WithEmail("dev@example.com")).Credentials()
	assert.Equal(t, "dev@example.com", credentials.Email)
	for _, shown := range everyWayToPrint(t, credentials) {
		assert.NotContains(t, shown, credentials.APIKey.Reveal())
		assert.NotContains(t, shown, credentials.AccessToken.Reveal())
		assert.Contains(t, shown, "dev@example.com")
	}
}
