package sandbox_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// Rule: login.request-expiry
func TestRequestExpiryBounds(t *testing.T) {
	w := newWorld(t)
	start := w.host.Now()
	cases := []struct {
		name   string
		expiry time.Time
		status int
	}{
		{"past", start.Add(-time.Nanosecond), http.StatusBadRequest},
		{"now", start, http.StatusCreated},
		{"five minutes out", start.Add(5 * time.Minute), http.StatusCreated},
		{"further out", start.Add(5*time.Minute + time.Nanosecond), http.StatusBadRequest},
		{"elsewhere on earth", start.Add(time.Minute).In(time.FixedZone("", 5*3600)), http.StatusCreated},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := w.call("POST", "/dapi/v1/auth/challenge", object{"email": w.email, "requestExpiry": c.expiry})
			if c.status == http.StatusCreated {
				assert.Equal(t, c.status, got.status, "%s", got.raw)
				return
			}
			refused(t, c.status, "request_expired", got)
		})
	}
}

// Rule: login.challenge-once, login.challenge-expires, login.challenge-unknown, status.410
func TestChallengeIsSingleUseAndExpires(t *testing.T) {
	w := newWorld(t)
	challenge, late := w.challenge(w.email), w.challenge(w.email) // two minutes each
	w.host.Advance(2*time.Minute - time.Nanosecond)
	require.Equal(t, http.StatusCreated, w.token(challenge, w.key).status)
	refused(t, http.StatusConflict, "challenge_consumed", w.token(challenge, w.key))

	w.host.Advance(time.Nanosecond)
	refused(t, http.StatusGone, "challenge_expired", w.token(late, w.key))
	refused(t, http.StatusConflict, "challenge_consumed", w.token(challenge, w.key))

	unknown := late
	unknown.body = object{"challengeId": "ch_unknown", "payload": late.body.text("payload")}
	refused(t, http.StatusNotFound, "challenge_not_found", w.token(unknown, w.key))
}

// Rule: login.challenge-once
func TestConcurrentLoginsUseChallengeOnce(t *testing.T) {
	w := newWorld(t)
	challenge := w.challenge(w.email)
	body := object{
		"challengeId": challenge.body.text("challengeId"), "publicKey": w.key.public(t),
		"signature": w.key.sign(t, bytesOf(t, challenge.body.text("payload"))),
	}
	slugs := concurrently(8, func(int) string { return w.call("POST", "/dapi/v1/auth/token", body).slug() })
	assert.Equal(t, map[string]int{"": 1, "challenge_consumed": 7}, slugs)
}

// Rule: login.bad-signature, login.one-response, login.signs-decoded-bytes
func TestBadSignatureDoesNotConsumeChallenge(t *testing.T) {
	for name, c := range map[string]struct {
		opaque bool
		status int
		slug   string
	}{
		"stated":                        {false, http.StatusBadRequest, "signature_invalid"},
		"the single answer, by setting": {true, http.StatusUnauthorized, "invalid_credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.OpaqueLogin = c.opaque }))
			challenge := w.challenge(w.email)
			forged := w.call("POST", "/dapi/v1/auth/token", object{
				"challengeId": challenge.body.text("challengeId"),
				"publicKey":   w.key.public(t),
				"signature":   w.key.sign(t, []byte("something else")),
			})
			refused(t, c.status, c.slug, forged)
			assert.Equal(t, http.StatusCreated, w.token(challenge, w.key).status)
		})
	}
}

