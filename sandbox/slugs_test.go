package sandbox_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// provocation makes the host refuse with a slug, by requests, settings, faults and the clock alone. SLUGS.md shows how.
type provocation struct {
	slug, how string
	provoke   func(*payer) reply
}

// set changes one setting before the request.
func set(change func(*sandbox.Settings), request func(*payer) reply) func(*payer) reply {
	return func(p *payer) reply {
		p.change(change)
		return request(p)
	}
}

// respondWithSlug arms a refusal for GET /chains.
func respondWithSlug(status int, slug string) func(*payer) reply {
	return func(p *payer) reply {
		p.host.Arm("GET", "/chains", sandbox.Respond(status, slug))
		return p.call("GET", "/chains", nil)
	}
}

// requests that several provocations share
var (
	login   = func(p *payer) reply { return p.challenge(p.email) }
	deposit = func(p *payer) reply {
		return p.call("POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"}, "Idempotency-Key", "d")
	}
	bookAndConfirm = func(p *payer) reply { return p.confirm(p.book("k", "20")) }
	openSEPA       = func(p *payer) reply { return p.openRail("sepa", "EUR") }
)

// pendingClient is a client that has no wallet yet.
func pendingClient(p *payer) *session {
	p.change(func(s *sandbox.Settings) { s.ClientReadyAfter = sandbox.Duration(time.Hour) })
	integrator := p.as("")
	created := integrator.must(http.StatusCreated, "POST", "/clients", object{"email": "bolt@example.com"})
	return integrator.as(created.body.text("id"))
}

// registration is the body of POST /_host/keys for the payer's own key.
func registration(p *payer) object {
	return object{"email": p.email, "publicKey": base64.StdEncoding.EncodeToString(p.key.public(p.t))}
}

var requestProvocations = []provocation{
	{"invalid_request", "send a body that is not one JSON object", func(p *payer) reply {
		return p.call("POST", "/contacts", "{")
	}},
	{"validation_failed", "send an unknown field", func(p *payer) reply {
		return p.call("POST", "/contacts", object{"nickname": "Bob"})
	}},
	{"invalid_cursor", "list with a cursor that no page returned", func(p *payer) reply {
		return p.call("GET", "/transactions?cursor=x", nil)
	}},
	{"invalid_id", "read a payout by a contact's id", func(p *payer) reply {
		return p.call("GET", "/payouts/ct_1", nil)
	}},
	{"idempotency_key_invalid", "send a key with a space in it", func(p *payer) reply {
		return p.book("in voice", "20")
	}},
	{"idempotency_key_reused", "book 20, then 21, with one key", func(p *payer) reply {
		p.book("k", "20")
		return p.book("k", "21")
	}},
	{"not_found", "read a payout that nobody booked", func(p *payer) reply {
		return p.call("GET", "/payouts/po_1", nil)
	}},
	{"method_not_allowed", "DELETE /chains", func(p *payer) reply { return p.call("DELETE", "/chains", nil) }},
	{"conflict", "complete a verification while requirements are outstanding", func(p *payer) reply {
		return p.call("POST", "/client/kyb/complete", nil)
	}},
	{"gone", "arm the fault `respond` with status 410 and this slug", respondWithSlug(http.StatusGone, "gone")},
	{"payload_too_large", "send a body over 1 MiB", func(p *payer) reply {
		return p.call("POST", "/contacts", object{"name": strings.Repeat("x", 1<<20)})
	}},
	{"rate_limited", "set `rateLimits`, then start an eleventh login with one email in five minutes", set(
		func(s *sandbox.Settings) { s.RateLimits = true },
		func(p *payer) reply {
			for range 10 {
				login(p)
			}
			return login(p)
		})},
	{"provider_unavailable",
		"set `faucetGas` to 0 and deposit; or set `partnerDown` and book a bank payout or open a rail", set(
			func(s *sandbox.Settings) { s.FaucetGas = decimal.Decimal{} }, deposit)},
	{"database_unavailable", "set `databaseAvailable` to false", set(
		func(s *sandbox.Settings) { s.DatabaseAvailable = false },
		func(p *payer) reply { return p.call("GET", "/chains", nil) })},
	{"internal_error", "arm the fault `respond` with status 500 and this slug",
		respondWithSlug(http.StatusInternalServerError, "internal_error")},
}

