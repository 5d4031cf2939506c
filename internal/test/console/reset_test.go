package console_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

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
func TestTheEventsResume(t *testing.T) {
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
func TestTheHostIsStartedAgain(t *testing.T) {
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
func TestAChangeWithoutAConnectionIsShown(t *testing.T) {
	t.Parallel()
	p := openPage(t, "settings")
	p.see("All settings are as at the start.")
	p.offline(func() {
		assert.NoError(t, p.host.Configure(func(s *sandbox.Settings) { s.OpaqueLogin = true }))
	})
	p.see("1 setting changed since the start.")
}

func TestAResetWithoutAConnectionIsShown(t *testing.T) {
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
func TestThePageIsLiveWhenItKnowsAll(t *testing.T) {
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
