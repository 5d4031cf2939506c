package console_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// An action of an escrow can be approved for 60 seconds.
func TestAnApprovalExpires(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	escrow, created := payer.newEscrow()
	prepared := created.Action
	require.NotNil(t, prepared)

	before := p.host.Now()
	p.press("+61 s")
	p.told("The host's clock is")
	assert.GreaterOrEqual(t, p.host.Now().Sub(before), 61*time.Second)

	_, err := payer.Escrows.Confirm(t.Context(), escrow, created.ID, dapi.EscrowActionTypeApprove, prepared)
	expired, ok := errors.AsType[*errors.ApprovalExpired](err)
	require.True(t, ok, "%v", err)
	assert.NotNil(t, expired)
	p.open("requests")
	p.see("approval_expired")
	assert.Contains(t, eval[string](p, `document.querySelector("#request-table tbody tr").innerText`), "410")
	p.click("#request-table tbody tr button")
	p.see("What to do about approval_expired")
	advice := eval[string](p, `document.querySelector(".advice .do").innerText`)
	assert.NotContains(t, advice, "The error page says", "the page says what to do itself")
	assert.NotEmpty(t, advice)
	assert.Equal(t, "https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#approval_expired",
		eval[string](p, `document.querySelector(".advice a").href`))
}

// A payout can be confirmed for 120 seconds.
func TestAFundingAttemptExpires(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	asked := payer.asked("12.50")
	booked, err := payer.Payouts.Book(t.Context(), asked, moneymovement.IdempotencyKey("invoice-42"))
	require.NoError(t, err)
	p.press("+121 s")
	p.told("The host's clock is")
	_, err = payer.Payouts.Confirm(t.Context(), asked, booked)
	_, ok := errors.AsType[*errors.FundingAttemptExpired](err)
	require.True(t, ok, "%v", err)
	p.open("requests")
	p.see("funding_attempt_expired")
	p.open("payouts")
	p.see("Now: Expired")
}

func TestClockControlAdvancesTheClock(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock")
	before := p.host.Now()
	p.fill("#clock-advance", "36h")
	p.see(`-d '{"advance":"36h"}'`)
	p.press("Move")
	p.told("The host's clock is " + before.Add(36*time.Hour).UTC().Format("2006-01-02"))
	p.until(`document.getElementById("now").textContent.startsWith("` + before.Add(36*time.Hour).UTC().Format("2006-01-02") + `")`)
	p.expect("422")
	p.expect("400")
	p.fill("#clock-advance", "soon")
	p.press("Move")
	p.until(`document.getElementById("result").classList.contains("refused")`)
}

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
func TestSettingChangedByAProgramIsMarked(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests")
	assert.NoError(t, p.host.Configure(func(s *sandbox.Settings) { s.OpaqueLogin = true }))
	p.open("settings")
	p.see("1 setting changed since the start.")
	p.until(`document.querySelector('[data-setting="opaqueLogin"]').classList.contains("changed")`)
}

