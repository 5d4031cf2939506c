package host_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// paid is what pay prints.
type paid struct {
	State      string
	PaidBefore bool
	Key        string
	RunAgain   string
	Payout     *struct {
		ID, Status, Amount string
	}
}

// pay runs pay, and decodes what it prints.
func (f *fixture) pay(code int, args ...string) (p paid, stderr string) {
	f.Helper()
	r := f.run(append([]string{"pay"}, args...)...)
	require.Equal(f, code, r.code, r.stderr)
	lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	require.Len(f, lines, 1, "one line for a result")
	require.NoError(f, json.Unmarshal([]byte(lines[0]), &p), r.stdout)
	return p, r.stderr
}

// balance is what the account of the key has, in USDC. It is the only account.
func (f *fixture) balance() string {
	f.Helper()
	var found []string
	for account, balances := range f.host.Ledger().Balances {
		if strings.HasPrefix(account, "acc_") {
			found = append(found, balances["USDC"].String())
		}
	}
	require.Len(f, found, 1)
	return found[0]
}

// confirms counts the confirms that the host received.
func (f *fixture) confirms() (count int) {
	for _, request := range f.host.Requests() {
		if request.Method == http.MethodPost && strings.HasSuffix(request.Path, "/confirm") {
			count++
		}
	}
	return count
}

const confirmPath = "/payouts/{payoutId}/confirm"

func TestPayPaysOnce(t *testing.T) {
	f := newFixture(t)
	contact := f.funded()
	first, shown := f.pay(app.ExitFine, "25", "usdc", "-to", contact, "-key", "invoice-42", "-yes", "-wait",
		"-every", "5ms")
	assert.Equal(t, "paid", first.State)
	assert.False(t, first.PaidBefore)
	assert.Equal(t, "completed", first.Payout.Status)
	assert.Equal(t, "65", f.balance())
	for _, part := range []string{
		"Contact " + contact + ": can be paid by", "leaves", "arrives", "fee", "destination.contactId", "payout.fund",
		"resourceId", "nonce", "expiresAt", first.Payout.ID,
	} {
		assert.Contains(t, shown, part)
	}

	again, shown := f.pay(app.ExitFine, "25", "USDC", "-to", contact, "-key", "invoice-42", "-yes")
	assert.Equal(t, "paid", again.State)
	assert.True(t, again.PaidBefore)
	assert.Equal(t, first.Payout.ID, again.Payout.ID)
	assert.NotContains(t, shown, "nonce", "nothing is signed")
	assert.Equal(t, "65", f.balance())
	assert.Equal(t, 1, f.confirms())

	f.terminal = true
	r := f.run("pay", "25", "USDC", "-to", contact, "-key", "invoice-42", "-yes")
	assert.Contains(t, r.stdout, "this run paid nothing")
}

func TestPayAsksForConfirmation(t *testing.T) {
	f := newFixture(t)
	contact := f.funded()
	line := []string{"pay", "25", "USDC", "-to", contact, "-key", "invoice-42", "-o", "json"}
	r := f.anyone("no").run(line...)
	assert.Equal(t, app.ExitDecision, r.code, r.stderr)
	var p paid
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &p))
	assert.Equal(t, "not_paid", p.State)
	assert.Contains(t, r.stderr, "Type yes")
	assert.Contains(t, r.stderr, "payout "+p.Payout.ID+" stays booked")
	assert.Contains(t, r.stderr, p.RunAgain)
	assert.Zero(t, f.confirms())
	assert.Equal(t, "90", f.balance())

	// This machine remembers that no run has signed. A run that is said to have booked may be of another machine.
	r = f.anyone("no").run(line...)
	assert.Equal(t, app.ExitDecision, r.code, r.stderr)
	assert.Contains(t, r.stderr, "not paid")
	r = f.anyone("no").run(append(f.words(p.RunAgain), "-booked-before", p.Payout.ID)...)
	assert.Equal(t, app.ExitInDoubt, r.code, r.stderr)
	assert.NotContains(t, r.stderr, "not paid")
	assert.NotContains(t, r.stderr, "dapi.", "no word of the code")
	assert.NotContains(t, r.stderr, "your function", "no word of the code")
	r = f.anyone("yes").run(f.words(p.RunAgain)...)
	assert.Equal(t, app.ExitFine, r.code, r.stderr)
	assert.Equal(t, "65", f.balance())
	assert.Equal(t, 1, f.confirms())

	booked := f.requests(http.MethodPost, "/dapi/v1/payouts")
	r = f.run("pay", "1", "USDC", "-to", contact, "-key", "invoice-43")
	assert.Equal(t, app.ExitUsage, r.code, "nobody can answer")
	assert.Contains(t, r.stderr, "-yes")
	assert.Equal(t, booked, f.requests(http.MethodPost, "/dapi/v1/payouts"), "and nothing was booked")
}

