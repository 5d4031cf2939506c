package sandbox_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
)

// from makes a request that comes from an address.
func (s *session) from(address, method, path string, body any) reply {
	s.t.Helper()
	content, err := json.Marshal(body)
	require.NoError(s.t, err)
	request := httptest.NewRequest(method, "/dapi/v1"+path, bytes.NewReader(content))
	request.RemoteAddr = address + ":4000"
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.access)
	recorder := httptest.NewRecorder()
	s.host.ServeHTTP(recorder, request)
	answered := reply{status: recorder.Code, header: recorder.Header(), raw: recorder.Body.Bytes()}
	require.NoError(s.t, json.Unmarshal(answered.raw, &answered.body), "%s", answered.raw)
	return answered
}

// loginWith registers a key and logs in with it.
func (w *world) loginWith(scopes, allowlist []string) *session {
	w.t.Helper()
	key := newSigner(w.t)
	_, err := w.host.RegisterKey(sandbox.KeyRegistration{Email: w.email, PublicKey: key.public(w.t), Scopes: scopes,
		Allowlist: allowlist})
	require.NoError(w.t, err)
	return w.loginAs(w.email, key)
}

// A session is refused from an address outside its key's allowlist, and works again from an address inside.
// Rule: session.address, session.recheck-on-refresh
func TestEveryRequestChecksTheAddress(t *testing.T) {
	me := newWorld(t).loginWith(nil, []string{"127.0.0.1", "::1", "192.0.2.0/24"})
	refresh := object{"refreshToken": me.refresh}
	for _, address := range []string{"127.0.0.1", "192.0.2.200", "[::1]"} {
		assert.Equal(t, http.StatusOK, me.from(address, "GET", "/chains", nil).status, address)
		assert.Equal(t, http.StatusCreated, me.from(address, "POST", "/auth/refresh", refresh).status, address)
	}
	for _, address := range []string{"127.0.0.2", "192.0.3.1", "[::2]"} {
		for name, got := range map[string]reply{
			"a read":    me.from(address, "GET", "/chains", nil),
			"a write":   me.from(address, "POST", "/clients", object{"email": "acme@example.com"}),
			"a refresh": me.from(address, "POST", "/auth/refresh", refresh),
		} {
			refused(t, http.StatusForbidden, "forbidden", got)
			assert.Nil(t, got.body.at("error", "details"), "%s from %s", name, address)
		}
	}
}

// Every route checks exactly one scope, except login and sandbox routes.
// Rule: session.scope
func TestEveryRouteChecksItsScope(t *testing.T) {
	w := newWorld(t)
	for _, scope := range sandbox.Scopes() {
		others := slices.DeleteFunc(sandbox.Scopes(), func(s string) bool { return s == scope })
		only, without := w.loginWith([]string{scope}, nil), w.loginWith(others, nil)
		for _, route := range platformRoutes {
			if route.scope != scope {
				continue
			}
			method, path, _ := strings.Cut(route.pattern, " ")
			missing := without.call(method, path, nil)
			refused(t, http.StatusForbidden, "forbidden", missing)
			assert.Equal(t, scope, missing.body.text("error", "details", "requiredScope"), route.pattern)
			assert.Len(t, missing.body.at("error", "details", "scope"), len(others), "%s", missing.raw)
			assert.NotEqual(t, http.StatusForbidden, only.call(method, path, nil).status, route.pattern)
		}
	}
	none := w.loginWith([]string{}, nil)
	none.must(http.StatusOK, "GET", "/sandbox/treasury", nil)
}

// The key is deleted each time the host reads its clock during a request. A read succeeds once it is authenticated. A
// confirm is refused also if the key is deleted right before the money moves.
// Rule: session.recheck-before-co-signing
func TestKeyDeletedDuringConfirmFundsNothing(t *testing.T) {
	confirms, reads := 0, 0
	for moment := int64(1); ; moment++ {
		p, booked := newInterrupted(t)
		got := p.deletingTheKeyAt(moment, func() reply { return p.confirm(booked) })
		if got.status == http.StatusOK {
			assert.Equal(t, "80", p.balance())
			break
		}
		refused(t, http.StatusForbidden, "forbidden", got)
		assert.Nil(t, got.body.at("error", "details"))
		assert.Equal(t, "100", p.balance(), "deleted at moment %d", moment)
		confirms++
	}
	for moment := int64(1); ; moment++ {
		p, booked := newInterrupted(t)
		got := p.deletingTheKeyAt(moment, func() reply {
			return p.call("GET", "/payouts/"+booked.body.text("id"), nil)
		})
		if got.status == http.StatusOK {
			break
		}
		refused(t, http.StatusForbidden, "forbidden", got)
		reads++
	}
	assert.Greater(t, confirms, reads)
}

// interruptedPayer is a payer to whose host something happens when it looks at its clock.
type interruptedPayer struct {
	*payer
	onClockRead *atomic.Pointer[func()]
}

