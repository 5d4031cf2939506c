package sandbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestAFreshProfile(t *testing.T) {
	w := newWorld(t)
	got := w.app().must(http.StatusOK, "GET", "/user", nil).body
	assert.Equal(t, w.email, got.text("email"))
	assert.Equal(t, false, got.at("isBusiness"), "isBusiness is false by default")
	assert.Equal(t, "not_started", got.text("kycStatus"))
	assert.Regexp(t, `^0x[0-9a-f]{40}$`, got.text("walletAddress"))
}

func TestTheProfileKeepsWhatIsNotNamed(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	app.must(http.StatusOK, "PUT", "/user/kyc", object{"firstName": "Ada", "lastName": "Example"})
	saved := app.must(http.StatusOK, "PUT", "/user/kyc",
		object{"address": object{"streetAddress": "1 Main St", "city": "Bonn", "country": "DE", "zip": "53111"}})
	assert.Equal(t, "Ada Example", saved.body.text("displayName"))
	assert.Equal(t, "Bonn", saved.body.text("address", "city"))
	assert.Equal(t, false, saved.body.at("isBusiness"))

	business := app.must(http.StatusOK, "PUT", "/user/kyc", object{"entityName": "Example GmbH", "firstName": ""})
	assert.Equal(t, true, business.body.at("isBusiness"))
	assert.Equal(t, "Example GmbH", business.body.text("displayName"))
	assert.Equal(t, business.body, app.must(http.StatusOK, "GET", "/user", nil).body)
	assert.Equal(t, "Example GmbH", app.must(http.StatusOK, "GET", "/apps/me", nil).body.text("userName"))
}

func TestVerificationOfTheOwner(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	status := func() string { return app.must(http.StatusOK, "GET", "/user/kyc/status", nil).body.text("status") }
	assert.Equal(t, "not_started", status())

	link := app.must(http.StatusOK, "POST", "/user/kyc_link", nil).body
	assert.Equal(t, "requested", link.text("status"))
	assert.Equal(t, link.text("url"), app.must(http.StatusOK, "POST", "/user/kyc_link", nil).body.text("url"),
		"fetched again")
	w.host.Advance(time.Hour)
	assert.Equal(t, "requested", status(), "nothing to review")

	for _, part := range []object{{"firstName": "Ada", "address": object{"country": "DE"}},
		{"lastName": "Example", "address": object{"city": "Bonn"}}} {
		app.must(http.StatusOK, "PUT", "/user/kyc", part)
		w.host.Advance(time.Hour)
		assert.Equal(t, "requested", status(), "a name and a country are what is read")
	}
	app.must(http.StatusOK, "PUT", "/user/kyc", object{"address": object{"country": "DE"}})
	assert.Equal(t, "under_review", status())
	w.host.Advance(time.Minute)
	assert.Equal(t, "approved", status())

	other := app.must(http.StatusOK, "GET", "/user/kyc/status?provider=elsewhere", nil).body
	assert.Equal(t, "not_started", other.text("status"))
	assert.Equal(t, "elsewhere", other.text("provider"))
	assert.Equal(t, "approved", app.must(http.StatusOK, "GET", "/user/kyc/status?provider=sandbox", nil).
		body.text("status"))
}

func TestAVerificationIsRejectedForGood(t *testing.T) {
	w := newWorld(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.KYBDecision = sandbox.KYBDecisionReject }))
	app := w.app()
	app.must(http.StatusOK, "PUT", "/user/kyc",
		object{"entityName": "Example GmbH", "address": object{"country": "DE"}})
	app.must(http.StatusOK, "POST", "/user/kyc_link", nil)
	w.host.Advance(time.Minute)
	assert.Equal(t, "rejected", app.must(http.StatusOK, "GET", "/user", nil).body.text("kycStatus"))
	require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.KYBDecision = sandbox.KYBDecisionApprove }))
	assert.Equal(t, "rejected", app.must(http.StatusOK, "GET", "/user", nil).body.text("kycStatus"))
}

// The app acts for the account that the platform API calls oneself: what is credited there can be spent here.
func TestBalancesAreThoseOfTheLedger(t *testing.T) {
	w := newWorld(t)
	app := w.app()
	app.fund(1)
	w.login().must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "7.5", "currency": "EURC"})

	held := map[string]string{}
	list := app.must(http.StatusOK, "GET", "/balance", nil)
	for _, balance := range list.items() {
		held[balance.text("currency")] = balance.text("available")
	}
	assert.Equal(t, map[string]string{"USDC": "100", "EURC": "7.5"}, held)
	assert.EqualValues(t, 2, list.body.at("total"))

	wallet := app.must(http.StatusOK, "GET", "/mcp/get_balance", nil).body
	assert.Equal(t, object{
		"walletEmail": w.email, "walletAddress": app.must(http.StatusOK, "GET", "/user", nil).
				body.text("walletAddress"),
		"usdcBalance": "100", "remainingAllowance": "10000",
	}, wallet)

	poor := w.appWith(sandbox.AppKeyRegistration{Email: "poor@example.com", SpendLimit: dollars("0")})
	got := poor.must(http.StatusOK, "GET", "/mcp/get_balance", nil).body
	assert.Equal(t, "0", got.text("usdcBalance"), "nothing is written as nothing")
	assert.Equal(t, "0", got.text("remainingAllowance"))
}
