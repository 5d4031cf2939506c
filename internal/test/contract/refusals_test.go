package contract_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/survey"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// provocation makes a host refuse with a slug, by requests, settings and the clock.
type provocation struct {
	slug    errors.Code
	provoke func(*session) reply
}

// refusals provoke every slug of the catalogue. Those of requests alone are provoked anywhere; the others each on an
// embedded host of their own, which is moved into the state that refuses.
func (w *world) refusals() {
	var session *session
	w.step("log in", func() { session = w.session() })
	for _, p := range requestProvocations {
		w.step(string(p.slug), func() { p.refusedWith(session) })
	}
	if w.host != nil {
		for _, p := range slices.Concat(hostProvocations, sessionProvocations, moneyProvocations) {
			w.embedded(string(p.slug), func() { p.refusedWith(w.alone(scripted[p.slug])) })
		}
		w.embedded("and no other", w.provokedAll)
		return
	}
	for _, p := range slices.Concat(hostProvocations, sessionProvocations, moneyProvocations) {
		if !slices.Contains(anywhere, p.slug) {
			w.embedded(string(p.slug), nil)
			continue
		}
		w.step(string(p.slug), func() { p.refusedWith(w.sessionOfClient()) })
	}
}

// sessionOfClient is a session for the client of the run. Its key may be changed.
func (w *world) sessionOfClient() *session {
	w.Helper()
	w.needs(w.client != "", "a client")
	own := *w
	s := own.session()
	s.acting = string(w.client)
	return s
}

// anywhere are the slugs that any sandbox can be provoked to, without its clock and its settings. They move no money.
var anywhere = []errors.Code{
	errors.CodeInvalidCredentials, errors.CodeSignatureInvalid, errors.CodeKeyNotRegistered,
	errors.CodeIdempotencyKeyReused, errors.CodeApprovalMismatch, errors.CodeContactNotPayable,
	errors.CodeQuoteNotSubmitted,
}

func (p provocation) refusedWith(s *session) {
	s.Helper()
	refused := p.provoke(s)
	assert.Equal(s, string(p.slug), refused.Slug(), "%s", refused.Raw)
	assert.Equal(s, p.slug.Status(), refused.Status)
}

// provokedAll holds the lists to the catalogue.
func (w *world) provokedAll() {
	var provoked []errors.Code
	for _, p := range slices.Concat(requestProvocations, hostProvocations, sessionProvocations, moneyProvocations) {
		provoked = append(provoked, p.slug)
	}
	assert.ElementsMatch(w, errors.Codes(), provoked)
}

// scripted are the slugs that no request provokes: the description names none, so that the host is told to answer them.
var scripted = map[errors.Code]bool{errors.CodeGone: true, errors.CodeInternalError: true}

// alone is a session for a client with 100 USDC, at a host of its own whose answers join the log of the run.
func (w *world) alone(isScripted bool) *session {
	w.Helper()
	own := worlds.Serve(w.T, worlds.Standing(), sandbox.WithControl())
	credentials := own.Host.Credentials()
	other := &world{
		T: w.T, suite: w.suite, host: own.Host, baseURL: own.URL, email: credentials.Email, key: credentials.Key,
		direct:  &report.Observer{Next: http.DefaultTransport, Log: w.suite.log, Scripted: isScripted},
		because: w.because,
	}
	s := other.session()
	s.acting = s.must(http.StatusCreated, "POST", "/clients", object{"email": "acme@example.com"}).Text("id")
	own.Host.Advance(time.Minute)
	s.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "100", "currency": "USDC"})
	return s
}

// must makes a call that has to be answered with a status.
func (s *session) must(status int, method, path string, body any, headers ...string) reply {
	s.Helper()
	answer := s.send(method, path, body, headers...)
	require.Equal(s, status, answer.Status, "%s", answer.Raw)
	return answer
}

// configure changes the settings of the embedded host.
func (w *world) configure(change func(*sandbox.Settings)) {
	w.Helper()
	require.NoError(w, w.host.Configure(change))
}

