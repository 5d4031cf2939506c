package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// busyWorld is a host with something in every list, and the ids for the paths of its controls.
func busyWorld(t testing.TB) (*world, map[string]string) {
	t.Helper()
	w := newWorld(t, sandbox.WithControl(), sandbox.WithAudit(), sandbox.WithRateLimits(),
		sandbox.WithSettings(func(s *sandbox.Settings) {
			s.PayoutStepAfter, s.KYBDecisionAfter = sandbox.Duration(time.Hour), sandbox.Duration(time.Hour)
		}))
	acme := w.login().readyClient("acme@example.com")
	acme.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "100", "currency": "USDC"})
	acme.as("").must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "50", "currency": "USDC"})
	booked := acme.must(http.StatusCreated, "POST", "/payouts",
		object{"contactId": acme.walletContact(), "amount": "12.5", "currency": "USDC"}, "Idempotency-Key",
		"invoice-42")
	require.Equal(t, http.StatusOK, acme.confirm(booked).status)
	quoted := acme.payin(nil)
	require.Equal(t, http.StatusCreated, acme.instruct(quoted).status)
	acme.must(http.StatusOK, "PUT", "/client/kyb", object{
		"applicant": object{"legalName": "Acme Ltd", "country": "DE"}, "documentIds": []string{"doc_1"},
	})
	acme.must(http.StatusOK, "POST", "/client/kyb/complete", nil)
	acme.mustCreateEscrow("escrow-1", nil)
	refused(t, http.StatusNotFound, "not_found", acme.call("GET", "/payouts/po_none", nil))
	w.host.Arm("GET", "/chains", sandbox.DropBefore())
	appKey, err := w.host.RegisterAppKey(sandbox.AppKeyRegistration{App: "Books"})
	require.NoError(t, err)
	return w, map[string]string{
		"/_host/payouts/{id}": booked.body.text("id"), "/_host/payins/{id}": quoted.body.text("id"),
		"/_host/verifications/{id}": acme.account, "/_host/audit/{account}/{key}": acme.account,
		"/_host/requests/{id}": "1", "/_host/faults/{id}": armedID(t, w), "/_host/app-keys/{id}": appKey.ID,
		"/_host/keys/{id}": w.host.Keys()[0].ID,
	}
}

// armedID is the id of the only fault.
func armedID(t testing.TB, w *world) string {
	t.Helper()
	items := w.call("GET", "/_host/faults", nil).body.at("items").([]any)
	require.Len(t, items, 1)
	return object(items[0].(map[string]any)).text("id")
}

// describedControls is the description as the host serves it.
func describedControls(t testing.TB, w *world) *openapi3.T {
	t.Helper()
	served := w.call("GET", "/_host/openapi.yaml", nil)
	require.Equal(t, http.StatusOK, served.status)
	assert.Equal(t, "application/yaml", served.header.Get("Content-Type"))
	document, err := openapi3.NewLoader().LoadFromData(served.raw)
	require.NoError(t, err)
	return document
}

// requestExamples are the bodies that a control shows, by name; one without a body has one example, which is nil.
func requestExamples(operation *openapi3.Operation) map[string]any {
	if operation.RequestBody == nil {
		return map[string]any{"": nil}
	}
	media := operation.RequestBody.Value.Content.Get("application/json")
	if media.Example != nil {
		return map[string]any{"": media.Example}
	}
	examples := map[string]any{}
	for name, example := range media.Examples {
		examples[name] = example.Value.Value
	}
	return examples
}

// Every example of control.yaml works, and every response matches it.
func TestEveryExampleOfTheControlsWorks(t *testing.T) {
	openapi3filter.RegisterBodyDecoder("application/yaml", openapi3filter.FileBodyDecoder)
	first, _ := busyWorld(t)
	document := describedControls(t, first)
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			examples := requestExamples(operation)
			require.NotEmpty(t, examples, "%s %s has no example", method, path)
			for _, name := range slices.Sorted(maps.Keys(examples)) {
				t.Run(strings.TrimPrefix(path, "/_host")+" "+method+" "+name, func(t *testing.T) {
					t.Parallel()
					w, ids := busyWorld(t)
					route := &routers.Route{Spec: document, Path: path, PathItem: item, Method: method,
						Operation: operation}
					checkExample(t, w, route, ids[path], examples[name])
				})
			}
		}
	}
}

