package host_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/signing"
)

// booked books a payout and writes the response to a file, and its request to request.json.
func (f *fixture) booked() (response, file string) {
	f.Helper()
	f.write("request.json", `{"contactId":"`+f.funded()+`","amount":"25","currency":"USDC"}`)
	response = f.ok("call", "POST", "/dapi/v1/payouts", "-key", "invoice-42", "-d", "@"+f.path("request.json"))
	return response, f.write("booked.json", response)
}

// signing is a command line that says all of a payout of the own account.
func (f *fixture) signing(args ...string) []string {
	return append([]string{"sign", "-yes", "-request", "@" + f.path("request.json"), "-expect", "account=self"},
		args...)
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
	f.ok(f.signing("-expect", "amount=25.00", "-expect", "resourceId="+payout.ID)...)
	delete(f.env, client.EnvBaseURL) // it needs no host
	again := f.ok(f.signing()...)
	f.env[client.EnvBaseURL] = f.url

	confirmed := f.ok("call", "POST", "/dapi/v1/payouts/"+payout.ID+"/confirm", "-d", "@"+f.write("signed.json", again))
	assert.Contains(t, confirmed, `"transactionHash"`)
}

func TestSignAsksForConfirmation(t *testing.T) {
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
		"another amount":  {[]string{"-expect", "amount=24"}, app.ExitUsage, `"25", and that of -expect is "24"`},
		"another contact": {[]string{"-expect", "destination.contactId=ct_x"}, app.ExitUsage, "destination.contactId"},
		"another account": {[]string{"-expect", "account=cl_1"}, app.ExitUsage, `"self", and that of -expect is "cl_1"`},
		"another client":  {[]string{"-as", "cl_1"}, app.ExitUsage, `"cl_1", and that of -expect is "self"`},
		"another payout":  {[]string{"-expect", "resourceId=po_1"}, app.ExitDecision, `resourceId: it differs`},
		"a chain": {[]string{"-expect", "destination.chainId=1"}, app.ExitDecision,
			"destination.chainId: it differs"},
		"no such field": {[]string{"-expect", "colour=red"}, app.ExitUsage, "the fields are operation"},
		"no value":      {[]string{"-expect", "amount"}, app.ExitUsage, "FIELD=VALUE"},
		"no amount":     {[]string{"-expect", "amount=lots"}, app.ExitUsage, "that of -expect"},
		"too late": {[]string{"-at", time.Now().Add(time.Hour).Format(time.RFC3339)}, app.ExitDecision,
			"-at host"},
		"no time": {[]string{"-at", "noon"}, app.ExitUsage, "2026-01-31T12:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.run(append(f.signing("-d", "@"+file), c.args...)...)
			assert.Equal(t, c.code, r.code, r.stderr)
			assert.Contains(t, r.stderr, c.says)
			assert.Empty(t, r.stdout)
		})
	}
	changed := strings.Replace(response, `"amount":"25"`, `"amount":"26"`, 1)
	r := f.anyone("yes").run("sign", "-d", changed)
	assert.Equal(t, app.ExitDecision, r.code, "the booking says something else than its approval")
	assert.Contains(t, r.stderr, `got "25", want "26"`)
	r = f.run(f.signing("-d", changed)...)
	assert.Equal(t, app.ExitDecision, r.code, "and one of the two is wrong")
	assert.Contains(t, r.stderr, "the response around the approval")
}

// With -yes nobody reads the approval. What only the response says is not known: whoever sends it may have changed it.
func TestSignByItselfKnowsThePayment(t *testing.T) {
	f := newFixture(t)
	_, file := f.booked()
	all := []string{"account=self", "amount=25", "currency=USDC", "destination.contactId=" + f.funded()}
	line := func(known []string) []string {
		args := []string{"sign", "-yes", "-d", "@" + file}
		for _, one := range known {
			args = append(args, "-expect", one)
		}
		return args
	}
	f.ok(line(all)...)
	for i, one := range all {
		known := slices.Delete(slices.Clone(all), i, i+1)
		r := f.run(line(known)...)
		field, _, _ := strings.Cut(one, "=")
		assert.Equal(t, app.ExitUsage, r.code, field)
		assert.Contains(t, r.stderr, "Nothing says the "+field)
		assert.Empty(t, r.stdout)
	}
	r := f.run("sign", "-yes", "-d", "@"+file, "-request", "@"+file, "-expect", "account=self")
	assert.Equal(t, app.ExitUsage, r.code)
	assert.Contains(t, r.stderr, "it is the response")
}