// words splits a printed command as a shell does.
func (f *fixture) words(line string) []string {
	f.Helper()
	testkit.Long(f, "starts a shell")
	shell, err := exec.LookPath("sh")
	if err != nil {
		f.Skip("there is no shell to read the printed command with")
	}
	out, err := exec.CommandContext(f.Context(), shell, "-c", `printf '%s\n' `+line).Output()
	require.NoError(f, err)
	words := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	require.Equal(f, "moneymove", words[0])
	return words[1:]
}

// A response that is lost once is settled by the run itself.
func TestPaySettlesALostResponse(t *testing.T) {
	f := newFixture(t)
	contact := f.funded()
	lost := f.host.Arm(http.MethodPost, confirmPath, sandbox.DropAfterCommit())
	p, _ := f.pay(app.ExitFine, "25", "USDC", "-to", contact, "-key", "invoice-42", "-yes")
	assert.Equal(t, "paid", p.State)
	assert.Equal(t, 1, lost.Consumed())
	assert.Equal(t, "65", f.balance())
}

// If the payout cannot be read either, the run does not know. The command that it prints pays nothing again.
func TestPayInDoubt(t *testing.T) {
	testkit.Long(t, "waits for more than a second")
	f := newFixture(t)
	contact := f.funded()
	f.host.Arm(http.MethodPost, confirmPath, sandbox.DropAfterCommit().Times(100))
	f.host.Arm(http.MethodGet, "/payouts/{payoutId}", sandbox.Respond(403, "forbidden").Times(100))
	p, stderr := f.pay(app.ExitInDoubt, "25", "USDC", "-to", contact, "-key", "invoice-42", "-yes",
		"-reference", "it's 42")
	assert.Equal(t, "in_doubt", p.State)
	assert.NotContains(t, stderr, "not paid")
	assert.Contains(t, stderr, p.RunAgain)
	assert.Contains(t, p.RunAgain, "-first-used ")
	assert.Contains(t, p.RunAgain, "-url "+f.url, "the account stays the same in another shell")
	assert.Equal(t, "65", f.balance(), "the money has left")

	f.host.DisarmAll()
	words := f.words(p.RunAgain)
	keep := f.env
	f.env = map[string]string{} // another shell
	again, _ := f.pay(app.ExitFine, words[1:]...)
	f.env = keep
	assert.Equal(t, "paid", again.State)
	assert.True(t, again.PaidBefore)
	assert.Equal(t, p.Payout.ID, again.Payout.ID)
	assert.Equal(t, "65", f.balance())
}

func TestPayIsRefused(t *testing.T) {
	f := newFixture(t)
	contact := f.funded()
	for range 2 { // the first run has signed; the second one knows that it did not pay
		p, stderr := f.pay(app.ExitRefused, "90.01", "USDC", "-to", contact, "-key", "invoice-42", "-yes")
		assert.Equal(t, "needs_decision", p.State)
		assert.Contains(t, stderr, "payout_not_fundable")
		assert.Contains(t, stderr, "docs/errors.md#payout_not_fundable")
		assert.NotContains(t, p.RunAgain, "-booked-before")
	}
	assert.Equal(t, "90", f.balance())
}