var sessionProvocations = []provocation{
	{"unauthenticated", "send no bearer token", func(p *payer) reply {
		return p.world.call("GET", "/dapi/v1/chains", nil)
	}},
	{"token_expired", "advance the clock by 60 minutes, or arm the fault `expire_token`", func(p *payer) reply {
		p.host.Advance(time.Hour)
		return p.call("GET", "/chains", nil)
	}},
	{"forbidden",
		"send the refresh token as the bearer, delete the session's key, or register a key without the scope",
		func(p *payer) reply {
			return p.world.call("GET", "/dapi/v1/chains", nil, "Authorization", "Bearer "+p.refresh)
		}},
	{"invalid_credentials", "log in with an email that has no account", func(p *payer) reply {
		return p.token(p.challenge("nobody@example.com"), p.key)
	}},
	{"request_expired", "start a login with a requestExpiry more than five minutes ahead", func(p *payer) reply {
		return p.world.call("POST", "/dapi/v1/auth/challenge",
			object{"email": p.email, "requestExpiry": p.host.Now().Add(6 * time.Minute)})
	}},
	{"challenge_not_found", "complete a login with a challengeId that the host never returned", func(p *payer) reply {
		challenge := login(p)
		challenge.body["challengeId"] = "unknown"
		return p.token(challenge, p.key)
	}},
	{"challenge_consumed", "complete a login twice", func(p *payer) reply {
		challenge := login(p)
		p.token(challenge, p.key)
		return p.token(challenge, p.key)
	}},
	{"challenge_expired", "advance the clock past the requestExpiry before you complete a login", func(p *payer) reply {
		challenge := login(p)
		p.host.Advance(3 * time.Minute)
		return p.token(challenge, p.key)
	}},
	{"login_unavailable", "set `loginAvailable` to false",
		set(func(s *sandbox.Settings) { s.LoginAvailable = false }, login)},
	{"login_mode_unavailable", "set `loginMode` to a value other than the default",
		set(func(s *sandbox.Settings) { s.LoginMode = "passkey" }, login)},
	{"developer_key_not_found", "DELETE /_host/keys/{id} of an unknown id", func(p *payer) reply {
		return p.world.call("DELETE", "/_host/keys/dk_unknown", nil)
	}},
	{"developer_key_already_exists", "POST /_host/keys twice with one public key", func(p *payer) reply {
		return p.world.call("POST", "/_host/keys", registration(p))
	}},
	{"key_not_registered", "log in, or confirm, with a key that is not registered", func(p *payer) reply {
		return p.token(login(p), newSigner(p.t))
	}},
	{"signature_invalid", "log in, or confirm, with a signature over other bytes", func(p *payer) reply {
		challenge := login(p)
		challenge.body["payload"] = base64.StdEncoding.EncodeToString([]byte("other bytes"))
		return p.token(challenge, p.key)
	}},
}