// A service that changes one term of a booking, in the response and in its approval alike, gets no signature.
func TestSignComparesWithTheRequest(t *testing.T) {
	f := newFixture(t)
	_, file := f.booked()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	var booked map[string]any
	require.NoError(t, json.Unmarshal(content, &booked))
	for name, change := range map[string]func(response, payload map[string]any){
		"amount":   func(r, p map[string]any) { r["amount"], p["amount"] = "26", "26" },
		"account":  func(_, p map[string]any) { p["account"] = "cl_1" },
		"currency": func(r, p map[string]any) { r["currency"], p["currency"] = "EURC", "EURC" },
		"destination.contactId": func(r, p map[string]any) {
			r["contactId"], p["destination"] = "ct_other", map[string]any{"contactId": "ct_other"}
		},
		"destination.address": func(_, p map[string]any) { p["destination"].(map[string]any)["address"] = wallet },
		"destination.chainId": func(_, p map[string]any) { p["destination"].(map[string]any)["chainId"] = "1" },
		"operation":           func(_, p map[string]any) { p["operation"] = "escrow.approve" },
	} {
		t.Run(name, func(t *testing.T) {
			var response, payload map[string]any
			require.NoError(t, json.Unmarshal(content, &response))
			approval := response["approval"].(map[string]any)
			text, err := base64.StdEncoding.DecodeString(approval["payload"].(string))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &payload))
			change(response, payload)
			text, err = json.Marshal(payload)
			require.NoError(t, err)
			approval["payload"] = base64.StdEncoding.EncodeToString(text)
			text, err = json.Marshal(response)
			require.NoError(t, err)
			r := f.run(f.signing("-d", string(text))...)
			assert.Equal(t, app.ExitDecision, r.code, r.stderr)
			assert.Contains(t, r.stderr, name+": it differs")
			assert.Empty(t, r.stdout)
		})
	}
}

func TestSignRefusesOtherRequests(t *testing.T) {
	f := newFixture(t)
	_, file := f.booked()
	for request, says := range map[string]string{
		`{"amount":"25"}`: "no payout", `{"contactId":"ct_1","payee":"0x1"}`: "no payout", `[]`: "not the JSON",
		`{"contactId":"ct_1","amount":25}`: "not the JSON", `{"contactId":"ct_1","contactId":"ct_2"}`: "not the JSON",
		`{"contactId":"ct_1","amount":"1e3"}`: "write an amount with digits",
	} {
		r := f.run("sign", "-yes", "-d", "@"+file, "-expect", "account=self", "-request", request)
		assert.Equal(t, app.ExitUsage, r.code, request)
		assert.Contains(t, r.stderr, says, request)
	}
}

func TestSignRefusesOtherInput(t *testing.T) {
	f := newFixture(t)
	for input, says := range map[string]string{
		`{}`: "has no approval", `{"id":"po_1","status":"completed"}`: "has no approval", `[]`: "not the JSON",
		`x`: "not the JSON", `{"id":"apr_1","payload":"%%"}`: "not base64",
	} {
		r := f.anyone("yes").run("sign", "-d", input)
		assert.Equal(t, app.ExitUsage, r.code, input)
		assert.Contains(t, r.stderr, says, input)
		assert.Empty(t, r.stdout)
	}
}

// TestSignShowsUnknownFields: a signature would cover a field that nobody compares.
func TestSignShowsUnknownFields(t *testing.T) {
	f := newFixture(t)
	for name, payload := range map[string]string{
		"beneficiary": `{"account":"self","amount":"25","beneficiary":{"name":"M"},"currency":"USDC"}`,
		"payload":     "pay everything\x1b[2J",
	} {
		approval, err := json.Marshal(map[string]any{
			"id": "apr_1", "expiresAt": time.Now().Add(time.Minute),
			"payload": base64.StdEncoding.EncodeToString([]byte(payload)),
		})
		require.NoError(t, err)
		r := f.anyone("yes").run("sign", "-d", string(approval))
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
	r := f.run(f.signing("-d", "@"+file)...)
	assert.Equal(t, app.ExitDecision, r.code)
	assert.Contains(t, r.stderr, "-at host")
	f.ok(f.signing("-d", "@"+file, "-at", "host")...)
}

func TestSignEscrowAction(t *testing.T) {
	f := newFixture(t)
	f.funded()
	request := `{"payee":"` + wallet + `","amount":"5","currency":"USDC"}`
	response := f.ok("call", "POST", "/dapi/v1/escrow", "-key", "escrow-1", "-d", request)
	var escrow struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(response), &escrow))
	body := f.ok("sign", "-yes", "-d", response, "-request", request, "-expect", "account=self")
	f.ok("call", "POST", "/dapi/v1/escrow/"+escrow.ID+"/actions/escrow-1/confirm", "-d", body)
	r := f.run("sign", "-yes", "-d", response, "-request", `{"type":"release"}`, "-expect", "account=self",
		"-expect", "destination.address="+strings.ToLower(wallet), "-expect", "amount=5", "-expect", "currency=USDC")
	assert.Equal(t, app.ExitDecision, r.code, r.stderr)
	assert.Contains(t, r.stderr, "operation: it differs")
	r = f.run("sign", "-yes", "-d", response, "-request", `{"type":"approve"}`, "-expect", "account=self")
	assert.Equal(t, app.ExitUsage, r.code)
	assert.Contains(t, r.stderr, "Nothing says the amount, currency, destination.contactId.")
}

func TestSignWithEachKey(t *testing.T) {
	f := newFixture(t)
	_, file := f.booked()
	key, err := signing.GenerateEd25519()
	require.NoError(t, err)
	require.NoError(t, key.Save(f.path("ed25519.pem")))
	var body signed
	require.NoError(t, json.Unmarshal([]byte(f.ok(f.signing("-d", "@"+file, "-key-file", f.path("ed25519.pem"))...)),
		&body))
	assert.Equal(t, key.PublicKeyBase64(), body.PublicKey)
}
