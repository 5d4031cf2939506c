package sandbox_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
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

// A session that moves off its key's allowlist stops there, and goes on where it may be.
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

// Every route but the login's and the sandbox's asks for its scope, and for that one alone.
// Rule: session.scope
func TestEveryRouteAsksForItsScope(t *testing.T) {
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

// The key is deleted at each moment of a request at which the host looks at its clock. A read is let through once it
// was admitted; a confirm is refused at a later moment too, right before the money would move.
// Rule: session.recheck-before-co-signing
func TestAKeyDeletedDuringAConfirmFundsNothing(t *testing.T) {
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

// interrupted is a payer to whose host something happens when it looks at its clock.
type interrupted struct {
	*payer
	looking *atomic.Pointer[func()]
}

// newInterrupted has a payout that waits for its confirm.
func newInterrupted(t *testing.T) (*interrupted, reply) {
	start, looking := time.Now(), &atomic.Pointer[func()]{}
	p := newPayer(t, sandbox.WithClock(func() time.Time {
		if look := looking.Load(); look != nil {
			(*look)()
		}
		return start
	}))
	return &interrupted{p, looking}, p.book("invoice-42", "20")
}

// deletingTheKeyAt makes a request, and deletes the session's key when the host looks at its clock for the nth time.
func (p *interrupted) deletingTheKeyAt(nth int64, request func() reply) reply {
	keys := p.host.Keys()
	own := slices.IndexFunc(keys, func(k sandbox.DeveloperKey) bool {
		return bytes.Equal(k.PublicKey, p.key.public(p.t))
	})
	var looks atomic.Int64
	look := func() {
		if looks.Add(1) == nth {
			assert.NoError(p.t, p.host.DeleteKey(keys[own].ID))
		}
	}
	p.looking.Store(&look)
	defer p.looking.Store(nil)
	return request()
}

// An approval may be signed with any key of the account that may do this itself; key_not_registered says that it is
// none.
// Rule: session.recheck-before-co-signing, session.scope, session.address
func TestAnotherKeyOfTheAccountMaySign(t *testing.T) {
	p := newPayer(t)
	key := func(email string, scopes, allowlist []string) (string, signer) {
		made := newSigner(t)
		registered, err := p.host.RegisterKey(sandbox.KeyRegistration{Email: email, PublicKey: made.public(t),
			Scopes: scopes, Allowlist: allowlist})
		require.NoError(t, err)
		return registered.ID, made
	}
	_, payer := key(p.email, []string{"payouts:write"}, nil)
	_, reader := key(p.email, []string{"read"}, nil)
	_, elsewhere := key(p.email, nil, []string{"192.0.2.1"})
	_, stranger := key("other@example.com", nil, nil)
	gone, deleted := key(p.email, nil, nil)
	require.NoError(t, p.host.DeleteKey(gone))

	booked, deal := p.book("invoice-42", "20"), p.deal("deal-1", nil)
	for name, c := range map[string]struct {
		key      signer
		slug     string
		required any
	}{
		"without the scope":    {reader, "forbidden", "payouts:write"},
		"from another address": {elsewhere, "forbidden", nil},
		"of another account":   {stranger, "key_not_registered", nil},
		"deleted":              {deleted, "key_not_registered", nil},
	} {
		other := *p.session
		other.key = c.key
		for _, got := range []reply{other.confirm(booked), other.act(deal, deal.action())} {
			refused(t, http.StatusForbidden, c.slug, got)
			assert.Equal(t, c.required, got.body.at("error", "details", "requiredScope"), name)
		}
	}
	assert.Equal(t, "100", p.balance())

	other := *p.session
	other.key = payer
	assert.Equal(t, http.StatusOK, other.confirm(booked).status)
	assert.Equal(t, http.StatusOK, other.act(deal, deal.action()).status)
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
func TestKeysDoNotChange(t *testing.T) {
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
