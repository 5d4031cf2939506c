package console_test

import (
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
	assert.Equal(t, 1, eval[int](p, `document.querySelectorAll(".movement").length`), "only the faucet has money")
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

func TestCredentialsAreHiddenUntilAskedFor(t *testing.T) {
	t.Parallel()
	p := openPage(t, "credentials")
	key := p.host.Credentials().APIKey.Reveal()
	p.see("Show the credentials")
	assert.NotContains(t, eval[string](p, "document.documentElement.outerHTML"), key)
	p.press("Show the credentials")
	p.see(key)
	p.see("export MONEYMOVEMENT_BASE_URL='" + p.server.URL + "'")
	p.press("Copy App key")
	p.until(`document.getElementById("said").textContent.includes("App key")`)
	p.press("Hide the credentials")
	p.until(`!document.documentElement.outerHTML.includes(` + quoted(key) + `)`)
	p.press("Show the credentials")
	p.see(key)
	p.open("clock")
	assert.NotContains(t, eval[string](p, "document.documentElement.outerHTML"), key, "hidden when the section closes")
}
