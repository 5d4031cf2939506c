package sandbox_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// object is a JSON object as a caller without any SDK sees it.
type object map[string]any

// at walks into nested objects; what is not there is nil.
func (o object) at(path ...string) any {
	var value any = map[string]any(o)
	for _, name := range path {
		inner, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = inner[name]
	}
	return value
}

// text is at for strings; anything else is empty.
func (o object) text(path ...string) string {
	text, _ := o.at(path...).(string)
	return text
}

// reply is a response of the host.
type reply struct {
	status int
	header http.Header
	raw    []byte
	body   object
}

func (r reply) slug() string { return r.body.text("error", "code") }

// fields maps the names of failed fields to their codes.
func (r reply) fields() map[string]string {
	found := map[string]string{}
	list, _ := r.body.at("error", "details", "fields").([]any)
	for _, item := range list {
		field := object(item.(map[string]any))
		found[field.text("field")] = field.text("code")
	}
	return found
}

// signer is a developer key in the hands of a caller without any SDK.
type signer struct{ *ecdsa.PrivateKey }

func newSigner(t testing.TB) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return signer{key}
}

// public is the DER SubjectPublicKeyInfo.
func (s signer) public(t testing.TB) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&s.PublicKey)
	require.NoError(t, err)
	return der
}

// sign returns ASN.1 DER over the SHA-256 digest, with a low S.
func (s signer) sign(t testing.TB, message []byte) []byte {
	t.Helper()
	digest := sha256.Sum256(message)
	signature, err := ecdsa.SignASN1(rand.Reader, s.PrivateKey, digest[:])
	require.NoError(t, err)
	return withS(t, signature, elliptic.P256().Params().N, false)
}

// withS is an ECDSA signature in one of its two forms, the one with a high S or the one with a low S.
func withS(t testing.TB, signature []byte, order *big.Int, high bool) []byte {
	t.Helper()
	var pair struct{ R, S *big.Int }
	_, err := asn1.Unmarshal(signature, &pair)
	require.NoError(t, err)
	if isHigh := pair.S.Cmp(new(big.Int).Rsh(order, 1)) > 0; isHigh != high {
		pair.S.Sub(order, pair.S)
	}
	signature, err = asn1.Marshal(pair)
	require.NoError(t, err)
	return signature
}

// world is a host behind a real server, with every response held against the OpenAPI description. Its clock stands
// unless a test moves it: on a machine that is slow, nothing happens earlier than on one that is fast.
type world struct {
	t      testing.TB
	host   *sandbox.Host
	server *httptest.Server
	email  string
	key    signer
}

func newWorld(t testing.TB, options ...sandbox.Option) *world {
	t.Helper()
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	options = slices.Concat([]sandbox.Option{
		sandbox.WithClock(func() time.Time { return start }),
		sandbox.WithResponseValidation(func(_ string, err error) { t.Error(err) }),
		withEncodedStore(t),
	}, options)
	w := &world{t: t, host: sandbox.New(options...), key: newSigner(t)}
	w.email = w.host.Credentials().Email
	w.server = httptest.NewServer(w.host)
	t.Cleanup(w.server.Close)
	// net/http sends a keyed request once more, of itself, when a connection that was kept closes without a response.
	w.server.Client().Transport.(*http.Transport).DisableKeepAlives = true
	_, err := w.host.RegisterKey(sandbox.KeyRegistration{Email: w.email, PublicKey: w.key.public(t)})
	require.NoError(t, err)
	return w
}

// session is a caller that logged in.
type session struct {
	*world
	key             signer
	access, refresh string
	account         string // X-Service-Account, empty for oneself
}

// call sends a request without a session.
func (w *world) call(method, path string, body any, headers ...string) reply {
	w.t.Helper()
	r, err := w.send(method, path, body, headers...)
	require.NoError(w.t, err)
	return r
}