// A first run with a new key that is refused has not paid: it says so, and what to change. It never asks to run the
// same command until the outcome is known.
func TestPayIsRefusedAtTheFirstRun(t *testing.T) {
	f := newFixture(t)
	contact := f.funded()
	for name, c := range map[string]struct {
		args  []string
		code  int
		state string
		says  string
	}{
		"a typo in the contact": {[]string{"1", "USDC", "-to", "ct_none"}, app.ExitRefused, "needs_decision",
			"check the id"},
		"no such currency": {[]string{"1", "USDT", "-to", contact}, app.ExitRefused, "needs_decision",
			"currency (enum)"},
		"too many decimals": {[]string{"1.0000001", "USDC", "-to", contact}, app.ExitRefused, "needs_decision",
			"amount_precision"},
		"nobody listens": {[]string{"1", "USDC", "-to", contact, "-url", "http://127.0.0.1:1"}, app.ExitUnreachable,
			"not_paid", "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				p, stderr := f.pay(c.code, append(c.args, "-key", "invoice-43", "-yes")...)
				assert.Equal(t, c.state, p.State)
				assert.Contains(t, stderr, "not paid: ")
				assert.Contains(t, stderr, c.says)
				for _, never := range []string{"may have", "outcome", "until", "dapi."} {
					assert.NotContains(t, stderr, never)
				}
			}
		})
	}
	p, _ := f.pay(app.ExitFine, "1", "USDC", "-to", contact, "-key", "invoice-43", "-yes") // corrected
	assert.Equal(t, "paid", p.State)
	assert.Equal(t, "89", f.balance())
}

// A run that has signed and lost the response leaves a doubt, and no refusal of a later run ends it.
func TestPayIsRefusedAfterInDoubt(t *testing.T) {
	testkit.Long(t, "waits for more than a second")
	f := newFixture(t)
	contact := f.funded()
	line := []string{"25", "USDC", "-to", contact, "-key", "invoice-42", "-yes"}
	f.host.Arm(http.MethodPost, confirmPath, sandbox.DropAfterCommit().Times(100))
	f.host.Arm(http.MethodGet, "/payouts/{payoutId}", sandbox.Respond(403, "forbidden").Times(100))
	f.pay(app.ExitInDoubt, line...)
	f.host.Arm(http.MethodGet, "/transactions", sandbox.Respond(403, "forbidden").Times(100))
	f.host.Arm(http.MethodPost, "/payouts", sandbox.Respond(404, "not_found").Times(1))
	p, stderr := f.pay(app.ExitInDoubt, line...)
	assert.Equal(t, "in_doubt", p.State)
	assert.NotContains(t, stderr, "not paid")
	f.host.Arm(http.MethodPost, "/payouts", sandbox.Respond(422, "validation_failed").Times(1))
	p, stderr = f.pay(app.ExitDecision, line...)
	assert.Equal(t, "needs_decision", p.State)
	assert.Contains(t, stderr, "an earlier run with this key may have paid")
	assert.NotContains(t, stderr, "dapi.")
}

// Two runs with one key at once: the second one signs while the first one asks. The first one then signs nothing, and
// its payment is in doubt.
func TestPayWhileAnotherRunSigns(t *testing.T) {
	for name, lost := range map[string]bool{"and pays": false, "and loses the response": true} {
		t.Run(name, func(t *testing.T) {
			testkit.Long(t, "waits for more than a second")
			f := newFixture(t)
			contact := f.funded()
			line := []string{"25", "USDC", "-to", contact, "-key", "invoice-42"}
			code, state := app.ExitFine, "paid"
			if lost {
				code, state = app.ExitInDoubt, "in_doubt"
				f.host.Arm(http.MethodPost, confirmPath, sandbox.DropAfterCommit().Times(100))
				f.host.Arm(http.MethodGet, "/payouts/{payoutId}", sandbox.Respond(403, "forbidden").Times(100))
			}
			other := *f
			person := f.anyone("yes")
			person.asked = func() { other.pay(code, append(line, "-yes")...) }
			r := person.run(append([]string{"pay", "-o", "json"}, line...)...)
			assert.Equal(t, code, r.code, r.stderr)
			var p paid
			require.NoError(t, json.Unmarshal([]byte(r.stdout), &p))
			assert.Equal(t, state, p.State)
			assert.Equal(t, !lost, p.PaidBefore)
			assert.Contains(t, r.stderr, "another run is paying with this key")
			assert.NotContains(t, r.stderr, "not paid")
			assert.Equal(t, "65", f.balance())
		})
	}
}

