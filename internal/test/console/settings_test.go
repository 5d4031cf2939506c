package console_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestASettingChangesByItsSwitch(t *testing.T) {
	t.Parallel()
	p := openPage(t, "settings")
	p.see("All settings are as at the start.")
	p.see("Bank payouts, rails and bank payins fail with provider_unavailable.")
	p.click("#setting-partnerDown")
	p.told("Partner down is now true.")
	p.see("1 setting changed since the start.")
	assert.True(t, p.host.Settings().PartnerDown)
	assert.True(t, eval[bool](p, `document.getElementById("setting-partnerDown").checked`))
	assert.True(t, eval[bool](p, `document.querySelector('[data-setting="partnerDown"]').classList.contains("changed")`))
	p.press("Set Partner down back")
	p.see("All settings are as at the start.")
	assert.False(t, p.host.Settings().PartnerDown)
}

func TestSettingsOfEachKind(t *testing.T) {
	t.Parallel()
	p := openPage(t, "settings")
	for _, c := range []struct{ name, typed, label string }{
		{"payoutStepAfter", "1h", "Payout step after is now 1h0m0s."},
		{"maxCredit", "7.5", "Max credit is now 7.5."},
		{"failOneIn", "3", "Fail one in is now 3."},
		{"railsHidden", "sepa, ach", "Rails hidden is now sepa, ach."},
	} {
		p.fill("#setting-"+c.name, c.typed)
		p.press("Apply " + map[string]string{"payoutStepAfter": "Payout step after", "maxCredit": "Max credit",
			"failOneIn": "Fail one in", "railsHidden": "Rails hidden"}[c.name])
		p.told(c.label)
	}
	p.choose("#setting-kybDecision", "reject")
	p.press("Apply KYB decision")
	p.told("is now reject.")
	got := p.host.Settings()
	assert.Equal(t, sandbox.Duration(time.Hour), got.PayoutStepAfter)
	assert.Equal(t, "7.5", got.MaxCredit.String())
	assert.Equal(t, 3, got.FailOneIn)
	assert.Equal(t, []string{"sepa", "ach"}, got.RailsHidden)
	assert.Equal(t, sandbox.KYBDecisionReject, got.KYBDecision)
	p.see("5 settings changed since the start.")

	p.expect("400")
	p.fill("#setting-maxCredit", "-1")
	p.press("Apply Max credit")
	p.told("maxCredit must not be negative")
	assert.Equal(t, "7.5", p.host.Settings().MaxCredit.String())
	p.do()
	p.click("#settings-changed")
	p.until(`document.querySelectorAll(".setting").length === 5`)
}

// A setting that another program changed is marked as well.
func TestASettingThatAProgramChangedIsMarked(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests")
	assert.NoError(t, p.host.Configure(func(s *sandbox.Settings) { s.OpaqueLogin = true }))
	p.open("settings")
	p.see("1 setting changed since the start.")
	p.until(`document.querySelector('[data-setting="opaqueLogin"]').classList.contains("changed")`)
}

func TestWindowsFill(t *testing.T) {
	t.Parallel()
	p := openPage(t, "windows", sandbox.WithInstantProgress())
	p.see("The host counts no requests.")
	p.click("#windows-on")
	p.told("The windows are on.")
	payer := newCustomer(p, "acme@example.com")
	_, err := payer.Chains.List(t.Context(), dapi.ListChainsParams{})
	require.NoError(t, err)
	p.see("of 120")
	p.see("of 600")
	wide := `Number(document.querySelector("#panel-windows .used").getAttribute("width"))`
	p.until(wide + " > 0")
	assert.Less(t, eval[float64](p, wide), 100.0)
}