// Rule: login.one-response, login.key-not-registered
func TestLoginRefusals(t *testing.T) {
	w := newWorld(t)

	t.Run("an unknown email gets a challenge and no session", func(t *testing.T) {
		challenge := w.challenge("nobody@example.com")
		require.Equal(t, http.StatusCreated, challenge.status)
		refused(t, http.StatusUnauthorized, "invalid_credentials", w.token(challenge, w.key))
	})
	t.Run("a key of no account", func(t *testing.T) {
		refused(t, http.StatusForbidden, "key_not_registered", w.token(w.challenge(w.email), newSigner(t)))
	})
	t.Run("a key of another account", func(t *testing.T) {
		other := newSigner(t)
		_, err := w.host.RegisterKey(sandbox.KeyRegistration{Email: "other@example.com", PublicKey: other.public(t)})
		require.NoError(t, err)
		refused(t, http.StatusForbidden, "key_not_registered", w.token(w.challenge(w.email), other))
	})
	t.Run("a deleted key, until it is registered again", func(t *testing.T) {
		key := newSigner(t)
		registration := sandbox.KeyRegistration{Email: w.email, PublicKey: key.public(t)}
		registered, err := w.host.RegisterKey(registration)
		require.NoError(t, err)
		require.NoError(t, w.host.DeleteKey(registered.ID))
		refused(t, http.StatusUnauthorized, "invalid_credentials", w.token(w.challenge(w.email), key))

		_, err = w.host.RegisterKey(registration)
		require.NoError(t, err)
		assert.Equal(t, http.StatusCreated, w.token(w.challenge(w.email), key).status)
	})
	t.Run("a key from an address off its allowlist", func(t *testing.T) {
		key := newSigner(t)
		_, err := w.host.RegisterKey(sandbox.KeyRegistration{Email: w.email, PublicKey: key.public(t),
			Allowlist: []string{"192.0.2.0/24"}})
		require.NoError(t, err)
		refused(t, http.StatusUnauthorized, "invalid_credentials", w.token(w.challenge(w.email), key))
	})
}

func TestLoginEmailIsCaseInsensitive(t *testing.T) {
	w := newWorld(t)
	assert.NotEmpty(t, w.loginAs("OPS@Example.com", w.key).access)
}

// Rule: login.two-steps, login.signs-decoded-bytes
func TestLoginWithEachKeyType(t *testing.T) {
	ed, err := signing.GenerateEd25519()
	require.NoError(t, err)
	rsa, err := signing.GenerateRSA(2048)
	require.NoError(t, err)
	p256, err := signing.Generate()
	require.NoError(t, err)
	k256, err := wallet.Generate()
	require.NoError(t, err)

	w := newWorld(t)
	for name, key := range map[string]signing.Signer{"P-256": p256, "Ed25519": ed, "RSA": rsa, "secp256k1": k256} {
		t.Run(name, func(t *testing.T) {
			_, err := w.host.RegisterKey(sandbox.KeyRegistration{Email: w.email, PublicKey: key.PublicKey()})
			require.NoError(t, err)
			challenge := w.challenge(w.email)
			signature, err := key.Sign(t.Context(), bytesOf(t, challenge.body.text("payload")))
			require.NoError(t, err)
			grant := w.call("POST", "/dapi/v1/auth/token", object{
				"challengeId": challenge.body.text("challengeId"), "publicKey": key.PublicKey(), "signature": signature,
			})
			assert.Equal(t, http.StatusCreated, grant.status, "%s", grant.raw)
		})
	}
}

// Rule: login.unavailable, login.mode, status.501, status.503
func TestLoginUnavailable(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	challenge := w.challenge(w.email)
	refresh := object{"refreshToken": me.refresh}

	require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.LoginAvailable = false }))
	refused(t, http.StatusServiceUnavailable, "login_unavailable", w.challenge(w.email))
	refused(t, http.StatusServiceUnavailable, "login_unavailable", w.token(challenge, w.key))
	unavailable := w.call("POST", "/dapi/v1/auth/refresh", refresh)
	refused(t, http.StatusServiceUnavailable, "login_unavailable", unavailable)
	assert.Equal(t, unavailable.header.Get("X-Request-ID"), unavailable.body.text("error", "details", "requestId"))

	require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.LoginAvailable, s.LoginMode = true, "passkey" }))
	disabled := w.challenge(w.email)
	refused(t, http.StatusNotImplemented, "login_mode_unavailable", disabled)
	assert.Equal(t, "passkey", disabled.body.text("error", "details", "use"))
}