// Without the file of the history, a refusal says what Pay knows alone.
func TestPayWithoutHistoryFile(t *testing.T) {
	f := newFixture(t)
	config := f.write("config", "a file, where a folder should be")
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("AppData", config)
	t.Setenv("HOME", config)
	p, stderr := f.pay(app.ExitInDoubt, "1", "USDC", "-to", "ct_none", "-key", "invoice-43", "-yes")
	assert.Equal(t, "in_doubt", p.State)
	assert.Contains(t, stderr, "a later run cannot know whether this one signed")
}

func TestPayNeedsADecision(t *testing.T) {
	f := newFixture(t)
	contact := f.funded()
	f.pay(app.ExitFine, "25", "USDC", "-to", contact, "-key", "invoice-42", "-yes")
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"other terms with the key": {[]string{"26", "USDC", "-to", contact, "-key", "invoice-42"}, "invoice-42"},
		"too little arrives": {[]string{"5", "USDC", "-to", contact, "-key", "invoice-43",
			"-min-destination", "6 USDC"},
			"price was refused"},
		"a key too old": {[]string{"5", "USDC", "-to", contact, "-key", "invoice-44",
			"-first-used", "2020-01-31T12:00:00Z"},
			"7 days"},
	} {
		t.Run(name, func(t *testing.T) {
			p, stderr := f.pay(app.ExitDecision, append(c.args, "-yes")...)
			assert.Equal(t, "needs_decision", p.State)
			assert.Contains(t, stderr, c.says)
		})
	}
	assert.Equal(t, "65", f.balance())
	f.pay(app.ExitFine, "5", "USDC", "-to", contact, "-key", "invoice-45", "-yes", "-max-fee", "1",
		"-min-destination", "3.5 usdc", "-purpose", "services", "-reference", "Invoice 45")
}

func TestPayoutThatFails(t *testing.T) {
	f := newFixture(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.FailOneIn = 1 }))
	contact := f.funded()
	p, stderr := f.pay(app.ExitOtherwise, "25", "USDC", "-to", contact, "-key", "invoice-42", "-yes", "-wait",
		"-every", "5ms")
	assert.Equal(t, "ended", p.State)
	assert.Equal(t, "failed", p.Payout.Status)
	assert.Contains(t, stderr, "use a new key")
	p, _ = f.pay(app.ExitOtherwise, "25", "USDC", "-to", contact, "-key", "invoice-42", "-yes")
	assert.Equal(t, "ended", p.State)
}

func TestPayRefusesInvalidInput(t *testing.T) {
	f := newFixture(t)
	for says, args := range map[string][]string{
		"-key pay-":              {"25", "USDC", "-to", "ct_1"},
		"-to is missing":         {"25", "USDC", "-key", "k"},
		"1250.50":                {"1,250", "USDC", "-to", "ct_1", "-key", "k"},
		"AMOUNT is \"1e3\"":      {"1e3", "USDC", "-to", "ct_1", "-key", "k"},
		"-max-fee is":            {"25", "USDC", "-to", "ct_1", "-key", "k", "-max-fee", "-1"},
		"'22.80 EUR'":            {"25", "USDC", "-to", "ct_1", "-key", "k", "-min-destination", "22"},
		"2026-01-31T12:00:00Z":   {"25", "USDC", "-to", "ct_1", "-key", "k", "-first-used", "monday"},
		"there is no terminal":   {"25", "USDC", "-to", "ct_1", "-key", "k"},
		"give table or json":     {"25", "USDC", "-to", "ct_1", "-key", "k", "-yes", "-o", "xml"},
		"an argument is missing": {"25", "-to", "ct_1", "-key", "k"},
	} {
		r := f.run(append([]string{"pay"}, args...)...)
		assert.Equal(t, app.ExitUsage, r.code, r.stderr)
		assert.Contains(t, r.stderr, says)
		assert.Empty(t, r.stdout)
	}
	assert.Empty(t, f.host.Requests())
	p, stderr := f.pay(app.ExitUsage, "25", "USDC", "-to", "ct_1", "-key", "two words", "-yes")
	assert.Equal(t, "needs_decision", p.State)
	assert.Contains(t, stderr, "invalid input")
	assert.Zero(t, f.requests(http.MethodPost, "/dapi/v1/payouts"))
}

