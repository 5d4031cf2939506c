package console_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// markup is what nobody is called.
const markup = `<img src=x onerror=alert(1)>`

// What a program sends is shown as it is. It becomes neither an element nor a script.
func TestTextStaysText(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	_, err := payer.Contacts.Create(t.Context(), dapi.ContactCreate{Name: markup,
		Account: dapi.Onchain(dapi.OnchainAccount{WalletAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
			ChainID: "base", Currency: "USDC"})})
	require.NoError(t, err)
	p.send("GET", "/dapi/v1/%3Cimg%20src=x%20onerror=alert(1)%3E", "")
	p.see(markup)
	p.press("POST /dapi/v1/contacts")
	p.see(`"name": "` + markup + `"`)

	p.open("verification")
	p.see(string(payer.id))
	p.open("faults")
	p.choose("#fault-kind", "respond")
	p.fill("#fault-body", markup)
	p.press("Arm the fault")
	p.told("flt_1 waits for")
	p.see("body " + markup)
	assert.Zero(t, eval[int](p, `document.querySelectorAll("img").length`))
}

// The page cannot make HTML from text even if it tries to: the browser refuses.
func TestTheBrowserForbidsHTMLFromText(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock")
	p.expect("TrustedHTML")
	p.expect("Content Security Policy")
	refused := eval[bool](p, `(() => {
		try {
			document.querySelector("h2").innerHTML = "<b>bold</b>";
			return false;
		} catch {
			return true;
		}
	})()`)
	assert.True(t, refused)
	assert.Zero(t, eval[int](p, `document.querySelectorAll("b").length`))
}

// The browser refuses every request to another origin, whatever a script of the page asks for.
func TestTheBrowserForbidsOtherOrigins(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock")
	p.expect("Content Security Policy")
	p.expect("Fetch API cannot load")
	assert.True(t, eval[bool](p, `fetch("https://example.com/").then(() => false, () => true)`))
	assert.True(t, eval[bool](p, `fetch("http://127.0.0.1:1/").then(() => false, () => true)`))
}
