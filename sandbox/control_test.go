package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestClockControl(t *testing.T) {
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

func TestDeveloperKeyControls(t *testing.T) {
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

func TestLedgerRequestAndFaultControls(t *testing.T) {
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

func TestFaultForUnknownOperationIsRefusedOverHTTP(t *testing.T) {
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

func TestResetControl(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	me := w.login()
	require.Equal(t, http.StatusNoContent, w.call("POST", "/_host/reset", nil).status)
	refused(t, http.StatusUnauthorized, "unauthenticated", me.call("GET", "/chains", nil))
}

func TestControlsRefuseRemoteCallers(t *testing.T) {
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

func TestHostMethodsRefuseLikeControls(t *testing.T) {
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
	for _, view := range everyWayToPrint(t, credentials) {
		assert.NotContains(t, view, credentials.APIKey.Reveal())
		assert.NotContains(t, view, credentials.AccessToken.Reveal())
		assert.Contains(t, view, "dev@example.com")
	}
}

// The controls give the same advice as the errors of the SDK, which use the details of the refusal.
func TestRequestAdviceUsesDetails(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	booked := p.book("too-much", "500")
	refused(t, http.StatusConflict, "payout_not_fundable", p.confirm(booked))
	refused(t, http.StatusNotFound, "not_found", p.call("GET", "/payouts/po_1", nil))
	want := map[string]string{
		"payout_not_fundable": "the balance is 100 USDC: credit the account, then repeat with the same idempotency key",
		"not_found": "client " + p.account +
			" has no po_1: check the id, and the account that the call acts for",
	}
	for _, entry := range p.world.call("GET", "/_host/requests", nil).items() {
		if advice, expected := want[entry.text("slug")]; expected {
			assert.Equal(t, advice, entry.text("do"))
			id := strconv.Itoa(int(entry.at("id").(float64)))
			one := p.world.call("GET", "/_host/requests/"+id, nil)
			require.Equal(t, http.StatusOK, one.status)
			assert.Equal(t, advice, one.body.text("do"))
			delete(want, entry.text("slug"))
		}
	}
	assert.Empty(t, want, "not met")
}

// The host does the search, because it has more requests than the page shows.
func TestSearchInRequests(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	booked := p.book("Invoice-42", "20")
	for range 450 {
		p.world.call("GET", "/utils/rates/EUR", nil)
	}
	paths := func(query string) (all []string) {
		for _, entry := range p.world.call("GET", "/_host/requests?"+query, nil).items() {
			all = append(all, entry.text("method")+" "+entry.text("path"))
		}
		return all
	}
	assert.Equal(t, []string{"POST /dapi/v1/payouts"}, paths("find=invoice-42"))
	assert.Equal(t, []string{"POST /dapi/v1/payouts"}, paths("find="+url.QueryEscape(booked.body.text("id"))), "in the response")
	assert.Equal(t, []string{"POST /dapi/v1/payouts"}, paths("kind=writes&last=1"))
	assert.Len(t, paths("find=RATES&last=400"), 400)
	id := booked.header.Get("X-Request-Id")
	require.NotEmpty(t, id)
	assert.Equal(t, []string{"POST /dapi/v1/payouts"}, paths("find="+id))
	assert.Empty(t, paths("find="+id[8:]), "a part of random letters is found by chance")
	assert.Contains(t, paths("find=acme@example.com"), "POST /dapi/v1/contacts", "the name of the account")
	assert.Equal(t, http.StatusUnprocessableEntity, p.world.call("GET", "/_host/requests?kind=x", nil).status)
}

// The list of payouts can be searched by what an operator knows.
func TestSearchInPayouts(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	contact := p.must(http.StatusCreated, "POST", "/contacts", object{"name": "Supplier Ltd",
		"account": object{"accountType": "sepa", "iban": "DE89370400440532013000"}}).body.text("id")
	created := p.must(http.StatusCreated, "POST", "/payouts", object{"contactId": contact, "amount": "20",
		"currency": "USDC", "paymentReference": "RF-7"}, "Idempotency-Key", "invoice-42").body
	for i := range 220 {
		p.book("other-"+strconv.Itoa(i), "1")
	}
	for _, find := range []string{"supplier", "rf-7", "invoice-42", created.text("id"), contact} {
		found := p.world.call("GET", "/_host/payouts?find="+find, nil).items()
		require.Len(t, found, 1, find)
		assert.Equal(t, created.text("id"), found[0].text("id"))
		assert.Equal(t, "Supplier Ltd", found[0].text("contact"))
		assert.Equal(t, created.text("quote", "destinationAmount"), found[0].text("arrives"))
		assert.Equal(t, "EUR", found[0].text("arrivesIn"))
		assert.Equal(t, "RF-7", found[0].text("reference"))
	}
}

// Each list can be searched by what it shows of an entry, in upper or lower case.
func TestSearchInEachList(t *testing.T) {
	w, ids := busyWorld(t)
	acme, payin := ids["/_host/verifications/{id}"], ids["/_host/payins/{id}"]
	w.login().as("").readyClient("bolt@example.com")
	for _, c := range []struct {
		list string
		find []string
	}{
		{"accounts", []string{acme, "ACME@example"}},
		{"payins", []string{payin, "Awaiting funds", "acme@example.com", acme, "50 usdt", payin[:5]}},
		{"verifications", []string{acme, "under review", "Under_Review", "acme@example.com"}},
		{"escrows", []string{"acme@example.com", "0x52908400098527886e0f", "40 usdc", "escrow-1"}},
		{"windows", []string{"sandbox money"}},
		{"faults", []string{"flt_1", "drop before", "/chains"}},
	} {
		for _, find := range c.find {
			found := w.call("GET", "/_host/"+c.list+"?"+url.Values{"find": {" " + find}}.Encode(), nil)
			assert.Len(t, found.items(), map[bool]int{true: 2, false: 1}[c.list == "windows"], "%s %s", c.list, find)
		}
		none := w.call("GET", "/_host/"+c.list+"?find=nowhere", nil)
		require.Equal(t, http.StatusOK, none.status)
		assert.Empty(t, none.items(), c.list)
		assert.NotContains(t, string(none.raw), "null", c.list)
	}
}

// A movement is found by any of its entries, and is returned with all of them.
func TestSearchInLedger(t *testing.T) {
	w, ids := busyWorld(t)
	payout := ids["/_host/payouts/{id}"]
	read := func(query string) (entries []object, total int) {
		got := w.call("GET", "/_host/ledger?"+query, nil)
		require.Equal(t, http.StatusOK, got.status, "%s", got.raw)
		assert.Equal(t, "0", got.body.text("sums", "USDC"), "of all entries")
		return reply{body: object{"items": got.body.at("entries")}}.items(), int(got.body.at("total").(float64))
	}
	for _, find := range []string{payout, "Payout Funding", "payout_funding", "clearing", "12.5 usdc"} {
		entries, total := read(url.Values{"find": {find}}.Encode())
		assert.Len(t, entries, 2, find)
		assert.Equal(t, 1, total, find)
	}
	entries, total := read("find=acme@example.com")
	assert.Len(t, entries, 4, "the deposit and the funding")
	assert.Equal(t, 2, total)
	assert.NotContains(t, string(w.call("GET", "/_host/ledger?find=nowhere", nil).raw), "null")
	latest, total := read("last=1")
	assert.Equal(t, payout, latest[0].text("resourceId"))
	assert.Len(t, latest, 2)
	assert.Equal(t, 4, total, "the fill, two deposits and the funding")
	day := entries[0].text("at")[:len("2026-01-01")]
	today, _ := read("find=" + day + "+" + entries[0].text("at")[len(day)+1:len(day)+6])
	assert.NotEmpty(t, today)
	assert.Equal(t, http.StatusUnprocessableEntity, w.call("GET", "/_host/ledger?last=x", nil).status)
}

// The lists mark requests of the command's -seed option, also old ones.
func TestSeededRequestsAreMarked(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	p.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "7", "currency": "USDC"},
		"Idempotency-Key", "seed", "User-Agent", "moneymove-seed/0.1.0 moneymovement-go/0.1.0")
	for range 1100 { // the host keeps the headers of 1,000 requests
		p.world.call("GET", "/utils/rates/EUR", nil)
	}
	for _, entry := range p.world.call("GET", "/_host/requests?find=deposits", nil).items() {
		assert.Equal(t, entry.text("idempotencyKey") == "seed", entry.at("seeded") == true)
	}
	marked := 0
	for _, side := range p.world.call("GET", "/_host/ledger", nil).body.at("entries").([]any) {
		entry := object(side.(map[string]any))
		assert.Equal(t, strings.TrimPrefix(entry.text("amount"), "-") == "7", entry.at("seeded") == true, "%v", entry)
		if entry.at("seeded") == true {
			marked++
		}
	}
	assert.Equal(t, 2, marked)
}

// A test payout sends the same requests as a real payout.
func TestConsoleSendsTestPayout(t *testing.T) {
	p := newPayer(t, sandbox.WithControl(), sandbox.WithInstantProgress())
	sent := p.world.call("POST", "/_host/payouts", object{"account": p.account, "amount": "12.5"})
	require.Equal(t, http.StatusCreated, sent.status, "%s", sent.raw)
	assert.Equal(t, "completed", p.must(http.StatusOK, "GET", "/payouts/"+sent.body.text("id"),
		nil).body.text("status"))
	assert.Equal(t, "87.5", p.balance())
	listed := p.world.call("GET", "/_host/requests?find="+sent.body.text("idempotencyKey"), nil).items()
	require.Len(t, listed, 2, "the booking and the confirmation")

	poor := p.world.call("POST", "/_host/payouts", object{"account": p.account, "amount": "500"})
	assert.Equal(t, "payout_not_fundable", poor.slug(), "%s", poor.raw)
	p.host.Arm("POST", "/payouts", sandbox.DropBefore())
	dropped := p.world.call("POST", "/_host/payouts", object{"account": p.account, "amount": "1"})
	assert.Equal(t, "conflict", dropped.slug(), "%s", dropped.raw)
}