// Ctrl-C says what is known, and no more.
func TestPayIsInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		method, path string
		fault        sandbox.Fault
		code         int
		state        string
	}{
		"at the booking": {http.MethodPost, "/payouts", sandbox.Delay(time.Hour), app.ExitInterrupted, "not_paid"},
		"at the confirm": {http.MethodPost, confirmPath, sandbox.Delay(time.Hour), app.ExitInDoubt, "in_doubt"},
		"at the wait": {http.MethodGet, "/payouts/{payoutId}", sandbox.Delay(time.Hour), app.ExitInterrupted,
			"paid"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			contact := f.funded()
			armed := f.host.Arm(c.method, c.path, c.fault)
			ctx, interrupt := context.WithCancel(t.Context())
			go func() {
				for armed.Consumed() == 0 && ctx.Err() == nil {
					time.Sleep(time.Millisecond)
				}
				interrupt()
			}()
			f.ctx = ctx
			p, stderr := f.pay(c.code, "25", "USDC", "-to", contact, "-key", "invoice-42", "-yes", "-wait")
			assert.Equal(t, c.state, p.State)
			assert.Equal(t, c.state == "not_paid", strings.Contains(stderr, "not paid"))
			assert.NotEmpty(t, p.RunAgain)

			f.ctx = nil
			f.host.DisarmAll()
			again, _ := f.pay(app.ExitFine, f.words(p.RunAgain)[1:]...)
			assert.Equal(t, "paid", again.State)
			assert.Equal(t, "65", f.balance())
		})
	}
}

func TestPayInterruptedAtConfirmation(t *testing.T) {
	f := newFixture(t)
	contact := f.funded()
	ctx, interrupt := context.WithCancel(t.Context())
	person := f.anyone("")
	person.stdin, person.ctx, person.asked = "", ctx, interrupt
	r := person.run("pay", "25", "USDC", "-to", contact, "-key", "invoice-42")
	assert.Equal(t, app.ExitInterrupted, r.code, r.stderr)
	assert.Contains(t, r.stderr, "stays booked")
	for _, code := range []string{"BeforeSigning", "your function", "dapi."} {
		assert.NotContains(t, r.stderr, code, "no word of the code")
	}
	assert.Zero(t, f.confirms())
}

// A person takes so long that the approval has expired at the host. The next price is shown, and asked about again.
func TestPayAsksAgainForAFreshPrice(t *testing.T) {
	f := newFixture(t)
	contact := f.funded()
	person := f.anyone("yes\nyes")
	person.asked = func() { f.host.Advance(time.Hour) }
	r := person.run("pay", "25", "USDC", "-to", contact, "-key", "invoice-42")
	assert.Equal(t, app.ExitFine, r.code, r.stderr)
	assert.Equal(t, 2, strings.Count(r.stderr, "Type yes"))
	assert.Contains(t, r.stderr, "This is a new one")
	assert.Equal(t, "65", f.balance())
}

func TestPayForAClient(t *testing.T) {
	testkit.Long(t, "waits for more than a second")
	f := newFixture(t)
	var acting struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(f.ok("call", "POST", "/dapi/v1/clients", "-d",
		`{"email":"acme@example.com","type":"business","entityName":"Acme","country":"US"}`)), &acting))
	f.env[client.EnvClient] = acting.ID
	contact := f.funded()
	f.host.Arm(http.MethodPost, "/payouts", sandbox.DropBefore().Times(100))
	p, _ := f.pay(app.ExitUnreachable, "25", "USDC", "-to", contact, "-key", "invoice-42", "-yes")
	f.host.DisarmAll()
	assert.Contains(t, p.RunAgain, "-as "+acting.ID)
	delete(f.env, client.EnvClient)
	f.pay(app.ExitFine, f.words(p.RunAgain)[1:]...)
	assert.Equal(t, "65", f.host.Ledger().Balances[acting.ID]["USDC"].String())
}
