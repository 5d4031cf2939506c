package sandbox_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestAnAppKeyComesInEitherHeader(t *testing.T) {
	w := newWorld(t)
	key := w.host.Credentials().APIKey.Reveal()
	for _, c := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"bearer", []string{"Authorization", "Bearer " + key}, http.StatusOK},
		{"header", []string{"X-Api-Key", key}, http.StatusOK},
		{"both, the same", []string{"Authorization", "Bearer " + key, "X-Api-Key", key}, http.StatusOK},
		{"both, different", []string{"Authorization", "Bearer " + key, "X-Api-Key", "ak_other"},
			http.StatusUnauthorized},
		{"both, of which one is no bearer", []string{"Authorization", "Basic " + key, "X-Api-Key", key},
			http.StatusUnauthorized},
		{"none", nil, http.StatusUnauthorized},
		{"another", []string{"X-Api-Key", key + "x"}, http.StatusUnauthorized},
		{"empty", []string{"X-Api-Key", ""}, http.StatusUnauthorized},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := w.call("GET", "/user", nil, c.headers...)
			assert.Equal(t, c.status, got.status, "%s", got.raw)
			if c.status == http.StatusUnauthorized {
				refused(t, http.StatusUnauthorized, "unauthenticated", got)
			}
		})
	}
}

func TestAKeyThatIsSentTwiceIsNone(t *testing.T) {
	w := newWorld(t)
	key := w.host.Credentials().APIKey.Reveal()
	request, err := http.NewRequest(http.MethodGet, w.server.URL+"/user", nil)
	require.NoError(t, err)
	request.Header["X-Api-Key"] = []string{key, key}
	response, err := w.server.Client().Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusUnauthorized, response.StatusCode)
}

// Rule: session.other-surfaces
func TestCredentialsNeverWorkOnAnotherSurface(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	credentials := w.host.Credentials()
	registered, err := w.host.RegisterAppKey(sandbox.AppKeyRegistration{})
	require.NoError(t, err)
	tokens := map[string]string{
		"session": me.access, "refresh": me.refresh, "app key": credentials.APIKey.Reveal(),
		"registered app key": registered.Key.Reveal(), "access token": credentials.AccessToken.Reveal(),
	}
	for path, own := range map[string][]string{
		"/dapi/v1/chains":        {"session"},
		"/user":                  {"app key", "registered app key"},
		"/api/v1/accounts/cards": {"access token"},
	} {
		for name, token := range tokens {
			got := w.call("GET", path, nil, "Authorization", "Bearer "+token)
			switch {
			case slices.Contains(own, name):
				assert.Equal(t, http.StatusOK, got.status, "%s with %s: %s", path, name, got.raw)
			case path == "/dapi/v1/chains":
				refused(t, http.StatusForbidden, "forbidden", got)
				assert.Equal(t, "developerSessionRequired", got.body.text("error", "details", "reason"), name)
			default:
				refused(t, http.StatusUnauthorized, "unauthenticated", got)
			}
		}
	}
}

func TestTheReferenceEndpointsTakeAnAppKeyOfTheSameAccountBesides(t *testing.T) {
	w := newWorld(t)
	me := w.reference()
	me.must(http.StatusOK, "GET", "/api/v1/accounts/cards", nil, "x-api-key", w.host.Credentials().APIKey.Reveal())
	refused(t, http.StatusUnauthorized, "unauthenticated",
		me.call("GET", "/api/v1/accounts/cards", nil, "x-api-key", "ak_none"))
	stranger, err := w.host.RegisterAppKey(sandbox.AppKeyRegistration{Email: "stranger@example.com"})
	require.NoError(t, err)
	refused(t, http.StatusUnauthorized, "unauthenticated",
		me.call("GET", "/api/v1/accounts/cards", nil, "x-api-key", stranger.Key.Reveal()))
}

func TestPublicUtilitiesTakeEverybody(t *testing.T) {
	w := newWorld(t)
	for _, headers := range [][]string{nil, {"Authorization", "Bearer nonsense"}, {"X-Api-Key", "nonsense"}} {
		got := w.call("GET", "/utils/rates/EUR", nil, headers...)
		assert.Equal(t, http.StatusOK, got.status, "%s", got.raw)
	}
}