// Rule: session.access-lifetime, session.refresh-lifetime, status.401
func TestLifetimesOfASession(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	refresh := object{"refreshToken": me.refresh}

	w.host.Advance(60*time.Minute - time.Nanosecond)
	me.must(http.StatusOK, "GET", "/chains", nil)
	w.host.Advance(time.Nanosecond)
	refused(t, http.StatusUnauthorized, "token_expired", me.call("GET", "/chains", nil))

	renewed := w.call("POST", "/dapi/v1/auth/refresh", refresh)
	require.Equal(t, http.StatusCreated, renewed.status, "%s", renewed.raw)
	assert.Equal(t, me.refresh, renewed.body.text("refreshToken"), "unchanged")
	assert.EqualValues(t, 3600, renewed.body.at("expiresIn"))
	assert.EqualValues(t, 60*24*3600-3600, renewed.body.at("refreshExpiresIn"), "nor does it live longer")
	me.access = renewed.body.text("accessToken")
	me.must(http.StatusOK, "GET", "/chains", nil)

	w.host.Advance(60*24*time.Hour - time.Hour - time.Nanosecond)
	require.Equal(t, http.StatusCreated, w.call("POST", "/dapi/v1/auth/refresh", refresh).status)
	w.host.Advance(time.Nanosecond)
	refused(t, http.StatusUnauthorized, "invalid_credentials", w.call("POST", "/dapi/v1/auth/refresh", refresh))
	refused(t, http.StatusUnauthorized, "invalid_credentials",
		w.call("POST", "/dapi/v1/auth/refresh", object{"refreshToken": me.access}))
}

// Rule: session.bearer, session.platform-token, status.401
func TestOnlyAPlatformAccessTokenIsAccepted(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	credentials := w.host.Credentials()
	cases := map[string]struct {
		headers []string
		status  int
		slug    string
		reason  string
	}{
		"none": {nil, http.StatusUnauthorized, "unauthenticated", ""},
		"garbage": {[]string{"Authorization", "Bearer garbage"}, http.StatusUnauthorized,
			"unauthenticated", ""},
		"another scheme": {[]string{"Authorization", "Basic " + me.access}, http.StatusUnauthorized,
			"unauthenticated", ""},
		"an app key header": {[]string{"X-Api-Key", credentials.APIKey.Reveal()}, http.StatusUnauthorized,
			"unauthenticated", ""},
		"a refresh token": {[]string{"Authorization", "Bearer " + me.refresh}, http.StatusForbidden,
			"forbidden", "developerSessionRequired"},
		"an app key": {[]string{"Authorization", "Bearer " + credentials.APIKey.Reveal()},
			http.StatusForbidden, "forbidden", "developerSessionRequired"},
		"a reference access token": {[]string{"Authorization", "Bearer " + credentials.AccessToken.Reveal()},
			http.StatusForbidden, "forbidden", "developerSessionRequired"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := w.call("GET", "/dapi/v1/chains", nil, c.headers...)
			refused(t, c.status, c.slug, got)
			assert.Equal(t, c.reason, got.body.text("error", "details", "reason"))
		})
	}
}

// Rule: session.key-read-again, session.scope, session.recheck-on-refresh, status.403
func TestEveryRequestRechecksTheKey(t *testing.T) {
	w := newWorld(t)
	key := newSigner(t)
	registered, err := w.host.RegisterKey(sandbox.KeyRegistration{
		Email: w.email, PublicKey: key.public(t), Scopes: []string{"read"}, Allowlist: []string{"127.0.0.1", "::1"},
	})
	require.NoError(t, err)
	me := w.loginAs(w.email, key)

	me.must(http.StatusOK, "GET", "/transactions", nil)
	missing := me.call("POST", "/clients", object{"email": "acme@example.com"})
	refused(t, http.StatusForbidden, "forbidden", missing)
	assert.Equal(t, "accounts:write", missing.body.text("error", "details", "requiredScope"))
	assert.Equal(t, []any{"read"}, missing.body.at("error", "details", "scope"))
	me.must(http.StatusOK, "GET", "/sandbox/treasury", nil)

	require.NoError(t, w.host.DeleteKey(registered.ID))
	for name, got := range map[string]reply{
		"a read":    me.call("GET", "/transactions", nil),
		"a refresh": w.call("POST", "/dapi/v1/auth/refresh", object{"refreshToken": me.refresh}),
	} {
		refused(t, http.StatusForbidden, "forbidden", got)
		assert.Nil(t, got.body.at("error", "details"), name)
	}
}