var moneyProvocations = []provocation{
	{"signer_not_attached", "set `signerDetached` and book or confirm", set(
		func(s *sandbox.Settings) { s.SignerDetached = true }, func(p *payer) reply { return p.book("k", "20") })},
	{"wallet_not_linked", "set `clientReadyAfter` to an hour, create a client and deposit for it",
		func(p *payer) reply {
			return pendingClient(p).call("POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"})
		}},
	{"approval_consumed", "confirm an escrow action twice", func(p *payer) reply {
		escrow := p.mustCreateEscrow("escrow", nil)
		p.act(escrow, escrow.action())
		return p.act(escrow, escrow.action())
	}},
	{"approval_expired", "advance the clock by 60 seconds before you confirm an escrow action", func(p *payer) reply {
		escrow := p.mustCreateEscrow("escrow", nil)
		p.host.Advance(time.Minute)
		return p.act(escrow, escrow.action())
	}},
	{"approval_mismatch", "confirm a payout with the approval of another payout", func(p *payer) reply {
		first, second := p.book("k1", "20"), p.book("k2", "21")
		second.body["id"] = first.body["id"]
		return p.confirm(second)
	}},
	{"signing_policy_refused", "set `signingPolicy` to refuse and confirm", set(
		func(s *sandbox.Settings) { s.SigningPolicy = sandbox.SigningPolicyRefuse }, bookAndConfirm)},
	{"rail_not_available", "set `railsDisabled` and open one of these rails", set(
		func(s *sandbox.Settings) { s.RailsDisabled = []string{"sepa"} }, openSEPA)},
	{"rail_requirements_unmet", "open a rail for a client that is not verified", openSEPA},
	{"quote_expired", "set `quoteLifetime` shorter than `approvalLifetime`, " +
		"and advance the clock by `quoteLifetime` before you confirm", set(
		func(s *sandbox.Settings) { s.QuoteLifetime = sandbox.Duration(time.Minute) },
		func(p *payer) reply {
			booked := p.book("k", "20")
			p.host.Advance(time.Minute)
			return p.confirm(booked)
		})},
	{"funding_attempt_expired", "advance the clock by 120 seconds before you confirm a payout", func(p *payer) reply {
		booked := p.book("k", "20")
		p.host.Advance(2 * time.Minute)
		return p.confirm(booked)
	}},
	{"funding_in_progress", "confirm a payout twice", func(p *payer) reply {
		booked := p.book("k", "20")
		p.confirm(booked)
		return p.confirm(booked)
	}},
	{"already_funded", "confirm a payout, advance the clock by `payoutStepAfter`, confirm it again",
		func(p *payer) reply {
			booked := p.book("k", "20")
			p.confirm(booked)
			p.step()
			return p.confirm(booked)
		}},
	{"contact_not_payable", "book a payout to a sepa contact without an iban", func(p *payer) reply {
		contact := p.must(http.StatusCreated, "POST", "/contacts",
			object{"name": "Bob", "account": object{"accountType": "sepa"}})
		return p.call("POST", "/payouts", object{"contactId": contact.body["id"], "amount": "20", "currency": "USDC"})
	}},
	{"payout_not_fundable", "confirm a payout that the balance does not cover", func(p *payer) reply {
		return p.confirm(p.book("k", "100.000001"))
	}},
	{"quote_not_submitted",
		"complete a payin before you ask for its instructions, or move a payout that nobody confirmed",
		func(p *payer) reply {
			return p.complete("k", p.payin(nil))
		}},
	{"amount_below_minimum", "deposit 0.09", func(p *payer) reply {
		return p.call("POST", "/sandbox/deposits", object{"amount": "0.09", "currency": "USDC"})
	}},
	{"amount_above_maximum", "deposit more than `maxCredit`", func(p *payer) reply {
		return p.call("POST", "/sandbox/deposits", object{"amount": "100.01", "currency": "USDC"})
	}},
}

// neverRaised are the slugs of the published enum that never reach callers.
var neverRaised = []string{
	"contact_requires_quote", "direct_transfer_unsupported", "contact_chain_unsupported", "contact_token_unsupported",
}

func provocations() []provocation {
	all := append([]provocation{}, requestProvocations...)
	return append(append(all, sessionProvocations...), moneyProvocations...)
}

// catalogue reads the status of every slug from the error catalogue.
func catalogue(t *testing.T) map[string]int {
	t.Helper()
	source, err := os.ReadFile("../openapi/errors.yaml")
	require.NoError(t, err)
	var errors struct {
		Slugs []struct {
			Slug   string
			Status int
		}
	}
	require.NoError(t, yaml.Unmarshal(source, &errors))
	statuses := map[string]int{}
	for _, entry := range errors.Slugs {
		statuses[entry.Slug] = entry.Status
	}
	return statuses
}

