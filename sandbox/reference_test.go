package sandbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// signPersonal signs a message as a wallet shows it to a person.
func signPersonal(t testing.TB, key *wallet.Key, message string) string {
	t.Helper()
	signature, err := key.SignMessage(t.Context(), []byte(message))
	require.NoError(t, err)
	return signature
}

func TestWalletLogin(t *testing.T) {
	w := newWorld(t)
	key := w.host.Credentials().Wallet
	signature := signPersonal(t, key, "Log in")
	body := object{"message": "Log in", "signatures": []string{signature, signature}}

	assert.Equal(t, object{"status": "success"}, w.reference().must(http.StatusOK, "POST", "/api/v1/wallet/login",
		body).body)
	w.reference().must(http.StatusOK, "POST", "/api/v1/wallet/login", body, "device-id", "d1", "device-type", "android",
		"device-name", "Pixel")
	logins := w.host.WalletLogins()
	require.Len(t, logins, 2)
	logins[0].Account = ""
	assert.Equal(t, sandbox.WalletLogin{Wallet: key.Address(), DeviceType: "ios", DeviceName: "ios", At: logins[0].At},
		logins[0], "a device is ios by default")
	assert.Equal(t, "d1 android Pixel",
		strings.Join([]string{logins[1].DeviceID, logins[1].DeviceType, logins[1].DeviceName}, " "))

	other, err := wallet.Generate()
	require.NoError(t, err)
	for name, wrong := range map[string]struct {
		body   object
		status int
		failed map[string]string
	}{
		"no signature": {object{"message": "Log in", "signatures": []string{}}, 422,
			map[string]string{"body.signatures": "too_short"}},
		"half a signature": {object{"message": "Log in", "signatures": []string{signature, signature[:60]}}, 422,
			map[string]string{"body.signatures.1": "signature_invalid"}},
		"no message": {object{"signatures": []string{signature}}, 422,
			map[string]string{"body.message": "missing"}},
		"another wallet": {object{"message": "Log in", "signatures": []string{signPersonal(t, other, "Log in")}}, 403,
			nil},
		"another's message": {object{"message": "Log out", "signatures": []string{signature}}, 403, nil},
	} {
		got := w.reference().call("POST", "/api/v1/wallet/login", wrong.body)
		assert.Equal(t, wrong.status, got.status, "%s: %s", name, got.raw)
		if wrong.failed != nil {
			assert.Equal(t, wrong.failed, got.details(), name)
		} else {
			refused(t, http.StatusForbidden, "forbidden", got)
		}
	}
	assert.Len(t, w.host.WalletLogins(), 2)
	w.host.Reset()
	assert.Empty(t, w.host.WalletLogins())
}

func TestPartnerWebhook(t *testing.T) {
	w := newWorld(t)
	event := object{
		"eventType": "payment.settled", "entityId": "pi_1", "entityType": "payin", "createdAt": "2026-01-02T03:04:05Z",
		"eventPayload": object{"amount": "12.50", "nested": object{"ok": true}},
	}
	got := w.reference().must(http.StatusOK, "POST", "/api/v1/webhook/bank-one", event)
	assert.Equal(t, object{"ok": true}, got.body, "ok is true")
	delete(event, "eventPayload")
	w.reference().must(http.StatusOK, "POST", "/api/v1/webhook/bank-one", event)

	events := w.host.PartnerEvents()
	require.Len(t, events, 2)
	assert.Equal(t, "bank-one", events[0].Partner)
	assert.Equal(t, "payment.settled", events[0].EventType)
	assert.Equal(t, "12.50", events[0].Payload["amount"])
	assert.Nil(t, events[1].Payload)

	empty := w.reference().call("POST", "/api/v1/webhook/bank-one", object{"eventType": 7})
	assert.Equal(t, http.StatusUnprocessableEntity, empty.status)
	assert.Equal(t, map[string]string{
		"body.eventType": "string_type", "body.entityId": "missing", "body.entityType": "missing",
		"body.createdAt": "missing",
	}, empty.details())
	refused(t, http.StatusUnauthorized, "unauthenticated", w.call("POST", "/api/v1/webhook/bank-one", event))
	assert.Len(t, w.host.PartnerEvents(), 2)
}

