package host_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/target"
	"github.com/moneymovement/moneymovement-go/signing"
)

// booked books a payout and writes the response to a file.
func (f *fixture) booked() (response, file string) {
	f.Helper()
	response = f.ok("call", "POST", "/dapi/v1/payouts", "-key", "invoice-42", "-d",
		`{"contactId":"`+f.funded()+`","amount":"25","currency":"USDC"}`)
	return response, f.write("booked.json", response)
}

type signed struct{ ApprovalID, PublicKey, Signature string }

func TestSignMakesTheBodyOfTheConfirm(t *testing.T) {
	f := newFixture(t)
	response, file := f.booked()
	var payout struct {
		ID       string
		Approval json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(response), &payout))

	person := f.anyone("yes")
	r := person.run("sign", "-d", "@"+file)
	require.Equal(t, app.ExitFine, r.code, r.stderr)
	for _, field := range []string{
		"account                self", "amount                 25", "currency               USDC",
		"operation              payout.fund", "resourceId             " + payout.ID, "destination.contactId  ct_",
		"approvalId             apr_", "nonce                  ", "expiresAt              ", "(in ", "Type yes",
	} {
		assert.Contains(t, r.stderr, field)
	}
	var body signed
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &body))
	assert.Equal(t, f.host.Credentials().Key.PublicKeyBase64(), body.PublicKey)

	// the approval alone, from standard input
	f.stdin = string(payout.Approval)
	f.ok("sign", "-yes", "-expect", "amount=25.00", "-expect", "resourceId="+payout.ID)
	delete(f.env, target.EnvBaseURL) // it needs no host
	again := f.ok("sign", "-yes", "-expect", "account=self")
	f.env[target.EnvBaseURL] = f.url

	confirmed := f.ok("call", "POST", "/dapi/v1/payouts/"+payout.ID+"/confirm", "-d", "@"+f.write("signed.json", again))
	assert.Contains(t, confirmed, `"transactionHash"`)
}

func TestSignAsks(t *testing.T) {
	f := newFixture(t)
	_, file := f.booked()
	r := f.anyone("no").run("sign", "-d", "@"+file)
	assert.Equal(t, app.ExitDecision, r.code)
	assert.Empty(t, r.stdout)
	assert.Contains(t, r.stderr, "not signed")

	r = f.run("sign", "-d", "@"+file)
	assert.Equal(t, app.ExitUsage, r.code, "nobody can answer")
	assert.Contains(t, r.stderr, "-yes")
	assert.Contains(t, r.stderr, "amount", "it shows what it would sign")

	person := f.anyone("")
	content, _ := f.booked()
	person.stdin = content
	r = person.run("sign")
	assert.Equal(t, app.ExitUsage, r.code, "standard input is the booking, and not a person")
}

func TestSignRefusesOtherTerms(t *testing.T) {
	f := newFixture(t)
	response, file := f.booked()
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"another amount":  {[]string{"-expect", "amount=24"}, app.ExitDecision, `amount: it differs`},
		"another contact": {[]string{"-expect", "destination.contactId=ct_other"}, app.ExitDecision, "destination.contactId"},
		"another account": {[]string{"-expect", "account=cl_1"}, app.ExitDecision, "account: it differs"},
		"no such field":   {[]string{"-expect", "colour=red"}, app.ExitUsage, "the fields are operation"},
		"no value":        {[]string{"-expect", "amount"}, app.ExitUsage, "FIELD=VALUE"},
		"no amount":       {[]string{"-expect", "amount=lots"}, app.ExitUsage, "not an amount"},
		"too late":        {[]string{"-at", time.Now().Add(time.Hour).Format(time.RFC3339)}, app.ExitDecision, "-at host"},
		"no time":         {[]string{"-at", "noon"}, app.ExitUsage, "2026-01-31T12:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.run(append([]string{"sign", "-yes", "-d", "@" + file}, c.args...)...)
			assert.Equal(t, c.code, r.code, r.stderr)
			assert.Contains(t, r.stderr, c.says)
			assert.Empty(t, r.stdout)
		})
	}
	changed := strings.Replace(response, `"amount":"25"`, `"amount":"26"`, 1)
	r := f.run("sign", "-yes", "-d", changed)
	assert.Equal(t, app.ExitDecision, r.code, "the booking says something else than its approval")
	assert.Contains(t, r.stderr, `got "25", want "26"`)
	r = f.run("sign", "-yes", "-d", changed, "-expect", "amount=25")
	assert.Equal(t, app.ExitDecision, r.code, "and one of the two is wrong")
	assert.Contains(t, r.stderr, "the response around the approval")
}

