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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// secp256k1Order is the number of points of the curve.
var secp256k1Order, _ = new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)

// twoFormed is a developer key whose signatures have two forms, one with a low S and one with a high.
type twoFormed struct {
	public []byte
	sign   func(message []byte, high bool) []byte
}

// twoFormedKeys are a key of each such kind, registered with the host.
func (w *world) twoFormedKeys() map[string]twoFormed {
	w.t.Helper()
	p256 := newSigner(w.t)
	k256, err := wallet.Generate()
	require.NoError(w.t, err)
	keys := map[string]twoFormed{
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
func (p *payer) signedCalls(key twoFormed) map[string]func(high bool) reply {
	p.t.Helper()
	challenge := p.challenge(p.email)
	each := hex.EncodeToString(key.public[len(key.public)-8:])
	payout := p.book("invoice-"+each, "1")
	deal := p.deal("deal-"+each, object{"amount": "1"})
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
		"escrow": confirm("/escrow/"+deal.body.text("id")+"/actions/"+deal.action().text("idempotencyKey")+"/confirm",
			object(deal.action().at("approval").(map[string]any))),
	}
}

// Rule: login.signs-decoded-bytes, session.prepare-sign-confirm
func TestBothFormsOfASignatureAreTaken(t *testing.T) {
	for form, high := range map[string]bool{"low S": false, "high S": true} {
		t.Run(form, func(t *testing.T) {
			p := newPayer(t)
			for kind, key := range p.twoFormedKeys() {
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
func TestAHighSIsRefusedBySetting(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	set := p.world.call("PUT", "/_host/settings", object{"requireLowS": true})
	require.Equal(t, http.StatusOK, set.status, "%s", set.raw)
	for kind, key := range p.twoFormedKeys() {
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

// A setting for the form of a signature does not change what a forged one is told.
func TestAForgedSignatureIsForgedInEitherForm(t *testing.T) {
	for _, lowOnly := range []bool{false, true} {
		p := newPayer(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.RequireLowS = lowOnly }))
		for kind, key := range p.twoFormedKeys() {
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

// Wallets make a low S. Who writes the other form signed all the same.
func TestBothFormsOfAWalletsSignatureAreTaken(t *testing.T) {
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
			"message": "Log in", "signatures": []string{otherForm(t, personally(t, key, "Log in"))},
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

	stranger, err := wallet.Generate()
	require.NoError(t, err)
	body := proof(t, stranger, id, now+2)
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
