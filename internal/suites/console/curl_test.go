package console_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// shell runs a command that the page shows.
func shell(t *testing.T, command string) string {
	t.Helper()
	for _, program := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("needs " + program + ", which runs what the page shows")
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
func TestTheCommandsDoWhatTheButtonsDo(t *testing.T) {
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
func TestTheCommandOfARequestSendsItAgain(t *testing.T) {
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