// send is call for requests that may get no response. Headers come in pairs.
func (w *world) send(method, path string, body any, headers ...string) (reply, error) {
	w.t.Helper()
	var content io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		content = bytes.NewReader([]byte(body))
	default:
		text, err := json.Marshal(body)
		require.NoError(w.t, err)
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, w.server.URL+path, content)
	require.NoError(w.t, err)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := w.server.Client().Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	answered := reply{status: response.StatusCode, header: response.Header}
	if answered.raw, err = io.ReadAll(response.Body); err != nil {
		return answered, err
	}
	if bytes.HasPrefix(answered.raw, []byte("{")) && response.Header.Get("Content-Type") == "application/json" {
		require.NoError(w.t, json.Unmarshal(answered.raw, &answered.body), "%s", answered.raw)
	}
	return answered, nil
}

// challenge starts a login.
func (w *world) challenge(email string) reply {
	w.t.Helper()
	return w.call("POST", "/dapi/v1/auth/challenge", object{
		"email": email, "requestExpiry": w.host.Now().Add(2 * time.Minute),
	})
}

// token completes a login with a key.
func (w *world) token(challenge reply, key signer) reply {
	w.t.Helper()
	return w.call("POST", "/dapi/v1/auth/token", object{
		"challengeId": challenge.body.text("challengeId"),
		"publicKey":   key.public(w.t),
		"signature":   key.sign(w.t, bytesOf(w.t, challenge.body.text("payload"))),
	})
}

func bytesOf(t testing.TB, base64 string) []byte {
	t.Helper()
	var decoded []byte
	text, err := json.Marshal(base64)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &decoded))
	return decoded
}

// login logs in with the world's own key.
func (w *world) login() *session {
	w.t.Helper()
	return w.loginAs(w.email, w.key)
}

func (w *world) loginAs(email string, key signer) *session {
	w.t.Helper()
	challenge := w.challenge(email)
	require.Equal(w.t, http.StatusCreated, challenge.status, "%s", challenge.raw)
	grant := w.token(challenge, key)
	require.Equal(w.t, http.StatusCreated, grant.status, "%s", grant.raw)
	return &session{world: w, key: key, access: grant.body.text("accessToken"),
		refresh: grant.body.text("refreshToken")}
}

// as is the same session acting for a client.
func (s *session) as(client string) *session {
	other := *s
	other.account = client
	return &other
}

func (s *session) headers(more []string) []string {
	headers := []string{"Authorization", "Bearer " + s.access}
	if s.account != "" {
		headers = append(headers, "X-Service-Account", s.account)
	}
	return append(headers, more...)
}

// call sends a request of the session.
func (s *session) call(method, path string, body any, headers ...string) reply {
	s.t.Helper()
	return s.world.call(method, "/dapi/v1"+path, body, s.headers(headers)...)
}

// attempt is call for requests that may get no response.
func (s *session) attempt(method, path string, body any, headers ...string) (reply, error) {
	s.t.Helper()
	return s.world.send(method, "/dapi/v1"+path, body, s.headers(headers)...)
}

// must is call for requests that are to succeed with this status.
func (s *session) must(status int, method, path string, body any, headers ...string) reply {
	s.t.Helper()
	answered := s.call(method, path, body, headers...)
	require.Equal(s.t, status, answered.status, "%s %s: %s", method, path, answered.raw)
	return answered
}

// confirm signs the approval of a booked payout and funds it.
func (s *session) confirm(booked reply) reply {
	s.t.Helper()
	return s.call("POST", "/payouts/"+booked.body.text("id")+"/confirm", object{
		"approvalId": booked.body.text("approval", "id"),
		"publicKey":  s.key.public(s.t),
		"signature":  s.key.sign(s.t, bytesOf(s.t, booked.body.text("approval", "payload"))),
	})
}

// readyClient makes a client, and lets the host's time pass until it is ready.
func (s *session) readyClient(email string) *session {
	s.t.Helper()
	created := s.must(http.StatusCreated, "POST", "/clients", object{"email": email})
	s.host.Advance(time.Minute)
	id := created.body.text("id")
	read := s.must(http.StatusOK, "GET", "/clients/"+id, nil)
	require.Equal(s.t, "ready", read.body.text("status"))
	return s.as(id)
}