// newInterrupted has a payout that waits for its confirm.
func newInterrupted(t *testing.T) (*interruptedPayer, reply) {
	start, looking := time.Now(), &atomic.Pointer[func()]{}
	p := newPayer(t, sandbox.WithClock(func() time.Time {
		if look := looking.Load(); look != nil {
			(*look)()
		}
		return start
	}))
	return &interruptedPayer{p, looking}, p.book("invoice-42", "20")
}

// deletingTheKeyAt makes a request, and deletes the session's key when the host looks at its clock for the nth time.
func (p *interruptedPayer) deletingTheKeyAt(nth int64, request func() reply) reply {
	keys := p.host.Keys()
	index := slices.IndexFunc(keys, func(k sandbox.DeveloperKey) bool {
		return bytes.Equal(k.PublicKey, p.key.public(p.t))
	})
	var looks atomic.Int64
	look := func() {
		if looks.Add(1) == nth {
			assert.NoError(p.t, p.host.DeleteKey(keys[index].ID))
		}
	}
	p.onClockRead.Store(&look)
	defer p.onClockRead.Store(nil)
	return request()
}

// An approval may be signed with any key of the account that could make the request itself. Any other key is refused
// with key_not_registered.
// Rule: session.recheck-before-co-signing, session.scope, session.address
func TestApprovalSignedByAnotherKeyOfTheAccount(t *testing.T) {
	p := newPayer(t)
	key := func(email string, scopes, allowlist []string) (string, signer) {
		created := newSigner(t)
		registered, err := p.host.RegisterKey(sandbox.KeyRegistration{Email: email, PublicKey: created.public(t),
			Scopes: scopes, Allowlist: allowlist})
		require.NoError(t, err)
		return registered.ID, created
	}
	_, payer := key(p.email, []string{"payouts:write"}, nil)
	_, reader := key(p.email, []string{"read"}, nil)
	_, elsewhere := key(p.email, nil, []string{"192.0.2.1"})
	_, otherKey := key("other@example.com", nil, nil)
	gone, deleted := key(p.email, nil, nil)
	require.NoError(t, p.host.DeleteKey(gone))

	booked, escrow := p.book("invoice-42", "20"), p.mustCreateEscrow("escrow-1", nil)
	for name, c := range map[string]struct {
		key      signer
		slug     string
		required any
	}{
		"without the scope":    {reader, "forbidden", "payouts:write"},
		"from another address": {elsewhere, "forbidden", nil},
		"of another account":   {otherKey, "key_not_registered", nil},
		"deleted":              {deleted, "key_not_registered", nil},
	} {
		other := *p.session
		other.key = c.key
		for _, got := range []reply{other.confirm(booked), other.act(escrow, escrow.action())} {
			refused(t, http.StatusForbidden, c.slug, got)
			assert.Equal(t, c.required, got.body.at("error", "details", "requiredScope"), name)
		}
	}
	assert.Equal(t, "100", p.balance())

	other := *p.session
	other.key = payer
	assert.Equal(t, http.StatusOK, other.confirm(booked).status)
	assert.Equal(t, http.StatusOK, other.act(escrow, escrow.action()).status)
	assert.Equal(t, "40", p.balance())
}

// Rule: session.allowlist-size, session.key-size
func TestBoundsOfADeveloperKey(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	register := func(change object) reply {
		body := object{"email": w.email, "publicKey": newSigner(t).public(t)}
		for name, value := range change {
			body[name] = value
		}
		return w.call("POST", "/_host/keys", body)
	}
	networks := func(count int) []string {
		list := make([]string, count)
		for i := range list {
			list[i] = fmt.Sprintf("10.0.%d.0/24", i)
		}
		return list
	}
	for count, status := range map[int]int{0: 422, 1: 201, 64: 201, 65: 422} {
		assert.Equal(t, status, register(object{"allowlist": networks(count)}).status, "%d networks", count)
	}
	tooLong := register(object{"publicKey": base64.StdEncoding.EncodeToString(make([]byte, 3073))})
	assert.Equal(t, map[string]string{"publicKey": "string_too_long"}, tooLong.fields())
	noKey := register(object{"publicKey": base64.StdEncoding.EncodeToString(make([]byte, 3072))})
	assert.Equal(t, map[string]string{"publicKey": "value_error"}, noKey.fields(), "4,096 characters, and no key")
}