func TestAppKeysCarryScopes(t *testing.T) {
	w := newWorld(t)
	reader := w.appWith(sandbox.AppKeyRegistration{Scopes: []string{"read"}})
	reader.must(http.StatusOK, "GET", "/balance", nil)
	for path, scope := range map[string]string{
		"/user/contact":        "contacts:write",
		"/user/kyc_link":       "profile:write",
		"/apps/transfer":       "transfers:write",
		"/balance/payin/quote": "banks:write",
		"/cards":               "cards:write",
		"/documents/upload":    "documents:write",
		"/documents/contracts": "documents:write",
	} {
		got := reader.call("POST", path, object{})
		refused(t, http.StatusForbidden, "forbidden", got)
		assert.Equal(t, scope, got.body.text("error", "details", "requiredScope"), path)
		assert.Equal(t, []any{"read"}, got.body.at("error", "details", "scope"), path)
	}
	writer := w.appWith(sandbox.AppKeyRegistration{Scopes: []string{}})
	refused(t, http.StatusForbidden, "forbidden", writer.call("GET", "/balance", nil))
	assert.Empty(t, writer.must(http.StatusOK, "GET", "/apps/me", nil).body.at("scopes"),
		"a key may always ask what it is")
}

func TestIntrospectionOfAKey(t *testing.T) {
	w := newWorld(t)
	got := w.app().must(http.StatusOK, "GET", "/apps/me", nil).body
	assert.Equal(t, w.email, got.text("userEmail"))
	assert.Equal(t, w.email, got.text("userName"), "nobody has told a name")
	assert.Equal(t, "0", got.text("balance"))
	assert.Equal(t, "10000", got.text("remainingSpendLimit"))
	assert.NotEmpty(t, got.text("appId"))
	assert.Len(t, got.at("scopes"), len(sandbox.AppScopes()))

	other := w.appWith(sandbox.AppKeyRegistration{App: "Bot"}).must(http.StatusOK, "GET", "/apps/me", nil).body
	assert.Equal(t, "Bot", other.text("appName"))
	assert.NotEqual(t, got.text("appId"), other.text("appId"))
	assert.Nil(t, other.at("remainingSpendLimit"), "without limit")
}

func TestAppKeysOverTheControls(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	made := w.call("POST", "/_host/app-keys", object{"app": "Bot", "scopes": []string{"read"}, "spendLimit": "12.5"})
	require.Equal(t, http.StatusCreated, made.status, "%s", made.raw)
	bot := bearer{w, made.body.text("apiKey")}
	assert.Equal(t, "12.5", bot.must(http.StatusOK, "GET", "/apps/me", nil).body.text("remainingSpendLimit"))

	listed := w.call("GET", "/_host/app-keys", nil)
	require.Len(t, listed.items(), 2)
	assert.NotContains(t, string(listed.raw), made.body.text("apiKey"), "shown once")

	require.Equal(t, http.StatusNoContent, w.call("DELETE", "/_host/app-keys/"+made.body.text("id"), nil).status)
	refused(t, http.StatusUnauthorized, "unauthenticated", bot.call("GET", "/user", nil))
	assert.Equal(t, "not_found", w.call("DELETE", "/_host/app-keys/"+made.body.text("id"), nil).slug())

	wrong := w.call("POST", "/_host/app-keys", object{"scopes": []string{"everything"}, "spendLimit": "-1"})
	assert.Equal(t, map[string]string{"scopes.0": "enum", "spendLimit": "greater_than_equal"}, wrong.fields())
	require.Len(t, w.host.AppKeys(), 1)
}

func TestResetKeepsTheCredentialsOfEverySurface(t *testing.T) {
	w := newWorld(t)
	w.app().fund(1)
	w.app().must(http.StatusOK, "POST", "/apps/transfer",
		object{"contactId": w.app().wallet("base", "USDC"), "amount": 40})
	extra := w.appWith(sandbox.AppKeyRegistration{})

	w.host.Reset()

	me := w.app().must(http.StatusOK, "GET", "/apps/me", nil).body
	assert.Equal(t, "10000", me.text("remainingSpendLimit"))
	assert.Equal(t, "0", me.text("balance"))
	assert.Empty(t, w.app().must(http.StatusOK, "GET", "/user/contacts", nil).items())
	assert.Empty(t, w.app().must(http.StatusOK, "GET", "/apps/transfers", nil).items())
	w.reference().must(http.StatusOK, "GET", "/api/v1/accounts/cards", nil)
	refused(t, http.StatusUnauthorized, "unauthenticated", extra.call("GET", "/user", nil))
}