// The reference endpoints refuse a failed validation with an array, and everything else with the platform's envelope.
func TestRefusalFormsUnderAPIV1(t *testing.T) {
	w := newWorld(t)
	me := w.reference()
	path := me.call("GET", "/api/v1/invoices/documents/contracts/no-uuid", nil)
	assert.Equal(t, http.StatusUnprocessableEntity, path.status)
	assert.Equal(t, map[string]string{"path.contract_id": "uuid_parsing"}, path.details())
	assert.NotEmpty(t, path.header.Get("X-Request-ID"))
	assert.Empty(t, path.slug())

	query := me.call("GET", "/api/v1/transactions/merchant/products?active_only=maybe", nil)
	assert.Equal(t, map[string]string{"query.active_only": "bool_parsing"}, query.details())
	unreadable := me.call("POST", "/api/v1/webhook/x", `{"eventType":`)
	assert.Equal(t, http.StatusUnprocessableEntity, unreadable.status)
	assert.Equal(t, map[string]string{"body": "value_error"}, unreadable.details())

	refused(t, http.StatusNotFound, "not_found", me.call("GET", "/api/v1/nothing", nil))
	refused(t, http.StatusMethodNotAllowed, "method_not_allowed", me.call("DELETE", "/api/v1/accounts/cards", nil))
	refused(t, http.StatusRequestEntityTooLarge, "payload_too_large",
		me.call("POST", "/api/v1/webhook/x", `"`+strings.Repeat("x", 2<<20)+`"`))
}

func TestRatesInUSD(t *testing.T) {
	w := newWorld(t)
	for currency, want := range map[string]object{
		"USD":  {"usdRate": "1", "bankTransfer": "1", "card": "1"},
		"usdc": {"usdRate": "1", "bankTransfer": "1", "card": "1"},
		"EUR":  {"usdRate": "1.08695652", "bankTransfer": "1.08152174", "card": "1.06521739"},
		"JPY":  {"usdRate": "0.00645995", "bankTransfer": "0.00642765", "card": "0.00633075"},
	} {
		got := w.call("GET", "/utils/rates/"+currency, nil)
		require.Equal(t, http.StatusOK, got.status, "%s", got.raw)
		assert.Equal(t, want, got.body, currency)
	}
	refused(t, http.StatusNotFound, "not_found", w.call("GET", "/utils/rates/XYZ", nil))
	refused(t, http.StatusNotFound, "not_found", w.call("GET", "/utils/rates/", nil))
	refused(t, http.StatusMethodNotAllowed, "method_not_allowed", w.call("POST", "/utils/rates/EUR", object{}))
}

func TestFaultsLogAndClockCoverEverySurface(t *testing.T) {
	w := newWorld(t, sandbox.WithRateLimits())
	for _, c := range []struct {
		name, path, operation string
		get                   func(string) reply
	}{
		{"app API", "/user", "GetProfile", func(path string) reply { return w.app().call("GET", path, nil) }},
		{"reference endpoints", "/api/v1/accounts/cards", "ListCards", func(path string) reply {
			return w.reference().call("GET", path, nil)
		}},
		{"public utilities", "/utils/rates/EUR", "GetRate", func(path string) reply {
			return w.call("GET", path, nil)
		}},
	} {
		armed := w.host.Arm("GET", c.path, sandbox.Respond(503, "provider_unavailable"))
		refused(t, http.StatusServiceUnavailable, "provider_unavailable", c.get(c.path))
		assert.Equal(t, 1, armed.Consumed(), c.name)
		got := c.get(c.path)
		assert.Equal(t, http.StatusOK, got.status, "%s", got.raw)

		requests := w.host.Requests()
		last := requests[len(requests)-1]
		assert.Equal(t, c.operation, last.Operation, c.name)
		assert.Equal(t, got.header.Get("X-Request-ID"), last.RequestID, c.name)
		for range 700 {
			got = c.get(c.path)
		}
		assert.Equal(t, http.StatusOK, got.status, "%s has no stated rate window", c.name)
	}
	require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.DatabaseAvailable = false }))
	down := w.app().call("GET", "/user", nil)
	refused(t, http.StatusServiceUnavailable, "database_unavailable", down)
	assert.Equal(t, down.header.Get("X-Request-ID"), down.body.text("error", "details", "requestId"))
}