func checkExample(t *testing.T, w *world, route *routers.Route, id string, example any) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var body []byte
	if example != nil {
		var err error
		body, err = json.Marshal(example)
		require.NoError(t, err)
	}
	path := strings.NewReplacer("{id}", id, "{account}", id, "{key}", "invoice-42").Replace(route.Path)
	request, err := http.NewRequestWithContext(ctx, route.Method, w.server.URL+path, bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	input := &openapi3filter.RequestValidationInput{
		Request: request, Route: route,
		PathParams: map[string]string{"id": id, "account": id, "key": "invoice-42"},
	}
	require.NoError(t, openapi3filter.ValidateRequest(ctx, input))
	request.Body = io.NopCloser(bytes.NewReader(body))
	response, err := w.server.Client().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	if response.Header.Get("Content-Type") == "text/event-stream" {
		stop() // it would not end
		return
	}
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Less(t, response.StatusCode, 300, "%s", text)
	invalid := openapi3filter.ValidateResponse(ctx, (&openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: response.StatusCode, Header: response.Header,
	}).SetBodyBytes(text))
	require.NoError(t, invalid)
	media := route.Operation.Responses.Status(response.StatusCode).Value.Content["application/json"]
	if media == nil {
		return
	}
	var got any
	require.NoError(t, json.Unmarshal(text, &got))
	assertSomethingInLists(t, got)
	if media.Example != nil {
		assert.NoError(t, media.Schema.Value.VisitJSON(media.Example), "the example of the response")
	}
}

// assertSomethingInLists: an empty list would hide that its items differ from the description.
func assertSomethingInLists(t *testing.T, body any) {
	t.Helper()
	if list, ok := body.(map[string]any)["items"]; ok {
		assert.NotEmpty(t, list)
	}
}

// The index lists each control with a request that can be pasted into a shell.
func TestControlIndexIsComplete(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	document := describedControls(t, w)
	for _, path := range []string{"/_host", "/_host/"} {
		listed := w.call("GET", path, nil)
		require.Equal(t, http.StatusOK, listed.status)
		assert.Equal(t, "/_console", listed.body.text("console"))
		assert.Equal(t, "/_host/openapi.yaml", listed.body.text("openapi"))
		routes := listed.body.at("routes").([]any)
		count := 0
		for _, item := range document.Paths.Map() {
			count += len(item.Operations())
		}
		require.Len(t, routes, count)
		for _, item := range routes {
			route := object(item.(map[string]any))
			operation := document.Paths.Value(route.text("path")).GetOperation(route.text("method"))
			require.NotNil(t, operation, "%v", route)
			assert.Equal(t, operation.Summary, route.text("summary"))
			assert.Contains(t, route.text("curl"), w.server.URL+"/_host")
			assert.NotContains(t, route.text("curl"), "%7B")
			assert.Equal(t, operation.RequestBody != nil, route.at("body") != nil, "%v", route)
		}
	}
	unknown := w.call("GET", "/_host/none", nil)
	refused404(t, unknown)
	assert.Contains(t, unknown.body.text("error", "message"), "GET /_host")
}

func refused404(t *testing.T, got reply) {
	t.Helper()
	assert.Equal(t, http.StatusNotFound, got.status)
	assert.Equal(t, "not_found", got.slug())
}

