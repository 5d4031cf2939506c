package console_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	shellwords "github.com/moneymovement/moneymovement-go/internal/shell"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// shell runs a command that the page shows.
func shell(t *testing.T, command string) string {
	t.Helper()
	for _, program := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("needs " + program + ", which runs what the page shows; make check runs it where that is installed")
		}
	}
	said, err := exec.CommandContext(t.Context(), "sh", "-c", command).Output()
	require.NoError(t, err, "%s", command)
	return string(said)
}

// curlOf returns the command that is shown in an element.
func (p *page) curlOf(selector string) string {
	p.Helper()
	p.until(`document.querySelector(` + quoted(selector+" code") + `)`)
	return eval[string](p, `document.querySelector(`+quoted(selector+" code")+`).textContent`)
}

// Each command does the same as the action that it stands beside.
func TestCurlCommandsDoWhatTheButtonsDo(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock", withWaits())
	payer := newCustomer(p, "acme@example.com")
	payout := payer.pay("12.50", "invoice-42")

	before := p.host.Now()
	shell(t, p.curlOf(`[data-key="121s"] .curl`))
	assert.GreaterOrEqual(t, p.host.Now().Sub(before), 121*time.Second)

	p.open("payouts")
	shell(t, p.curlOf(`[data-key="`+string(payout.ID)+` completed"] .curl`))
	p.see("Now: Completed")

	p.open("balances")
	assert.Contains(t, shell(t, p.curlOf(`[data-key="credit"] .curl`)), `"balance":"50"`)
	p.open("settings")
	shell(t, p.curlOf(`[data-setting="partnerDown"] .curl`))
	assert.True(t, p.host.Settings().PartnerDown)
	p.open("faults")
	assert.Contains(t, shell(t, p.curlOf(`[data-key="arm"] .curl`)), `"flt_1"`)
	p.see("0 of 1")
	shell(t, p.curlOf(`[data-fault="flt_1"] .curl`))
	p.see("disarmed")
	p.open("credentials")
	assert.Contains(t, shell(t, p.curlOf(`[data-key="curl"]`)), p.host.Credentials().APIKey.Reveal())

	p.press("Reset the host…")
	shell(t, p.curlOf(`dialog`))
	assert.Equal(t, sandbox.DefaultSettings().PartnerDown, p.host.Settings().PartnerDown)
	assert.Empty(t, p.host.Ledger().Balances[string(payer.id)])
}

// The command beside a request sends the same request again. Its credential is a variable of the shell.
func TestCurlCommandOfARequestRepeatsIt(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests")
	p.send("GET", "/utils/rates/EUR", "")
	p.press("GET /utils/rates/EUR")
	assert.Contains(t, shell(t, p.curlOf(`[data-key="repeat"]`)), `"usdRate"`)
	p.press("Close")

	key := p.host.Credentials().APIKey.Reveal()
	p.sendAs("Bearer "+key, "GET", "/user")
	p.press("GET /user")
	command := p.curlOf(`[data-key="repeat"]`)
	assert.NotContains(t, command, key)
	assert.NotContains(t, p.text(), key, "the page shows no secret of a request")
	again := shell(t, "MONEYMOVEMENT_API_KEY='"+key+"'; "+command)
	assert.Contains(t, again, "200 OK")
	assert.Contains(t, again, p.host.Credentials().Email)
}

// A request is whatever somebody has sent. Nothing in it runs in the shell of the person who repeats it, and no bracket
// in its path is expanded.
func TestCurlCommandOfARequestIsQuoted(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests")
	const method, path = "`touch$IFS$9injected`", "/utils/rates/EUR'{a,b}[1-3]$(touch%20injected)"
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.server.URL, "http://"))
	require.NoError(t, err)
	_, err = fmt.Fprintf(connection, "%s %s HTTP/1.1\r\nHost: localhost\r\n"+
		"X-A`touch$IFS$9injected`: \u009b\"'; touch injected\r\nConnection: close\r\n\r\n", method, path)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, connection)
	require.NoError(t, err)
	require.NoError(t, connection.Close())
	require.Len(t, p.host.Requests(), 1)
	p.see(method)
	p.do(chromedp.Click("#request-table tbody button"))
	command := p.curlOf(`[data-key="repeat"]`)
	folder := t.TempDir()
	shell(t, "cd "+folder+" && "+command)
	made, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, made, "%s", command)
	sent := p.host.Requests()
	require.Len(t, sent, 2, "%s", command)
	assert.Equal(t, sent[0].Method, sent[1].Method)
	assert.Equal(t, sent[0].Path, sent[1].Path)
}

// The page builds its lines as the package shell does, which a real shell has read.
func TestPageQuotesShellWordsAsPackageShell(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests")
	letters := []rune("aZ09 '\"\\$`;&|<>(){}[]*?~!#=%@+:,./-_" +
		"\n\t\r\x1b\x7f\u009b\u202e\u2028\ufeff\ufffdé字😀\U000e0041\x00")
	random := rand.New(rand.NewPCG(1, 2))
	lines := make([][]string, 300)
	for i := range lines {
		words := make([]string, 1+random.IntN(3))
		for j := range words {
			for range random.IntN(8) {
				words[j] += string(letters[random.IntN(len(letters))])
			}
		}
		lines[i] = words
	}
	list, err := json.Marshal(lines)
	require.NoError(t, err)
	script, err := os.ReadFile("../../../sandbox/internal/console/page/format.js")
	require.NoError(t, err)
	var written []string
	said := eval[string](p, "(() => { "+string(script)+
		"\nreturn JSON.stringify("+string(list)+".map((words) => shellLine(...words))); })()")
	require.NoError(t, json.Unmarshal([]byte(said), &written))
	require.Len(t, written, len(lines))
	for i, words := range lines {
		assert.Equal(t, shellwords.Line(words...), written[i], "%q", words)
	}
}

// markup is what nobody is called.
const markup = `<img src=x onerror=alert(1)>`

// What a program sends is shown as it is. It becomes neither an element nor a script.
func TestTextIsNotRunAsMarkup(t *testing.T) {
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