func TestKeyWithoutPayoutScopeCannotConfirm(t *testing.T) {
	w := newWorld(t)
	acme := w.login().readyClient("acme@example.com")
	acme.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "50", "currency": "USDC"})
	booked := acme.must(http.StatusCreated, "POST", "/payouts",
		object{"contactId": acme.walletContact(), "amount": "5", "currency": "USDC"})

	reader := newSigner(t)
	_, err := w.host.RegisterKey(sandbox.KeyRegistration{Email: w.email, PublicKey: reader.public(t),
		Scopes: []string{"read"}})
	require.NoError(t, err)
	refused(t, http.StatusForbidden, "forbidden", w.loginAs(w.email, reader).as(acme.account).confirm(booked))
	assert.Equal(t, http.StatusOK, acme.confirm(booked).status)
}

// secp256k1Order is the number of points of the curve.
var secp256k1Order, _ = new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)

// dualKey is a developer key whose signatures have two forms, one with a low S and one with a high.
type dualKey struct {
	public []byte
	sign   func(message []byte, high bool) []byte
}

// dualKeys are a key of each such kind, registered with the host.
func (w *world) dualKeys() map[string]dualKey {
	w.t.Helper()
	p256 := newSigner(w.t)
	k256, err := wallet.Generate()
	require.NoError(w.t, err)
	keys := map[string]dualKey{
		"P-256": {p256.public(w.t), func(message []byte, high bool) []byte {
			digest := sha256.Sum256(message)
			signature, err := ecdsa.SignASN1(rand.Reader, p256.PrivateKey, digest[:])
			require.NoError(w.t, err)
			return withS(w.t, signature, elliptic.P256().Params().N, high)
		}},
		"secp256k1": {k256.PublicKey(), func(message []byte, high bool) []byte {
			signature, err := k256.Sign(w.t.Context(), message)
			require.NoError(w.t, err)
			return withS(w.t, signature, secp256k1Order, high)
		}},
	}
	for _, key := range keys {
		_, err := w.host.RegisterKey(sandbox.KeyRegistration{Email: w.email, PublicKey: key.public})
		require.NoError(w.t, err)
	}
	return keys
}

// signedCalls are the calls that carry a developer key's signature, each anew.
func (p *payer) signedCalls(key dualKey) map[string]func(high bool) reply {
	p.t.Helper()
	challenge := p.challenge(p.email)
	each := hex.EncodeToString(key.public[len(key.public)-8:])
	payout := p.book("invoice-"+each, "1")
	escrow := p.mustCreateEscrow("escrow-"+each, object{"amount": "1"})
	confirm := func(path string, approval object) func(bool) reply {
		return func(high bool) reply {
			return p.call("POST", path, object{
				"approvalId": approval.text("id"), "publicKey": key.public,
				"signature": key.sign(bytesOf(p.t, approval.text("payload")), high),
			})
		}
	}
	return map[string]func(high bool) reply{
		"login": func(high bool) reply {
			return p.world.call("POST", "/dapi/v1/auth/token", object{
				"challengeId": challenge.body.text("challengeId"), "publicKey": key.public,
				"signature": key.sign(bytesOf(p.t, challenge.body.text("payload")), high),
			})
		},
		"payout": confirm("/payouts/"+payout.body.text("id")+"/confirm",
			object(payout.body.at("approval").(map[string]any))),
		"escrow": confirm("/escrow/"+escrow.body.text("id")+"/actions/"+
			escrow.action().text("idempotencyKey")+"/confirm",
			object(escrow.action().at("approval").(map[string]any))),
	}
}

// Rule: login.signs-decoded-bytes, session.prepare-sign-confirm
func TestHighAndLowSAreAccepted(t *testing.T) {
	for form, high := range map[string]bool{"low S": false, "high S": true} {
		t.Run(form, func(t *testing.T) {
			p := newPayer(t)
			for kind, key := range p.dualKeys() {
				for name, call := range p.signedCalls(key) {
					got := call(high)
					assert.Contains(t, []int{http.StatusOK, http.StatusCreated}, got.status, "%s, %s: %s", kind, name,
						got.raw)
				}
			}
		})
	}
}