// refused asserts a refusal by status and slug.
func refused(t testing.TB, status int, slug string, got reply) {
	t.Helper()
	assert.Equal(t, status, got.status, "%s", got.raw)
	assert.Equal(t, slug, got.slug(), "%s", got.raw)
	assert.NotEmpty(t, got.header.Get("X-Request-ID"))
}

// walletContact saves a wallet on Base and returns the contact's id.
func (s *session) walletContact() string {
	s.t.Helper()
	return s.must(http.StatusCreated, "POST", "/contacts", object{"name": "Bob", "account": object{
		"accountType": "onchain", "chainId": "base", "currency": "USDC",
		"walletAddress": "0x52908400098527886E0F7030069857D2E4169EE7",
	}}).body.text("id")
}

// concurrently makes calls at the same time and counts what they return.
func concurrently(calls int, call func(i int) string) map[string]int {
	answers := make([]string, calls)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = call(i) })
	}
	wg.Wait()
	counted := map[string]int{}
	for _, response := range answers {
		counted[response]++
	}
	return counted
}

// bearer is a caller of the app API or of the reference endpoints, without any SDK.
type bearer struct {
	*world
	token string
}

// app calls with the app key of the host's credentials.
func (w *world) app() bearer { return bearer{w, w.host.Credentials().APIKey.Reveal()} }

// reference calls with the access token of the host's credentials.
func (w *world) reference() bearer { return bearer{w, w.host.Credentials().AccessToken.Reveal()} }

// appWith calls with an app key of its own.
func (w *world) appWith(registration sandbox.AppKeyRegistration) bearer {
	w.t.Helper()
	key, err := w.host.RegisterAppKey(registration)
	require.NoError(w.t, err)
	return bearer{w, key.Key.Reveal()}
}

func (b bearer) call(method, path string, body any, headers ...string) reply {
	b.t.Helper()
	return b.world.call(method, path, body, append([]string{"Authorization", "Bearer " + b.token}, headers...)...)
}

// must is call for requests that are to succeed with this status.
func (b bearer) must(status int, method, path string, body any, headers ...string) reply {
	b.t.Helper()
	answered := b.call(method, path, body, headers...)
	require.Equal(b.t, status, answered.status, "%s %s: %s", method, path, answered.raw)
	return answered
}

// fund credits the account in USDC, in credits as large as the host gives.
func (b bearer) fund(hundreds int) {
	b.t.Helper()
	me := b.login()
	for range hundreds {
		me.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "100", "currency": "USDC"},
			"Idempotency-Key", "fund-"+decimal.NewFromInt(int64(len(b.host.Ledger().Entries))).String())
	}
}

// wallet saves a wallet as a contact of the app API.
func (b bearer) wallet(chain, token string) string {
	b.t.Helper()
	return b.must(http.StatusCreated, "POST", "/user/contact",
		object{"name": "Bob", "relationship": "external", "account": object{
			"walletAddress": "0x52908400098527886E0F7030069857D2E4169EE7", "chainId": chain, "currency": token,
		}}).body.text("id")
}

// items are the entries of a list.
func (r reply) items() []object {
	list, _ := r.body.at("items").([]any)
	items := make([]object, len(list))
	for i, item := range list {
		items[i] = item.(map[string]any)
	}
	return items
}

// details are what failed in a request to the reference endpoints: the last part of each place, and its type.
func (r reply) details() map[string]string {
	found := map[string]string{}
	list, _ := r.body.at("detail").([]any)
	for _, item := range list {
		failed := object(item.(map[string]any))
		place, _ := failed.at("loc").([]any)
		key := ""
		for i, part := range place {
			if i > 0 {
				key += "."
			}
			key += part.(string)
		}
		found[key] = failed.text("type")
	}
	return found
}

// requireLedgerBalanced asserts that the ledger sums to zero.
func requireLedgerBalanced(t testing.TB, w *world) {
	t.Helper()
	for currency, sum := range w.host.Ledger().Sums {
		assert.True(t, sum.IsZero(), "%s sums to %s", currency, sum)
	}
}

func dollars(text string) *decimal.Decimal {
	amount := decimal.RequireFromString(text)
	return &amount
}
