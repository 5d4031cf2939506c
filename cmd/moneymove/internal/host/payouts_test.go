package host_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// slow is a host whose payouts take an hour of its clock for each step.
func slow() sandbox.Option {
	return sandbox.WithSettings(func(s *sandbox.Settings) { s.SetProgress(time.Hour) })
}

// made pays and returns the payout's id.
func (f *fixture) made(amount, key string) string {
	f.Helper()
	p, _ := f.pay(app.ExitFine, amount, "USDC", "-to", f.contact(), "-key", key, "-yes")
	return p.Payout.ID
}

// contact returns the contact of funded without a deposit.
func (f *fixture) contact() string {
	f.Helper()
	var made struct{ ID string }
	require.NoError(f, json.Unmarshal([]byte(f.ok("contacts", "create", "-wallet", wallet)), &made))
	return made.ID
}

type payout struct{ ID, Status string }

// statusOf runs a command that prints a payout.
func (f *fixture) statusOf(code int, args ...string) (status, stderr string) {
	f.Helper()
	r := f.run(args...)
	require.Equal(f, code, r.code, r.stderr)
	var p payout
	require.NoError(f, json.Unmarshal([]byte(r.stdout), &p), r.stdout)
	return p.Status, r.stderr
}

// waitedTooShort waits for a payout that goes on after the wait. The time of a wait is real: on a slow machine it can
// be over before the payout was read once, and the command prints none. So the time grows until it is enough for that.
func (f *fixture) waitedTooShort(id string) (r result) {
	f.Helper()
	for timeout := time.Millisecond; r.stdout == "" && timeout < time.Minute; timeout *= 2 {
		r = f.run("payouts", "wait", id, "-timeout", timeout.String(), "-every", "5ms")
		require.Equal(f, app.ExitInDoubt, r.code, r.stderr)
	}
	return r
}

func TestPayoutsGetAndWait(t *testing.T) {
	f := newFixture(t, slow())
	f.funded()
	id := f.made("25", "invoice-42")
	status, _ := f.statusOf(app.ExitFine, "payouts", "get", id)
	assert.NotEqual(t, "completed", status)

	waited := f.waitedTooShort(id)
	var last payout
	require.NoError(t, json.Unmarshal([]byte(waited.stdout), &last), waited.stdout)
	assert.NotEqual(t, "completed", last.Status)
	assert.Contains(t, waited.stderr, "is still "+last.Status)

	f.host.Advance(24 * time.Hour)
	status, _ = f.statusOf(app.ExitFine, "payouts", "wait", id, "-every", "5ms")
	assert.Equal(t, "completed", status)
	f.terminal = true
	assert.Contains(t, f.ok("payouts", "get", id), "idempotency key  invoice-42")
}

func TestPayoutsThatFailed(t *testing.T) {
	f := newFixture(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.FailOneIn = 1 }))
	f.funded()
	id := f.made("25", "invoice-42")
	for _, args := range [][]string{{"payouts", "wait", id, "-every", "5ms"}, {"payouts", "get", id}} {
		status, stderr := f.statusOf(app.ExitOtherwise, args...)
		assert.Equal(t, "failed", status)
		assert.Contains(t, stderr, "ended with status failed")
	}
}

func TestPayoutsRefusals(t *testing.T) {
	f := newFixture(t)
	for _, args := range [][]string{{"payouts", "get", "po_none"}, {"payouts", "wait", "po_none"}} {
		r := f.run(args...)
		assert.Equal(t, app.ExitRefused, r.code, r.stderr)
		assert.Contains(t, r.stderr, "docs/errors.md#")
		assert.Empty(t, r.stdout)
	}
	for says, args := range map[string][]string{
		"-timeout is 0s":         {"payouts", "wait", "po_1", "-timeout", "0"},
		"-every is 1ns":          {"payouts", "wait", "po_1", "-every", "1ns"},
		"an argument is missing": {"payouts", "get"},
	} {
		r := f.run(args...)
		assert.Equal(t, app.ExitUsage, r.code)
		assert.Contains(t, r.stderr, says)
	}
	assert.Zero(t, f.requests(http.MethodGet, "/dapi/v1/payouts/po_1"))
}

func TestCompletionOfPayouts(t *testing.T) {
	f := newFixture(t)
	f.funded()
	id := f.made("25", "invoice-42")
	suggestions := f.ok("__complete", "payouts", "get", "")
	assert.Contains(t, suggestions, id+"\t25 USDC")
	assert.Equal(t, 1, strings.Count(suggestions, "po_"))
	f.env = nil
	assert.NotContains(t, f.ok("__complete", "payouts", "get", ""), "po_")
}