func TestSignRefusesWhatIsNoApproval(t *testing.T) {
	f := newFixture(t)
	for input, says := range map[string]string{
		`{}`: "has no approval", `{"id":"po_1","status":"completed"}`: "has no approval", `[]`: "not the JSON",
		`x`: "not the JSON", `{"id":"apr_1","payload":"%%"}`: "not base64",
	} {
		r := f.run("sign", "-yes", "-d", input)
		assert.Equal(t, app.ExitUsage, r.code, input)
		assert.Contains(t, r.stderr, says, input)
		assert.Empty(t, r.stdout)
	}
}

// TestSignShowsWhatItDoesNotKnow: a signature would cover a field that nobody compares.
func TestSignShowsWhatItDoesNotKnow(t *testing.T) {
	f := newFixture(t)
	for name, payload := range map[string]string{
		"beneficiary": `{"account":"self","amount":"25","beneficiary":{"name":"M"},"currency":"USDC"}`,
		"payload":     "pay everything\x1b[2J",
	} {
		approval, err := json.Marshal(map[string]any{
			"id": "apr_1", "expiresAt": time.Now().Add(time.Minute), "payload": base64.StdEncoding.EncodeToString([]byte(payload)),
		})
		require.NoError(t, err)
		r := f.run("sign", "-yes", "-d", string(approval))
		assert.Equal(t, app.ExitDecision, r.code, r.stderr)
		assert.Contains(t, r.stderr, name)
		assert.Contains(t, r.stderr, "UNKNOWN")
		assert.NotContains(t, r.stderr, "\x1b")
		assert.Empty(t, r.stdout)
	}
}

func TestSignAtTheTimeOfTheHost(t *testing.T) {
	f := newFixture(t)
	f.host.Advance(24 * time.Hour)
	_, file := f.booked()
	r := f.run("sign", "-yes", "-d", "@"+file)
	assert.Equal(t, app.ExitDecision, r.code)
	assert.Contains(t, r.stderr, "-at host")
	f.ok("sign", "-yes", "-d", "@"+file, "-at", "host")
}

func TestSignTheActionOfADeal(t *testing.T) {
	f := newFixture(t)
	f.funded()
	response := f.ok("call", "POST", "/dapi/v1/escrow", "-key", "deal-1", "-d",
		`{"payee":"`+wallet+`","amount":"5","currency":"USDC"}`)
	var deal struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(response), &deal))
	body := f.ok("sign", "-yes", "-d", response, "-expect", "operation=escrow.approve")
	f.ok("call", "POST", "/dapi/v1/escrow/"+deal.ID+"/actions/deal-1/confirm", "-d", body)
	r := f.run("sign", "-yes", "-d", response, "-expect", "operation=escrow.release")
	assert.Equal(t, app.ExitDecision, r.code)
}

func TestSignWithEachKey(t *testing.T) {
	f := newFixture(t)
	_, file := f.booked()
	key, err := signing.GenerateEd25519()
	require.NoError(t, err)
	require.NoError(t, key.Save(f.path("ed25519.pem")))
	var body signed
	require.NoError(t, json.Unmarshal([]byte(f.ok("sign", "-yes", "-d", "@"+file, "-key-file", f.path("ed25519.pem"))), &body))
	assert.Equal(t, key.PublicKeyBase64(), body.PublicKey)
}