// Rule: slug.*, status.500
func TestEverySlugCanBeProvoked(t *testing.T) {
	t.Parallel()
	left := catalogue(t)
	for _, slug := range neverRaised {
		delete(left, slug)
	}
	for _, p := range provocations() {
		status, known := left[p.slug]
		require.True(t, known, "%s is not in the catalogue, or is provoked twice", p.slug)
		delete(left, p.slug)
		t.Run(p.slug, func(t *testing.T) {
			t.Parallel()
			refusal := p.provoke(newPayer(t, sandbox.WithControl()))
			assert.Equal(t, p.slug, refusal.slug(), "%s", refusal.raw)
			assert.Equal(t, status, refusal.status)
		})
	}
	assert.Empty(t, left, "nothing provokes these")
}

func TestSlugsPageMatchesProvocations(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("SLUGS.md")
	require.NoError(t, err)
	statuses := catalogue(t)
	table := "| Slug | Status | How |\n|---|---|---|\n"
	for _, p := range provocations() {
		table += fmt.Sprintf("| `%s` | %d | %s |\n", p.slug, statuses[p.slug], p.how)
	}
	assert.Contains(t, string(page), table, "SLUGS.md has another table than the tests")
}

// catalogueDetails reads which details each slug has, from the error catalogue.
func catalogueDetails(t *testing.T) map[string][]string {
	t.Helper()
	source, err := os.ReadFile("../openapi/errors.yaml")
	require.NoError(t, err)
	var errors struct {
		Slugs []struct {
			Slug    string
			Details []struct{ Key string }
		}
	}
	require.NoError(t, yaml.Unmarshal(source, &errors))
	found := map[string][]string{}
	for _, entry := range errors.Slugs {
		for _, detail := range entry.Details {
			found[entry.Slug] = append(found[entry.Slug], detail.Key)
		}
	}
	return found
}

// Every slug of the catalogue has the same envelope, with the details that the catalogue lists.
// Rule: error.envelope, error.message, error.details, error.request-id
func TestEveryRefusalIsTheEnvelope(t *testing.T) {
	t.Parallel()
	described := catalogueDetails(t)
	for _, p := range provocations() {
		t.Run(p.slug, func(t *testing.T) {
			t.Parallel()
			refusal := p.provoke(newPayer(t, sandbox.WithControl()))
			var outer map[string]map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(refusal.raw, &outer))
			assert.Equal(t, []string{"error"}, slices.Collect(maps.Keys(outer)))
			assert.Subset(t, []string{"code", "message", "details"}, slices.Collect(maps.Keys(outer["error"])))
			assert.Equal(t, "application/json", refusal.header.Get("Content-Type"))
			assert.Regexp(t, `^[a-z]+(_[a-z]+)*$`, refusal.slug())
			assert.Regexp(t, `^[A-Za-z][^\n]{5,150}\.$`, refusal.body.text("error", "message"), "one sentence")

			details, present := refusal.body.at("error", "details").(map[string]any)
			_, sent := outer["error"]["details"]
			assert.Equal(t, present, sent, "details are an object")
			if sent {
				assert.NotEmpty(t, details, "and there only with something to carry")
			}
			for name := range details {
				assert.Regexp(t, `^[a-z]+([A-Z][a-z]*)*$`, name)
			}
			if refusal.status >= http.StatusInternalServerError {
				assert.NotEmpty(t, details["requestId"])
				if id := refusal.header.Get("X-Request-ID"); id != "" {
					assert.Equal(t, id, details["requestId"])
				}
			}
			if want := described[p.slug]; len(want) > 0 && !slices.Contains(sometimesEmpty, p.slug) {
				assert.True(t, slices.ContainsFunc(want, func(name string) bool { return details[name] != nil }),
					"one of %v in %s", want, refusal.raw)
			}
		})
	}
}

