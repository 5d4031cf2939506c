package sandbox_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

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

// Every slug of the catalogue comes in the same envelope, whatever provoked it, with the details that it is said to
// have.
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
func TestFailuresOutsideTheBodySayWhere(t *testing.T) {
	p := newPayer(t)
	deal := p.deal("deal-1", nil)
	confirm := "/escrow/" + deal.body.text("id") + "/actions/"
	for want, got := range map[string]reply{
		"query":  p.call("GET", "/transactions?limit=0", nil),
		"path":   p.call("POST", confirm+strings.Repeat("k", 129)+"/confirm", p.signed(deal.action())),
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

// Unknown keys are refused wherever a caller can put one.
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
func TestSlugsThatNeverReachCallers(t *testing.T) {
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