// Rule: login.bad-signature
func TestRequireLowSRefusesHighS(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	set := p.world.call("PUT", "/_host/settings", object{"requireLowS": true})
	require.Equal(t, http.StatusOK, set.status, "%s", set.raw)
	for kind, key := range p.dualKeys() {
		for name, call := range p.signedCalls(key) {
			high := call(true)
			refused(t, http.StatusBadRequest, "signature_invalid", high)
			assert.Contains(t, high.body.text("error", "message"), "S must be low", "%s, %s", kind, name)
			low := call(false)
			assert.Contains(t, []int{http.StatusOK, http.StatusCreated}, low.status, "%s, %s: nothing was consumed: %s",
				kind, name, low.raw)
		}
	}
	p.host.Reset()
	assert.False(t, p.host.Settings().RequireLowS, "off by default")
}

// RequireLowS does not change how a forged signature is refused.
func TestForgedSignatureIsRefusedWithHighAndLowS(t *testing.T) {
	for _, lowOnly := range []bool{false, true} {
		p := newPayer(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.RequireLowS = lowOnly }))
		for kind, key := range p.dualKeys() {
			signOther := key.sign
			key.sign = func(_ []byte, high bool) []byte { return signOther([]byte("something else"), high) }
			for name, call := range p.signedCalls(key) {
				for _, high := range []bool{false, true} {
					got := call(high)
					refused(t, http.StatusBadRequest, "signature_invalid", got)
					assert.NotContains(t, got.body.text("error", "message"), "S must be low", "%s, %s", kind, name)
				}
			}
		}
	}
}

// Wallets sign with a low S. The same signature with a high S is also valid.
func TestWalletSignatureWithHighAndLowSIsAccepted(t *testing.T) {
	w := newWorld(t)
	key := w.host.Credentials().Wallet
	id := w.app().activeCard()
	reveal := func(nonce int64) reply {
		body := proof(t, key, id, nonce)
		body["messageSignature"] = otherForm(t, body.text("messageSignature"))
		return w.app().call("POST", "/cards/"+id+"/details", body)
	}
	logIn := func() reply {
		return w.reference().call("POST", "/api/v1/wallet/login", object{
			"message": "Log in", "signatures": []string{otherForm(t, signPersonal(t, key, "Log in"))},
		})
	}
	now := w.host.Now().Unix()
	assert.Equal(t, http.StatusOK, reveal(now).status)
	assert.Equal(t, http.StatusOK, logIn().status)

	require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.RequireLowS = true }))
	high := reveal(now + 1)
	refused(t, http.StatusBadRequest, "signature_invalid", high)
	assert.Contains(t, high.body.text("error", "message"), "S must be low")
	loginRefused := logIn()
	assert.Equal(t, map[string]string{"body.signatures.0": "signature_invalid"}, loginRefused.details())
	assert.Contains(t, string(loginRefused.raw), "S must be low")
	assert.Equal(t, http.StatusOK, w.app().call("POST", "/cards/"+id+"/details", proof(t, key, id, now+1)).status)

	other, err := wallet.Generate()
	require.NoError(t, err)
	body := proof(t, other, id, now+2)
	body["messageSignature"] = otherForm(t, body.text("messageSignature"))
	foreign := w.app().call("POST", "/cards/"+id+"/details", body)
	refused(t, http.StatusBadRequest, "signature_invalid", foreign)
}

// otherForm is a wallet's signature with a high S, which takes the other recovery id.
func otherForm(t testing.TB, signature string) string {
	t.Helper()
	raw, err := hex.DecodeString(signature[2:])
	require.NoError(t, err)
	s := new(big.Int).SetBytes(raw[32:64])
	s.Sub(secp256k1Order, s).FillBytes(raw[32:64])
	raw[64] = 27 + 28 - raw[64]
	return "0x" + hex.EncodeToString(raw)
}