func TestRateWindowsShowTheirUse(t *testing.T) {
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

func TestReset(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	p.see("/dapi/v1/contacts")
	p.press("Reset the host…")
	p.press("Cancel")
	p.until(`!document.querySelector("dialog[open]")`)
	balances := p.host.Ledger().Balances
	assert.Equal(t, "50", balances[string(payer.id)]["USDC"].String(), "nothing happens without the second button")

	p.press("Reset the host…")
	p.press("Reset everything")
	p.told("The host is as at the start.")
	p.see("No request yet")
	assert.Empty(t, p.host.Ledger().Balances[string(payer.id)])
	p.open("ledger")
	p.see("Faucet fill")
	assert.Equal(t, 1, eval[int](p, `new Set([...document.querySelectorAll("#ledger-table tbody tr")]
		.map((row) => row.dataset.movement)).size`), "only the faucet has money")
	p.open("requests")
	newCustomer(p, "acme@example.com")
	p.see("/dapi/v1/contacts")
}

// A page that lost its connection shows what it missed.
func TestEventStreamResumesAfterALoss(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests")
	p.expect("ERR_") // the connection that ends
	p.send("GET", "/utils/rates/EUR", "")
	p.see("/utils/rates/EUR")
	p.server.CloseClientConnections()
	p.send("GET", "/utils/rates/GBP", "")
	p.see("/utils/rates/GBP")
	p.until(`document.getElementById("live").dataset.state === "on"`)
	assert.Equal(t, 2, eval[int](p, `document.querySelectorAll("#request-table tbody tr").length`), "each once")
}

// A page that stays open while the host is started again shows the new host, and nothing of the one before.
func TestPageReconnectsAfterARestartOfTheHost(t *testing.T) {
	t.Parallel()
	p := openPage(t, "credentials")
	p.expect("ERR_") // the connection that ends
	p.press("Show the credentials")
	p.see(p.host.Credentials().APIKey.Reveal())
	for _, currency := range []string{"EUR", "GBP", "USD"} {
		p.send("GET", "/utils/rates/"+currency, "")
	}
	p.open("requests")
	p.see("/utils/rates/USD")
	p.startAgain()
	p.until(`document.querySelectorAll("#request-table tbody tr").length === 0`)
	p.send("GET", "/utils/rates/CHF", "")
	p.see("/utils/rates/CHF")
	assert.Equal(t, 1, eval[int](p, `document.querySelectorAll("#request-table tbody tr").length`))

	p.open("credentials")
	p.press("Show the credentials")
	key := p.host.Credentials().APIKey.Reveal()
	p.see(key)
	p.startAgain()
	p.until(`!document.documentElement.outerHTML.includes(` + quoted(key) + `)`)
}

// What changed while there was no connection is shown after it.
func TestChangeWhileDisconnectedIsShownAfterReconnect(t *testing.T) {
	t.Parallel()
	p := openPage(t, "settings")
	p.see("All settings are as at the start.")
	p.offline(func() {
		assert.NoError(t, p.host.Configure(func(s *sandbox.Settings) { s.OpaqueLogin = true }))
	})
	p.see("1 setting changed since the start.")
}

func TestResetWhileDisconnectedIsShownAfterReconnect(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests")
	p.send("GET", "/utils/rates/EUR", "")
	p.see("/utils/rates/EUR")
	p.offline(p.host.Reset)
	p.see("No request yet")
	p.send("GET", "/utils/rates/GBP", "")
	p.see("/utils/rates/GBP")
	assert.NotContains(t, p.text(), "/utils/rates/EUR")
}

// offline lets something happen while the page has no connection.
func (p *page) offline(happen func()) {
	p.Helper()
	p.expect("ERR_") // the connections that end
	p.refusing.Store(true)
	p.server.CloseClientConnections()
	p.until(`document.getElementById("live").dataset.state === "off"`)
	happen()
	p.refusing.Store(false)
	p.until(`document.getElementById("live").dataset.state === "on"`)
}

// The page says that it is live once it knows all that it missed. A call that fails before is made again.
func TestPageIsLiveWhenAllEventsAreRead(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests")
	p.expect("503")
	p.expect("ERR_") // the connection that ends
	p.busy.Store(true)
	p.server.CloseClientConnections()
	p.until(`document.getElementById("live").dataset.state === "off"`)
	p.until(`performance.getEntriesByName(location.origin + "/_host/slugs").length > 1`)
	assert.Equal(t, "off", eval[string](p, `document.getElementById("live").dataset.state`))
	p.busy.Store(false)
	p.until(`document.getElementById("live").dataset.state === "on"`)
}

// Requests that arrive together are drawn together: each alone would hold up the page.
func TestManyRequestsAreDrawnTogether(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests")
	const sent = 300
	for range sent {
		p.send("GET", "/utils/rates/EUR", "")
	}
	p.until(`document.querySelectorAll("#request-table tbody tr").length === ` + strconv.Itoa(sent))
	drawn := eval[int](p, `new Promise((done) => {
		let times = 0;
		const panel = document.getElementById("panel-requests");
		new MutationObserver(() => { times += 1; }).observe(panel, { childList: true, subtree: true });
		for (let i = 0; i < 100; i += 1) fetch("/utils/rates/EUR");
		const timer = setInterval(() => {
			if (document.querySelectorAll("#request-table tbody tr").length < `+strconv.Itoa(sent+100)+`) return;
			clearInterval(timer);
			done(times);
		}, 20);
	})`)
	assert.Less(t, drawn, 50)
}

func TestCredentialsAreHiddenUntilAskedFor(t *testing.T) {
	t.Parallel()
	p := openPage(t, "credentials")
	key := p.host.Credentials().APIKey.Reveal()
	p.see("Show the credentials")
	assert.NotContains(t, eval[string](p, "document.documentElement.outerHTML"), key)
	p.press("Show the credentials")
	p.see(key)
	p.see("export MONEYMOVEMENT_BASE_URL=" + p.server.URL)
	p.press("Copy App key")
	p.until(`document.getElementById("said").textContent.includes("App key")`)
	p.press("Hide the credentials")
	p.until(`!document.documentElement.outerHTML.includes(` + quoted(key) + `)`)
	p.press("Show the credentials")
	p.see(key)
	p.open("clock")
	assert.NotContains(t, eval[string](p, "document.documentElement.outerHTML"), key, "hidden when the section closes")
}

func TestFaultIsArmedAndTheRetryIsShown(t *testing.T) {
	t.Parallel()
	p := openPage(t, "faults", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	p.see("No fault was armed")
	p.choose("#fault-operation", "ConfirmPayout")
	p.choose("#fault-kind", "drop_after_commit")
	p.see(`"path":"/dapi/v1/payouts/{payoutId}/confirm","times":1,"fault":{"kind":"drop_after_commit"}`)
	p.press("Arm the fault")
	p.told("flt_1 waits for ConfirmPayout.")
	p.see("0 of 1")

	payout := payer.pay("12.50", "invoice-42")
	p.see("1 of 1")
	p.see("consumed")
	p.open("requests")
	p.see("attempt 2")
	rows := eval[[]string](p, `[...document.querySelectorAll("#request-table tbody tr")].map((row) => row.innerText)
		.filter((text) => text.includes("/confirm"))`)
	require.Len(t, rows, 2, "the confirm and its retry")
	assert.Contains(t, rows[1], "fault drop_after_commit")
	assert.Contains(t, rows[1], "no response")
	assert.Contains(t, rows[0], "attempt 2")
	assert.Equal(t, "37.5", p.host.Ledger().Balances[string(payer.id)]["USDC"].String(), "%s left once", payout.ID)
}

func TestAFaultIsDisarmed(t *testing.T) {
	t.Parallel()
	p := openPage(t, "faults")
	p.fill("#fault-times", "3")
	p.press("Arm the fault")
	p.see("0 of 3")
	p.press("Disarm flt_1")
	p.told("flt_1 is disarmed.")
	p.see("disarmed")
	p.press("Arm the fault")
	p.press("Disarm all")
	p.told("No fault is armed.")
	p.until(`document.querySelectorAll("[data-fault] .badge").length === 2`)
}

// The page offers the options of the kind and no others, and the host takes every kind that the page offers.
func TestEveryKindOfFaultCanBeArmed(t *testing.T) {
	t.Parallel()
	p := openPage(t, "faults")
	p.until(`document.querySelectorAll("#fault-kind option").length > 1`)
	kinds := eval[[]string](p, `[...document.querySelectorAll("#fault-kind option")].map((option) => option.value)`)
	for i, kind := range kinds {
		p.choose("#fault-kind", kind)
		p.see(`"fault":{"kind":"` + kind + `"`)
		p.press("Arm the fault")
		p.told(fmt.Sprintf("flt_%d waits for", i+1))
	}
	refusal := p.send(http.MethodPost, "/_host/faults", `{"path":"/chains","fault":{"kind":"none"}}`)
	assert.Contains(t, refusal, fmt.Sprint(kinds), "the host has these kinds, in its order")

	p.choose("#fault-kind", "respond")
	p.fill("#fault-headers", "not JSON")
	p.see("Headers is not a JSON object.")
	p.fill("#fault-headers", `{"Retry-After":"1"}`)
	p.see(`"headers":{"Retry-After":"1"}`)
	p.choose("#fault-kind", "drop_before")
	p.until(`!document.getElementById("fault-headers")`)
}

// The page names each operation that the host serves.
func TestFaultFormListsTheHostsOperations(t *testing.T) {
	t.Parallel()
	p := openPage(t, "faults")
	p.until(`document.querySelectorAll("#fault-surface option").length === 4`)
	for surface, operation := range map[string]string{"appapi": "CreateTransfer", "public": "GetRate"} {
		p.choose("#fault-surface", surface)
		p.until(`document.querySelectorAll("#fault-operation option").length > 0`)
		names := eval[[]string](p, `[...document.querySelectorAll("#fault-operation option")]
			.map((option) => option.value)`)
		assert.Contains(t, names, operation, surface)
	}
}