// requestProvocations need nothing but a request that is wrong, and move nothing: they may be sent to any sandbox.
var requestProvocations = slices.Concat(readProvocations(), []provocation{
	{errors.CodeInvalidRequest, func(s *session) reply { return s.send("POST", "/contacts", "{") }},
	{errors.CodeValidationFailed, func(s *session) reply {
		return s.send("POST", "/contacts", object{"nickname": "Bob"})
	}},
	{errors.CodeIdempotencyKeyInvalid, func(s *session) reply {
		return s.send("POST", "/payouts", object{"contactId": "ct_1", "amount": "1", "currency": "USDC"},
			"Idempotency-Key", "in voice")
	}},
	{errors.CodeMethodNotAllowed, func(s *session) reply { return s.send("DELETE", "/chains", nil) }},
	{errors.CodeRequestExpired, func(s *session) reply { return s.challenge(s.email, 6*time.Minute) }},
	{errors.CodeChallengeNotFound, func(s *session) reply {
		return s.complete(reply{Body: object{"challengeId": "unknown",
			"payload": base64.StdEncoding.EncodeToString([]byte("of nobody"))}})
	}},
	{errors.CodeChallengeConsumed, func(s *session) reply {
		challenge := s.challenge(s.email, 2*time.Minute)
		s.complete(challenge)
		return s.complete(challenge)
	}},
	{errors.CodeAmountBelowMinimum, func(s *session) reply {
		return s.send("POST", "/sandbox/deposits", object{"amount": "0.09", "currency": "USDC"})
	}},
	{errors.CodeAmountAboveMaximum, func(s *session) reply {
		return s.send("POST", "/sandbox/deposits", object{"amount": "1000000", "currency": "USDC"})
	}},
})

// readProvocations are the reads that have to be refused, also by a host that is no sandbox.
func readProvocations() (all []provocation) {
	for _, r := range survey.Refusals {
		all = append(all, provocation{r.Slug, func(s *session) reply {
			return s.came(r.Provoke(s.Context(), s.caller(), target.Session{Access: s.access, Refresh: s.refresh}))
		}})
	}
	return all
}

// hostProvocations are answers of a host in trouble, and of sizes and numbers that no real host is burdened with.
var hostProvocations = []provocation{
	{errors.CodeGone, func(s *session) reply { return s.told(http.StatusGone, "gone") }},
	{errors.CodeInternalError, func(s *session) reply {
		return s.told(http.StatusInternalServerError, "internal_error")
	}},
	{errors.CodePayloadTooLarge, func(s *session) reply {
		return s.send("POST", "/contacts", object{"name": string(make([]byte, 1<<20))})
	}},
	{errors.CodeRateLimited, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.RateLimits = true })
		for range 10 {
			s.challenge(s.email, time.Minute)
		}
		return s.challenge(s.email, time.Minute)
	}},
	{errors.CodeProviderUnavailable, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.FaucetGas = amount("0") })
		return s.send("POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"})
	}},
	{errors.CodeDatabaseUnavailable, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.DatabaseAvailable = false })
		return s.send("GET", "/chains", nil)
	}},
}

// told has the host answer a read with a refusal.
func (s *session) told(status int, slug string) reply {
	s.host.Arm("GET", "/chains", sandbox.Respond(status, slug))
	return s.send("GET", "/chains", nil)
}

var sessionProvocations = []provocation{
	{errors.CodeTokenExpired, func(s *session) reply {
		s.host.Advance(time.Hour)
		return s.send("GET", "/chains", nil)
	}},
	{errors.CodeInvalidCredentials, func(s *session) reply {
		return s.complete(s.challenge("nobody@example.com", time.Minute))
	}},
	{errors.CodeChallengeExpired, func(s *session) reply {
		challenge := s.challenge(s.email, 2*time.Minute)
		s.host.Advance(3 * time.Minute)
		return s.complete(challenge)
	}},
	{errors.CodeSignatureInvalid, func(s *session) reply {
		challenge := s.challenge(s.email, 2*time.Minute)
		challenge.Body["payload"] = base64.StdEncoding.EncodeToString([]byte("other bytes"))
		return s.complete(challenge)
	}},
	{errors.CodeKeyNotRegistered, func(s *session) reply {
		challenge := s.challenge(s.email, 2*time.Minute)
		s.key = stranger(s.T)
		return s.complete(challenge)
	}},
	{errors.CodeLoginUnavailable, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.LoginAvailable = false })
		return s.challenge(s.email, time.Minute)
	}},
	{errors.CodeLoginModeUnavailable, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.LoginMode = "passkey" })
		return s.challenge(s.email, time.Minute)
	}},
	{errors.CodeDeveloperKeyNotFound, func(s *session) reply {
		return s.plain("DELETE", "/_host/keys/dk_unknown", nil)
	}},
	{errors.CodeDeveloperKeyAlreadyExists, func(s *session) reply {
		return s.plain("POST", "/_host/keys", object{"email": s.email, "publicKey": s.key.PublicKeyBase64()})
	}},
}

func stranger(t *testing.T) *signing.DeveloperKey {
	t.Helper()
	key, err := signing.Generate()
	require.NoError(t, err)
	return key
}