// sometimesEmpty are slugs of several conditions, of which only a low balance has something to carry.
var sometimesEmpty = []string{"conflict", "payout_not_fundable"}

// Rule: error.location
func TestValidationErrorsNameTheirLocation(t *testing.T) {
	p := newPayer(t)
	escrow := p.mustCreateEscrow("escrow-1", nil)
	confirm := "/escrow/" + escrow.body.text("id") + "/actions/"
	for want, got := range map[string]reply{
		"query":  p.call("GET", "/transactions?limit=0", nil),
		"path":   p.call("POST", confirm+strings.Repeat("k", 129)+"/confirm", p.signed(escrow.action())),
		"header": p.as("").call("GET", "/client/kyb", nil),
	} {
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, want, got.body.text("error", "details", "location"), "%s", got.raw)
		assert.Len(t, got.fields(), 1)
	}
	body := p.call("POST", "/escrow", object{})
	refused(t, http.StatusUnprocessableEntity, "validation_failed", body)
	assert.Nil(t, body.body.at("error", "details", "location"))
}

// Unknown members are refused in every part of a request.
// Rule: error.unknown-key, page.no-offset
func TestUnknownKeysAreRefused(t *testing.T) {
	p := newPayer(t)
	for query, want := range map[string]map[string]string{
		"offset=50":               {"offset": "extra_forbidden"},
		"limit=10&offset=0&page=": {"offset": "extra_forbidden", "page": "extra_forbidden"},
		"Limit=10":                {"Limit": "extra_forbidden"},
		"limit=0&typ=payout":      {"limit": "greater_than_equal", "typ": "extra_forbidden"},
	} {
		for _, list := range []string{"/transactions", "/chains", "/banks"} {
			got := p.call("GET", list+"?"+query, nil)
			refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
			assert.Equal(t, want, got.fields())
			assert.Equal(t, "query", got.body.text("error", "details", "location"))
		}
	}
	for path, body := range map[string]object{
		"/payouts":          {"contactId": p.contact, "amount": "5", "currency": "USDC", "memo": "x"},
		"/escrow":           {"amount": "5", "currency": "USDC", "payee": payee, "memmo": "x"},
		"/payins":           {"amount": "5", "currency": "USDC", "originChainId": 1, "chain": 1},
		"/banks":            {"method": "sepa", "currency": "EUR", "country": "DE"},
		"/sandbox/deposits": {"amount": "5", "currency": "USDC", "note": "x"},
	} {
		got := p.call("POST", path, body)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		require.Len(t, got.fields(), 1, "%s", got.raw)
		for name, code := range got.fields() {
			assert.Contains(t, body, name)
			assert.Equal(t, "extra_forbidden", code)
		}
	}
}

// The slugs of the published enum that never reach callers are those of a contact that cannot be paid directly: one on
// another chain or expecting another token is routed, and one that is on no live chain cannot be paid at all.
// Rule: error.folded
func TestInternalSlugsAreNeverSent(t *testing.T) {
	p := newPayer(t)
	for name, c := range map[string]struct{ chain, token, slug string }{
		"on Base, as expected":  {"base", "USDC", ""},
		"another token on Base": {"base", "EURC", ""},
		"another chain":         {"polygon", "USDC", ""},
		"both":                  {"ethereum", "DAI", ""},
		"a chain that is none":  {"moonbase", "USDC", "contact_not_payable"},
		"a token that is none":  {"base", "DOGE", "contact_not_payable"},
	} {
		t.Run(name, func(t *testing.T) {
			contact := p.must(http.StatusCreated, "POST", "/contacts", object{"account": object{
				"accountType": "onchain", "chainId": c.chain, "currency": c.token,
				"walletAddress": "0x1111111111111111111111111111111111111111"}})
			booked := p.call("POST", "/payouts",
				object{"contactId": contact.body["id"], "amount": "5", "currency": "USDC"})
			assert.Equal(t, c.slug, booked.slug(), "%s", booked.raw)
			assert.NotContains(t, neverRaised, booked.slug())
		})
	}
}
