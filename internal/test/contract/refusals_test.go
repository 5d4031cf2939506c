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

// scripted are the slugs that no request provokes: the description names none, so that the host is told to send them.
var scripted = map[errors.Code]bool{errors.CodeGone: true, errors.CodeInternalError: true}

// alone is a session for a client with 100 USDC, at a host of its own whose responses join the log of the run.
func (w *world) alone(isScripted bool) *session {
	w.Helper()
	own := worlds.Serve(w.T, worlds.FrozenClock(), sandbox.WithControl())
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

// must makes a call that has to return a status.
func (s *session) must(status int, method, path string, body any, headers ...string) reply {
	s.Helper()
	response := s.send(method, path, body, headers...)
	require.Equal(s, status, response.Status, "%s", response.Raw)
	return response
}

// configure changes the settings of the embedded host.
func (w *world) configure(change func(*sandbox.Settings)) {
	w.Helper()
	require.NoError(w, w.host.Configure(change))
}

// requestProvocations are wrong requests. None of them moves money: they may be sent to any sandbox.
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

// readProvocations are the reads that have to be refused, also by a host that is not a sandbox.
func readProvocations() (all []provocation) {
	for _, r := range survey.Refusals {
		all = append(all, provocation{r.Slug, func(s *session) reply {
			return s.came(r.Provoke(s.Context(), s.caller(), target.Session{Access: s.access, Refresh: s.refresh}))
		}})
	}
	return all
}

// hostProvocations are responses of a host in trouble, and of sizes and numbers that no real host is burdened with.
var hostProvocations = []provocation{
	{errors.CodeGone, func(s *session) reply { return s.refuseRead(http.StatusGone, "gone") }},
	{errors.CodeInternalError, func(s *session) reply {
		return s.refuseRead(http.StatusInternalServerError, "internal_error")
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

// refuseRead has the host refuse a read with a refusal.
func (s *session) refuseRead(status int, slug string) reply {
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

// book books a payout to a bank contact.
func (s *session) book(key, amount string) reply {
	s.Helper()
	contact := s.send("POST", "/contacts",
		object{"name": "Bob", "account": object{"accountType": "sepa", "iban": "DE89370400440532013000",
			"accountHolderName": "Bob Roe"}})
	return s.send("POST", "/payouts", object{"contactId": contact.Text("id"), "amount": amount, "currency": "USDC"},
		"Idempotency-Key", key)
}

// confirm signs a booking's approval and funds a payout with it.
func (s *session) confirm(payoutID string, approval object) reply {
	s.Helper()
	return s.send("POST", "/payouts/"+payoutID+"/confirm", s.proof(approval))
}

// proof is the body of a confirm.
func (s *session) proof(approval object) object {
	s.Helper()
	encoded, _ := approval["payload"].(string)
	payload, err := base64.StdEncoding.DecodeString(encoded)
	require.NoError(s, err)
	return object{"approvalId": approval["id"], "publicKey": s.key.PublicKeyBase64(), "signature": s.sign(payload)}
}

func (s *session) bookAndConfirm() (booked, confirmed reply) {
	s.Helper()
	booked = s.book("k", "20")
	return booked, s.confirm(booked.Text("id"), booked.Object("approval"))
}

func (s *session) confirmAfter(d time.Duration) reply {
	s.Helper()
	booked := s.book("k", "20")
	s.host.Advance(d)
	return s.confirm(booked.Text("id"), booked.Object("approval"))
}

// approve confirms the approve action of an escrow.
func (s *session) approve(escrow reply) reply {
	s.Helper()
	action := escrow.Object("action")
	key, _ := action["idempotencyKey"].(string)
	approval, _ := action["approval"].(map[string]any)
	return s.send("POST", "/escrow/"+escrow.Text("id")+"/actions/"+key+"/confirm", s.proof(approval))
}

func (s *session) newEscrow() reply {
	s.Helper()
	return s.must(http.StatusCreated, "POST", "/escrow", object{"amount": "10", "currency": "USDC", "payee": payee},
		"Idempotency-Key", "escrow")
}

func (s *session) openSEPA() reply {
	s.Helper()
	return s.send("POST", "/banks", object{"method": "sepa", "currency": "EUR"})
}

var moneyProvocations = []provocation{
	{errors.CodeIdempotencyKeyReused, func(s *session) reply {
		key := s.unique("reused")
		s.book(key, "20")
		return s.book(key, "21")
	}},
	{errors.CodeConflict, func(s *session) reply { return s.send("POST", "/client/kyb/complete", nil) }},
	{errors.CodeSignerNotAttached, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.SignerDetached = true })
		return s.book("k", "20")
	}},
	{errors.CodeWalletNotLinked, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.ClientReadyAfter = sandbox.Duration(time.Hour) })
		s.acting = ""
		s.acting = s.must(http.StatusCreated, "POST", "/clients", object{"email": "bolt@example.com"}).Text("id")
		return s.send("POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"})
	}},
	{errors.CodeApprovalConsumed, func(s *session) reply {
		escrow := s.newEscrow()
		s.approve(escrow)
		return s.approve(escrow)
	}},
	{errors.CodeApprovalExpired, func(s *session) reply {
		escrow := s.newEscrow()
		s.host.Advance(time.Minute)
		return s.approve(escrow)
	}},
	{errors.CodeApprovalMismatch, func(s *session) reply {
		return s.confirm(s.book(s.unique("one"), "20").Text("id"), s.book(s.unique("two"), "21").Object("approval"))
	}},
	{errors.CodeSigningPolicyRefused, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.SigningPolicy = sandbox.SigningPolicyRefuse })
		_, confirmed := s.bookAndConfirm()
		return confirmed
	}},
	{errors.CodeRailNotAvailable, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.RailsDisabled = []string{"sepa"} })
		return s.openSEPA()
	}},
	{errors.CodeRailRequirementsUnmet, func(s *session) reply { return s.openSEPA() }},
	{errors.CodeQuoteExpired, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.QuoteLifetime = sandbox.Duration(time.Minute) })
		return s.confirmAfter(time.Minute)
	}},
	{errors.CodeFundingAttemptExpired, func(s *session) reply { return s.confirmAfter(2 * time.Minute) }},
	{errors.CodeFundingInProgress, func(s *session) reply {
		booked, _ := s.bookAndConfirm()
		return s.confirm(booked.Text("id"), booked.Object("approval"))
	}},
	{errors.CodeAlreadyFunded, func(s *session) reply {
		booked, _ := s.bookAndConfirm()
		s.host.Advance(time.Duration(s.host.Settings().PayoutStepAfter))
		return s.confirm(booked.Text("id"), booked.Object("approval"))
	}},
	{errors.CodeContactNotPayable, func(s *session) reply {
		contact := s.must(http.StatusCreated, "POST", "/contacts",
			object{"name": "Bob", "account": object{"accountType": "sepa"}})
		return s.send("POST", "/payouts", object{"contactId": contact.Text("id"), "amount": "20", "currency": "USDC"})
	}},
	{errors.CodePayoutNotFundable, func(s *session) reply {
		booked := s.book("k", "100.01")
		return s.confirm(booked.Text("id"), booked.Object("approval"))
	}},
	{errors.CodeQuoteNotSubmitted, func(s *session) reply {
		return s.send("POST", "/sandbox/payouts/"+s.book(s.unique("unfunded"), "20").Text("id")+"/status",
			object{"status": "completed"})
	}},
}