// Rule: session.keys-immutable
func TestDeveloperKeysAreImmutable(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	reader := w.loginWith([]string{"read"}, nil)
	writer := w.loginWith([]string{"accounts:write"}, nil)
	refused(t, http.StatusForbidden, "forbidden", reader.call("POST", "/clients", object{"email": "acme@example.com"}))
	writer.must(http.StatusCreated, "POST", "/clients", object{"email": "acme@example.com"})
	refused(t, http.StatusForbidden, "forbidden", writer.call("GET", "/transactions", nil))

	keys := w.host.Keys()
	changed := object{"scopes": []string{"read"}, "allowlist": []string{"10.0.0.1"}}
	for _, method := range []string{"PUT", "PATCH", "POST"} {
		got := w.call(method, "/_host/keys/"+keys[0].ID, changed)
		assert.Contains(t, []int{http.StatusNotFound, http.StatusMethodNotAllowed}, got.status, method)
	}
	for _, path := range []string{"/keys", "/developer-keys", "/developer/keys", "/keys/" + keys[0].ID} {
		for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
			refused(t, http.StatusNotFound, "not_found", w.login().call(method, path, nil))
		}
	}
	assert.Equal(t, keys, w.host.Keys())
}

func TestAppKeyInEitherHeader(t *testing.T) {
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

func TestTwoAppKeyHeadersAreUnauthenticated(t *testing.T) {
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
func TestCredentialsAreRefusedOnOtherSurfaces(t *testing.T) {
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

func TestReferenceEndpointsCheckOptionalAppKey(t *testing.T) {
	w := newWorld(t)
	me := w.reference()
	me.must(http.StatusOK, "GET", "/api/v1/accounts/cards", nil, "x-api-key", w.host.Credentials().APIKey.Reveal())
	refused(t, http.StatusUnauthorized, "unauthenticated",
		me.call("GET", "/api/v1/accounts/cards", nil, "x-api-key", "ak_none"))
	other, err := w.host.RegisterAppKey(sandbox.AppKeyRegistration{Email: "stranger@example.com"})
	require.NoError(t, err)
	refused(t, http.StatusUnauthorized, "unauthenticated",
		me.call("GET", "/api/v1/accounts/cards", nil, "x-api-key", other.Key.Reveal()))
}

func TestPublicUtilitiesNeedNoCredentials(t *testing.T) {
	w := newWorld(t)
	for _, headers := range [][]string{nil, {"Authorization", "Bearer nonsense"}, {"X-Api-Key", "nonsense"}} {
		got := w.call("GET", "/utils/rates/EUR", nil, headers...)
		assert.Equal(t, http.StatusOK, got.status, "%s", got.raw)
	}
}

func TestAppKeyScopes(t *testing.T) {
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
	created := w.call("POST", "/_host/app-keys", object{"app": "Bot", "scopes": []string{"read"}, "spendLimit": "12.5"})
	require.Equal(t, http.StatusCreated, created.status, "%s", created.raw)
	bot := bearer{w, created.body.text("apiKey")}
	assert.Equal(t, "12.5", bot.must(http.StatusOK, "GET", "/apps/me", nil).body.text("remainingSpendLimit"))

	listed := w.call("GET", "/_host/app-keys", nil)
	require.Len(t, listed.items(), 2)
	assert.NotContains(t, string(listed.raw), created.body.text("apiKey"), "shown once")

	require.Equal(t, http.StatusNoContent, w.call("DELETE", "/_host/app-keys/"+created.body.text("id"), nil).status)
	refused(t, http.StatusUnauthorized, "unauthenticated", bot.call("GET", "/user", nil))
	assert.Equal(t, "not_found", w.call("DELETE", "/_host/app-keys/"+created.body.text("id"), nil).slug())

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

// An app key that the caller chose has no recognizable form. The recorded requests must hide it, and the keys of an
// earlier start and registered keys, wherever a caller sends them.
func TestRecordedRequestsShowNoAppKey(t *testing.T) {
	const earlier, chosen = "an-earlier-key-of-22", "a-chosen-key-of-16"
	kept := new(storetest.Encoded)
	restart(kept, sandbox.WithAPIKey(earlier))
	host := restart(kept, sandbox.WithControl(), sandbox.WithAPIKey(chosen))
	registered, err := host.RegisterAppKey(sandbox.AppKeyRegistration{})
	require.NoError(t, err)
	keys := []string{earlier, chosen, registered.Key.Reveal()}
	ask := func(method, path, body string, header http.Header) string {
		request := httptest.NewRequest(method, "http://127.0.0.1:8080"+path, strings.NewReader(body))
		request.RemoteAddr, request.Header = "127.0.0.1:4000", header
		recorder := httptest.NewRecorder()
		host.ServeHTTP(recorder, request)
		return recorder.Body.String()
	}
	for _, key := range keys {
		ask(http.MethodPost, "/contacts/"+key, `{"name":"`+key+`"}`, http.Header{"Authorization": {"Bearer " + key},
			"X-Note": {key}, "Content-Type": {"application/json"}})
	}
	requests := host.Requests()
	require.Len(t, requests, len(keys))
	view := ask(http.MethodGet, "/_host/requests", "", http.Header{})
	for _, request := range requests {
		view += ask(http.MethodGet, "/_host/requests/"+strconv.Itoa(request.ID), "", http.Header{})
	}
	assert.Contains(t, view, "[redacted]")
	for _, key := range keys {
		assert.NotContains(t, view, key)
	}
}
