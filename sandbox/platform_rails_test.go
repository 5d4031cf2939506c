package sandbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// rails lists every rail, in pages of five, by method.
func (s *session) rails() map[string]object {
	s.t.Helper()
	found := map[string]object{}
	for cursor := ""; ; {
		page := s.must(http.StatusOK, "GET", "/banks?limit=5"+cursor, nil)
		for _, item := range page.body.at("items").([]any) {
			rail := object(item.(map[string]any))
			assert.NotContains(s.t, found, rail.text("method"))
			found[rail.text("method")] = rail
		}
		next := page.body.text("nextCursor")
		if next == "" {
			return found
		}
		cursor = "&cursor=" + next
	}
}

func (s *session) openRail(method, currency string) reply {
	s.t.Helper()
	return s.call("POST", "/banks", object{"method": method, "currency": currency})
}

// activeRail opens a rail, lets it become active, and answers its virtual account's id.
func (s *session) activeRail(method, currency string) string {
	s.t.Helper()
	require.Equal(s.t, http.StatusCreated, s.openRail(method, currency).status)
	s.host.Advance(time.Duration(s.host.Settings().RailActiveAfter))
	return s.rails()[method].text("virtualAccount", "id")
}

// change changes the host's settings.
func (w *world) change(change func(*sandbox.Settings)) {
	w.t.Helper()
	require.NoError(w.t, w.host.Configure(change))
}

// Rule: rail.verification, rail.money-in, rail.states, idempotency.rail
func TestRailsOpenOnceForAVerifiedClient(t *testing.T) {
	acme := newPayer(t)
	assert.Len(t, acme.rails(), 13, "the money-in catalogue")

	unmet := acme.openRail("sepa", "EUR")
	refused(t, http.StatusUnprocessableEntity, "rail_requirements_unmet", unmet)
	var codes []string
	for _, item := range unmet.body.at("error", "details", "blockers").([]any) {
		codes = append(codes, object(item.(map[string]any)).text("code"))
	}
	assert.Equal(t, []string{"verification_not_completed", "applicant_field_missing", "applicant_field_missing",
		"document_missing"}, codes)

	acme.verify()
	opened := acme.openRail("sepa", "EUR")
	require.Equal(t, http.StatusCreated, opened.status, "%s", opened.raw)
	assert.Equal(t, object{"method": "sepa", "currency": "EUR", "status": "pending"}, opened.body)

	acme.host.Advance(time.Duration(acme.host.Settings().RailActiveAfter))
	again := acme.openRail("sepa", "EUR")
	assert.Equal(t, http.StatusOK, again.status)
	assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	assert.Equal(t, "active", again.body.text("status"))
	assert.Regexp(t, `^bnk_`, again.body.text("virtualAccount", "id"))
	assert.Regexp(t, `^DE\d{20}$`, again.body.text("virtualAccount", "requisites", "iban"))
	assert.Equal(t, again.body, acme.rails()["sepa"])

	bolt := acme.as("").readyClient("bolt@example.com")
	assert.Equal(t, "available", bolt.rails()["sepa"].text("status"), "rails are each client's own")
}

// Rule: rail.agreement, rail.partner
func TestWhatNarrowsTheAvailabilityOfRails(t *testing.T) {
	for name, tc := range map[string]struct {
		change           func(*sandbox.Settings)
		method, currency string
		status           int
		slug             string
	}{
		"agreement": {func(s *sandbox.Settings) {
			s.RailsDisabled = []string{"sepa"}
		}, "sepa", "EUR", 403, "rail_not_available"},
		"residency": {func(s *sandbox.Settings) {
			s.RailsHidden = []string{"sepa"}
		}, "sepa", "EUR", 403, "rail_not_available"},
		"partner": {func(s *sandbox.Settings) {
			s.PartnerDown = true
		}, "sepa", "EUR", 503, "provider_unavailable"},
		"wrong money":  {func(*sandbox.Settings) {}, "sepa", "USD", 422, "validation_failed"},
		"money out":    {func(*sandbox.Settings) {}, "fednow", "USD", 422, "validation_failed"},
		"no such":      {func(*sandbox.Settings) {}, "seppa", "EUR", 422, "validation_failed"},
		"another rail": {func(s *sandbox.Settings) { s.RailsDisabled = []string{"ach"} }, "sepa", "EUR", 201, ""},
		"channel down": {func(s *sandbox.Settings) {
			s.ChannelsUnavailable = []string{"sepa"}
		}, "sepa", "EUR", 201, ""},
		"other channel": {func(s *sandbox.Settings) {
			s.ChannelsUnavailable = []string{"ach"}
		}, "sepa", "EUR", 201, ""},
	} {
		t.Run(name, func(t *testing.T) {
			acme := newPayer(t)
			acme.verify()
			acme.change(tc.change)
			got := acme.openRail(tc.method, tc.currency)
			assert.Equal(t, tc.status, got.status, "%s", got.raw)
			assert.Equal(t, tc.slug, got.slug())
		})
	}
}

// Rule: rail.residency, rail.states, page.cursor-of-its-query
func TestListsShowWhatSettingsDoToRails(t *testing.T) {
	acme := newPayer(t)
	acme.verify()
	acme.activeRail("sepa", "EUR")
	acme.change(func(s *sandbox.Settings) {
		s.RailsHidden = []string{"ach", "pix"}
		s.ChannelsUnavailable = []string{"sepa", "swift"}
	})
	rails := acme.rails()
	assert.Len(t, rails, 11)
	assert.NotContains(t, rails, "ach")
	assert.Equal(t, "channel_unavailable", rails["sepa"].text("status"))
	assert.NotEmpty(t, rails["sepa"].text("virtualAccount", "id"), "the account is still there")
	assert.Equal(t, "channel_unavailable", rails["swift"].text("status"))
	assert.Nil(t, rails["swift"].at("virtualAccount"))

	page := acme.must(http.StatusOK, "GET", "/banks?limit=1", nil).body.text("nextCursor")
	refused(t, http.StatusBadRequest, "invalid_cursor", acme.as("").call("GET", "/banks?cursor="+page, nil))
}

// Rule: client.ready
func TestRailsNeedAWallet(t *testing.T) {
	w := newWorld(t,
		sandbox.WithSettings(func(s *sandbox.Settings) { s.ClientReadyAfter = sandbox.Duration(time.Hour) }))
	me := w.login()
	acme := me.as(me.must(http.StatusCreated, "POST", "/clients", object{"email": "acme@example.com"}).body.text("id"))
	refused(t, http.StatusConflict, "wallet_not_linked", acme.openRail("sepa", "EUR"))
	refused(t, http.StatusConflict, "wallet_not_linked",
		acme.call("POST", "/payins", object{"amount": "5", "currency": "USDC", "originChainId": 1}))
	refused(t, http.StatusConflict, "wallet_not_linked",
		acme.call("POST", "/escrow", object{"amount": "5", "currency": "USDC", "payee": payee}))
	assert.Equal(t, http.StatusCreated, me.openRail("sepa", "EUR").status,
		"the integrator's own account has a wallet and is verified")
}

// payee is a wallet that the host knows nothing of.
const payee = "0x52908400098527886E0F7030069857D2E4169EE7"
