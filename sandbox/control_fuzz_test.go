package sandbox_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// FuzzControl: whatever is sent to the controls, they carry it out or refuse it with a code, in JSON of bounded size. A
// refusal changes no setting, an answer shows no credential, and settings that were taken are shown, and taken again,
// as the same.
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
		answer := w.Body.Bytes()
		switch {
		case w.Code >= 500 || len(answer) > 64<<10+8*len(body):
			t.Fatalf("%d with %d bytes", w.Code, len(answer))
		case w.Code >= 300 && w.Code < 400: // a path that is cleaned
		case w.Code != http.StatusNoContent && !json.Valid(answer):
			t.Fatalf("%d with %q", w.Code, answer)
		}
		for _, secret := range secrets {
			if bytes.Contains(answer, secret) {
				t.Fatalf("a credential in %q", answer)
			}
		}
		return w.Code, answer
	}
	_, settings := send(&testing.T{}, "GET", "/_host/settings", nil)
	f.Fuzz(func(t *testing.T, which byte, rest string, body []byte) {
		call := calls[int(which)%len(calls)]
		status, answer := send(t, call.method, call.path+rest, body)
		switch {
		case status >= 400:
			var refusal struct{ Error struct{ Code string } }
			if json.Unmarshal(answer, &refusal) != nil || refusal.Error.Code == "" {
				t.Fatalf("%d with %q", status, answer)
			}
			if _, now := send(t, "GET", "/_host/settings", nil); call.method == "PUT" && !bytes.Equal(now, settings) {
				t.Fatalf("a refusal left %s", now)
			}
		case call.method == "PUT" && status == http.StatusOK:
			if _, now := send(t, "GET", "/_host/settings", nil); !bytes.Equal(now, answer) {
				t.Fatalf("%s was taken and %s is shown", answer, now)
			}
			if _, again := send(t, "PUT", "/_host/settings", answer); !bytes.Equal(again, answer) {
				t.Fatalf("%s was taken again as %s", answer, again)
			}
		}
		if call.method != "GET" && status < 400 {
			host.Reset()
		}
	})
}