// FuzzControl: any request to the controls succeeds, or is refused with a code, in JSON of bounded size. A refusal
// changes no setting, a response has no credential, and accepted settings can be read and written again unchanged.
func FuzzControl(f *testing.F) {
	calls := []struct{ method, path string }{
		{"PUT", "/_host/settings"}, {"POST", "/_host/clock"}, {"POST", "/_host/keys"}, {"POST", "/_host/app-keys"},
		{"POST", "/_host/faults"},
		{"DELETE", "/_host/keys/"}, {"DELETE", "/_host/app-keys/"}, {"POST", "/_host/reset"}, {"GET", "/_host/"},
		{"DELETE", "/_host/faults/"}, {"POST", "/_host/payouts/"},
	}
	for _, seed := range []struct {
		call byte
		rest string
		body string
	}{
		{0, "", `{"maxCredit":"7.5","payoutStepAfter":"2s","rateLimits":true,"railsHidden":["ach"]}`},
		{0, "", `{"maxCredit":"1e999999999"}`}, {0, "", `{"priceWorsening":"1e-999999999"}`},
		{0, "", `{"priceDrift":"1e-999999999"}`}, {0, "", `{"failAmount":"1e999999999","refundAmount":"1"}`},
		{0, "", `{"rateMinute":"1s","feeIncrease":"0.25","failOneIn":3,"refundAfter":"1h","seed":-7}`},
		{10, "po_1", `{"status":"failed"}`}, {10, "po_1", `{"status":7}`},
		{4, "", `{"path":"/user","fault":{"kind":"duplicate","after":"1h"}}`},
		{4, "", `{"path":"/user","fault":{"kind":"foreign","otherAccount":true}}`}, {8, "audit?after=-1", ""},
		{0, "", `{"maxCredit":1e30}`}, {0, "", `{"loginMode":""}`},
		{0, "", `{"maxUpload":1e9}`}, {0, "", `null`}, {0, "", `{`},
		{1, "", `{"advance":"61s"}`}, {1, "", `{"advance":"2500000h"}`}, {1, "", `{"advance":"-1s"}`},
		{2, "", `{"email":"a@example.com","publicKey":"AAAA","scopes":["read"],"allowlist":["127.0.0.0/8",` +
			`"::ffff:1.2.3.4/120","fe80::1%a"]}`},
		{3, "", `{"email":"a@example.com","app":"a","scopes":["read"],"spendLimit":"5"}`},
		{3, "", `{"email":"a@example.com","spendLimit":"1e999999999"}`},
		{4, "", `{"method":"GET","path":"/chains","times":2,"fault":{"kind":"respond","status":410,"code":"gone",` +
			`"headers":{"X-Why":"a"},"details":{"a":[1]}}}`},
		{4, "", `{"path":"/user","fault":{"kind":"delay","delay":"1h"}}`},
		{4, "", `{"path":"/","fault":{"kind":"drop_before"}}`}, {9, "flt_1", ""}, {9, "", ""},
		{4, "", `{"path":"/user","times":-1,"fault":{"kind":"truncate","keep":3}}`},
		{5, "dk_1", ""}, {6, "apk_1", ""}, {7, "", ""}, {8, "settings", ""}, {8, "app-keys", ""}, {8, "../ledger", ""},
		{8, "%2f", ""},
	} {
		f.Add(seed.call, seed.rest, []byte(seed.body))
	}
	host := sandbox.New(sandbox.WithControl())
	secrets := [][]byte{[]byte(host.Credentials().APIKey.Reveal()), []byte(host.Credentials().AccessToken.Reveal())}
	send := func(t *testing.T, method, path string, body []byte) (int, []byte) {
		r := &http.Request{
			Method: method, URL: &url.URL{Path: path}, Host: "127.0.0.1", RemoteAddr: "127.0.0.1:4000",
			Header: http.Header{},
			Body:   io.NopCloser(bytes.NewReader(body)),
		}
		w := httptest.NewRecorder()
		host.ServeHTTP(w, r)
		response := w.Body.Bytes()
		switch {
		case w.Code >= 500 || len(response) > 64<<10+8*len(body):
			t.Fatalf("%d with %d bytes", w.Code, len(response))
		case w.Code >= 300 && w.Code < 400: // a path that is cleaned
		case w.Code != http.StatusNoContent && !json.Valid(response):
			t.Fatalf("%d with %q", w.Code, response)
		}
		for _, secret := range secrets {
			if bytes.Contains(response, secret) {
				t.Fatalf("a credential in %q", response)
			}
		}
		return w.Code, response
	}
	_, settings := send(&testing.T{}, "GET", "/_host/settings", nil)
	f.Fuzz(func(t *testing.T, which byte, rest string, body []byte) {
		call := calls[int(which)%len(calls)]
		status, response := send(t, call.method, call.path+rest, body)
		switch {
		case status >= 400:
			var refusal struct{ Error struct{ Code string } }
			if json.Unmarshal(response, &refusal) != nil || refusal.Error.Code == "" {
				t.Fatalf("%d with %q", status, response)
			}
			if _, now := send(t, "GET", "/_host/settings", nil); call.method == "PUT" && !bytes.Equal(now, settings) {
				t.Fatalf("a refusal left %s", now)
			}
		case call.method == "PUT" && status == http.StatusOK:
			if _, now := send(t, "GET", "/_host/settings", nil); !bytes.Equal(now, response) {
				t.Fatalf("%s was taken and %s is shown", response, now)
			}
			if _, again := send(t, "PUT", "/_host/settings", response); !bytes.Equal(again, response) {
				t.Fatalf("%s was taken again as %s", response, again)
			}
		}
		if call.method != "GET" && status < 400 {
			host.Reset()
		}
	})
}
