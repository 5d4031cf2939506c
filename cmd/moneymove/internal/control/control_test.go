package control_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/control"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// noon is the host's time in tests, which moves only when it is advanced.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// served is a host with controls on a port.
type served struct {
	*sandbox.Host
	url string
}

func start(t *testing.T, options ...sandbox.Option) served {
	t.Helper()
	host := sandbox.New(append([]sandbox.Option{
		sandbox.WithControl(), sandbox.WithInstantProgress(),
		sandbox.WithClock(func() time.Time { return noon }),
	}, options...)...)
	server := httptest.NewServer(host)
	t.Cleanup(server.Close)
	return served{host, server.URL}
}

// ended is what a command left behind.
type ended struct {
	code        int
	out, errors string
}

// moneymove runs a command for a host, as a person at a terminal does.
func (s served) moneymove(t *testing.T, args ...string) ended {
	t.Helper()
	return run(t, s.url+"/_host", "", args...)
}

func run(t *testing.T, controlURL, input string, args ...string) ended {
	t.Helper()
	var out, errors bytes.Buffer
	a := &app.App{
		In: strings.NewReader(input), Out: &out, Err: &errors, Terminal: true, InTerminal: input != "",
		ErrTerminal: true,
		Getenv: func(name string) string {
			return map[string]string{control.URLVariable: controlURL, "NO_COLOR": "1"}[name]
		},
	}
	code := a.Run(t.Context(), root(a), args)
	return ended{code, out.String(), errors.String()}
}

func root(a *app.App) *cobra.Command {
	command := &cobra.Command{Use: "moneymove"}
	keys := &cobra.Command{Use: "keys"}
	keys.AddCommand(control.KeyCommands(a)...)
	command.AddCommand(keys)
	command.AddCommand(control.Commands(a)...)
	return command
}

// get makes a request that the service refuses, for the log.
func (s served) get(t *testing.T, path string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
}

func TestClock(t *testing.T) {
	host := start(t)
	assert.Equal(t, ended{out: "2026-05-01T12:00:00Z\n"}, host.moneymove(t, "clock"))
	assert.Equal(t, ended{out: "2026-05-01T12:01:01Z\n"}, host.moneymove(t, "clock", "advance", "61s"))
	assert.Equal(t, ended{out: "2026-06-30T12:01:01Z\n"}, host.moneymove(t, "clock", "advance", "60d"))
	assert.Equal(t, noon.Add(61*time.Second+60*24*time.Hour), host.Now())
	for _, wrong := range []string{"0s", "soon", "-1h", "d", "1.5d", "999999999d"} {
		got := host.moneymove(t, "clock", "advance", "--", wrong)
		assert.Equal(t, app.ExitUsage, got.code, wrong)
		assert.Contains(t, got.errors, "not a duration", wrong)
	}
}

func TestFaultsHappen(t *testing.T) {
	host := start(t)
	got := host.moneymove(t, "fault", "arm", "any", "/utils/rates/{currency}", "respond",
		"-status", "503", "-slug", "provider_unavailable", "-header", "Retry-After: 1", "-times", "2",
		"-details", `{"partner":"rates"}`)
	require.Equal(t, app.ExitFine, got.code, got.errors)

	response, err := http.Get(host.url + "/utils/rates/EUR")
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	assert.Equal(t, "1", response.Header.Get("Retry-After"))
	assert.Contains(t, string(body), `"partner":"rates"`)

	assert.Equal(t, app.ExitFine, host.moneymove(t, "fault", "arm", "post", "/payouts", "drop_before").code)
	assert.Equal(t, app.ExitFine, host.moneymove(t, "fault", "arm", "GET", "/chains", "delay", "-delay", "2s").code)
	assert.Equal(t, ended{out: "flt_2 is disarmed.\n"}, host.moneymove(t, "fault", "disarm", "flt_2"))
	host.get(t, "/utils/rates/EUR")
	assert.Equal(t, `FAULT  METHOD  PATH                     KIND         HAPPENED  OF  STATE
flt_1  any     /utils/rates/{currency}  respond             2   2  used up
flt_2  POST    /payouts                 drop_before         0   1  disarmed
flt_3  GET     /chains                  delay               0   1  armed
`, host.moneymove(t, "fault", "list").out)
	assert.Equal(t, ended{out: "Every fault is disarmed.\n"}, host.moneymove(t, "fault", "disarm", "-all"))
	assert.NotContains(t, host.moneymove(t, "fault", "list").out, " armed")
}

func TestFaultKinds(t *testing.T) {
	host := start(t)
	flags := map[string][]string{
		"drop_before": nil, "drop_after_commit": nil, "expire_token": nil, "repeat": nil,
		"respond": {"-status", "200", "-body", "{}"}, "garbage": {"-status", "502", "-after-commit"},
		"truncate": {"-keep", "3"}, "delay": {"-delay", "1ms", "-after-commit"}, "duplicate": {"-after", "1m"},
		"foreign": {"-other-account"},
	}
	for kind, more := range flags {
		got := host.moneymove(t, append([]string{"fault", "arm", "GET", "/chains", kind}, more...)...)
		assert.Equal(t, app.ExitFine, got.code, got.errors)
	}
	assert.Equal(t, len(flags)+1, strings.Count(host.moneymove(t, "fault", "list").out, "\n"))
	suggested := host.moneymove(t, "__complete", "fault", "arm", "GET", "/chains", "").out
	for kind := range flags {
		assert.Contains(t, suggested, kind+"\t")
	}
}

func TestWrongFaults(t *testing.T) {
	host := start(t)
	for says, args := range map[string][]string{
		"no kind of fault":       {"GET", "/chains", "explode"},
		"delay has no -keep":     {"GET", "/chains", "delay", "-keep", "1"},
		"garbage has no -body":   {"GET", "/chains", "garbage", "-body", "x"},
		"give 1 or more":         {"GET", "/chains", "garbage", "-times", "0"},
		"not a JSON object":      {"GET", "/chains", "respond", "-details", "[1]"},
		"is not a header":        {"GET", "/chains", "respond", "-header", "Retry-After"},
		"an argument is missing": {"GET", "/chains"},
		"invalid argument":       {"GET", "/chains", "delay", "-delay", "soon"},
	} {
		got := host.moneymove(t, append([]string{"fault", "arm"}, args...)...)
		assert.Equal(t, app.ExitUsage, got.code, says)
		assert.Contains(t, got.errors, says)
	}
	got := host.moneymove(t, "fault", "arm", "POST", "/payout", "garbage")
	assert.Equal(t, app.ExitRefused, got.code)
	assert.Contains(t, got.errors, "did you mean POST /dapi/v1/payouts")
	got = host.moneymove(t, "fault", "arm", "POST", "/payouts", "delay")
	assert.Equal(t, app.ExitRefused, got.code)
	assert.Contains(t, got.errors, "validation_failed")
	assert.Equal(t, app.ExitUsage, host.moneymove(t, "fault", "disarm").code)
	assert.Equal(t, app.ExitUsage, host.moneymove(t, "fault", "disarm", "flt_1", "-all").code)
	got = host.moneymove(t, "fault", "disarm", "flt_9")
	assert.Equal(t, app.ExitRefused, got.code, "the host has controls, and no such fault")
	assert.Contains(t, got.errors, "not_found")
}

func TestSettings(t *testing.T) {
	host := start(t)
	assert.Equal(t, ended{out: `SETTING          VALUE
payoutStepAfter  1h0m0s
railsHidden      sepa,ach
requireLowS      true
failOneIn        3
maxCredit        250
`}, host.moneymove(t, "settings", "set", "payoutstepafter=1h", "railsHidden=sepa,ach", "requireLowS=true",
		"failOneIn=3", "maxCredit=250"))
	settings := host.Settings()
	assert.Equal(t, sandbox.Duration(time.Hour), settings.PayoutStepAfter)
	assert.Equal(t, []string{"sepa", "ach"}, settings.RailsHidden)
	assert.True(t, settings.RequireLowS)
	assert.Equal(t, 3, settings.FailOneIn)
	assert.Equal(t, ended{out: "SETTING      VALUE  WHAT IT DOES\n" +
		"requireLowS  true   Refuse ECDSA signatures with a high S.\n"},
		host.moneymove(t, "settings", "get", "requireLowS"))
	assert.Equal(t, ended{out: "SETTING      VALUE\nrailsHidden\n"},
		host.moneymove(t, "settings", "set", "railsHidden="))

	for says, args := range map[string][]string{
		"did you mean railsHidden": {"hidden=sepa"},
		"has no setting \"nope\"":  {"nope=1"},
		"is not NAME=VALUE":        {"requireLowS"},
		"give true or false":       {"requireLowS=perhaps"},
		"give a whole number":      {"failOneIn=2.5"},
		"given twice":              {"failOneIn=2", "FailOneIn=3"},
		"an argument is missing":   {},
	} {
		got := host.moneymove(t, append([]string{"settings", "set"}, args...)...)
		assert.Equal(t, app.ExitUsage, got.code, says)
		assert.Contains(t, got.errors, says)
	}
	got := host.moneymove(t, "settings", "set", "failOneIn=-1")
	assert.Equal(t, app.ExitRefused, got.code)
	assert.Contains(t, got.errors, "failOneIn must not be negative")
	assert.Equal(t, app.ExitUsage, host.moneymove(t, "settings", "get", "nope").code)
}

func TestLedgerByMovement(t *testing.T) {
	host := start(t)
	assert.Equal(t, ended{out: `MOVEMENT   TIME                  KIND         RESOURCE  ACCOUNT    AMOUNT  CURRENCY
mv_000001  2026-05-01T12:00:00Z  faucet_fill            outside  -1000000  USDC
                                                        faucet    1000000  USDC
                                                        outside  -1000000  EURC
                                                        faucet    1000000  EURC
                                                        =               0  EURC
                                                        =               0  USDC
all                                                     =               0  EURC
all                                                     =               0  USDC
`}, host.moneymove(t, "ledger"))
	assert.NotContains(t, host.moneymove(t, "ledger", "-account", "fees").out, "faucet_fill")
	assert.Contains(t, host.moneymove(t, "ledger", "-account", "faucet").out, "faucet_fill")

	var l struct {
		Movements []struct {
			Movement string
			Entries  []struct{ Account, Amount, Currency string }
			Sums     map[string]string
		}
		Balances map[string]map[string]string
	}
	require.NoError(t, json.Unmarshal([]byte(host.moneymove(t, "ledger", "-o", "json").out), &l))
	require.Len(t, l.Movements, 1)
	assert.Len(t, l.Movements[0].Entries, 4)
	assert.Equal(t, map[string]string{"USDC": "0", "EURC": "0"}, l.Movements[0].Sums)
	assert.Equal(t, "1000000", l.Balances["faucet"]["USDC"])
}

func TestRequestsAreFiltered(t *testing.T) {
	host := start(t)
	host.get(t, "/dapi/v1/chains")
	host.get(t, "/utils/rates/EUR")
	host.get(t, "/elsewhere/%1b%5B2J")
	assert.Equal(t, `401  GET     /dapi/v1/chains                               unauthenticated
200  GET     /utils/rates/EUR
404  GET     /elsewhere/·[2J                               not_found
`, host.moneymove(t, "requests").out)
	assert.Equal(t, "200  12:00:00.000  GET     /utils/rates/EUR\n",
		host.moneymove(t, "requests", "-v", "-path", "rates").out)
	for filter, count := range map[string]int{
		"-status=4xx": 2, "-status=401": 1, "-status=0": 0, "-slug=not_found": 1, "-path=/dapi": 1,
		"-path=/utils/rates/*": 1,
		"-path=/utils/*":       0, "-account=self": 0, "-last=2": 2, "-last=9": 3, "-n=1": 1,
	} {
		got := host.moneymove(t, "requests", filter)
		assert.Equal(t, app.ExitFine, got.code, got.errors)
		assert.Equal(t, count, strings.Count(got.out, "\n"), filter)
	}
	for _, wrong := range []string{"-status=ok", "-status=9999", "-path=[*", "-last=-1"} {
		assert.Equal(t, app.ExitUsage, host.moneymove(t, "requests", wrong).code, wrong)
	}
	var all struct{ Items []struct{ Path, Slug string } }
	require.NoError(t, json.Unmarshal([]byte(host.moneymove(t, "requests", "-o", "json", "-status", "4xx").out), &all))
	require.Len(t, all.Items, 2)
	assert.Equal(t, "/dapi/v1/chains", all.Items[0].Path)
}

func TestKeysAreRegisteredByFile(t *testing.T) {
	host := start(t)
	key, err := signing.Generate()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "developer.pem")
	require.NoError(t, key.Save(file))
	got := host.moneymove(t, "keys", "register", file, "-email", "new@example.com", "-scope", "read", "-allow",
		"127.0.0.1")
	require.Equal(t, app.ExitFine, got.code, got.errors)
	assert.Contains(t, got.out, "new@example.com")
	assert.Contains(t, got.out, "127.0.0.1")
	require.Len(t, host.Keys(), 2)
	added := host.Keys()[slices.IndexFunc(host.Keys(), func(k sandbox.DeveloperKey) bool {
		return k.ID != host.Credentials().KeyID
	})]
	assert.Equal(t, key.PublicKey(), added.PublicKey)
	assert.Equal(t, []string{"read"}, added.Scopes)
	assert.Contains(t, host.moneymove(t, "keys", "list").out, added.ID)

	assert.Equal(t, app.ExitRefused, host.moneymove(t, "keys", "register", file, "-scope", "all").code)
	assert.Equal(t, ended{out: added.ID + " is deleted.\n"}, host.moneymove(t, "keys", "delete", added.ID))
	assert.Len(t, host.Keys(), 1)
	assert.Equal(t, app.ExitRefused, host.moneymove(t, "keys", "delete", added.ID).code)
	assert.Equal(t, app.ExitUsage, host.moneymove(t, "keys", "delete", "").code)

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	got = run(t, host.url+"/_host", string(text), "keys", "register", "-", "-email", "input@example.com")
	assert.Equal(t, app.ExitFine, got.code, got.errors)
	require.NoError(t, os.WriteFile(file, []byte("no key"), 0o600))
	assert.Equal(t, app.ExitUsage, host.moneymove(t, "keys", "register", file).code)
	assert.Equal(t, app.ExitUsage, host.moneymove(t, "keys", "register", file+".absent").code)
}

func TestResetAsksForConfirmation(t *testing.T) {
	host := start(t)
	host.Advance(time.Hour)
	got := host.moneymove(t, "reset")
	assert.Equal(t, app.ExitUsage, got.code)
	assert.Contains(t, got.errors, "-yes")
	got = run(t, host.url+"/_host", "no\n", "reset")
	assert.Equal(t, app.ExitFailure, got.code)
	assert.Equal(t, noon.Add(time.Hour), host.Now())
	got = run(t, host.url+"/_host", "yes\n", "reset")
	assert.Equal(t, app.ExitFine, got.code, got.errors)
	assert.Equal(t, noon, host.Now())
	host.Advance(time.Hour)
	assert.Equal(t, app.ExitFine, host.moneymove(t, "reset", "-yes").code)
	assert.Equal(t, noon, host.Now())
}

func TestHostWithoutControls(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := "http://" + listener.Addr().String() + "/_host"
	require.NoError(t, listener.Close())
	got := run(t, nobody, "", "clock")
	assert.Equal(t, app.ExitUnreachable, got.code)
	assert.Contains(t, got.errors, "moneymove sandbox -control")
	assert.Contains(t, got.errors, nobody)

	plain := httptest.NewServer(sandbox.New())
	defer plain.Close()
	for _, args := range [][]string{{"clock"}, {"ledger"}, {"fault", "disarm", "-all"}, {"reset", "-yes"}} {
		got = run(t, plain.URL+"/_host", "", args...)
		assert.Equal(t, app.ExitUnreachable, got.code, args)
		assert.Contains(t, got.errors, "start it with -control", args)
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>")
	}))
	defer page.Close()
	got = run(t, page.URL, "", "clock")
	assert.Equal(t, app.ExitFailure, got.code)
	assert.Contains(t, got.errors, "cannot read")

	for _, wrong := range []string{"127.0.0.1:8080", "ftp://127.0.0.1", "http://", "http://a/?b=c", ":"} {
		assert.Equal(t, app.ExitUsage, run(t, nobody, "", "clock", "-control-url", wrong).code, wrong)
	}
	host := start(t)
	assert.Equal(t, app.ExitFine, run(t, nobody, "", "clock", "-control-url", host.url+"/_host/").code, "the flag wins")
}

// A change whose response is lost may have been made.
func TestLostChangeIsInDoubt(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	defer silent.Close()
	assert.Equal(t, app.ExitInDoubt, run(t, silent.URL, "", "clock", "advance", "1s").code)
	assert.Equal(t, app.ExitUnreachable, run(t, silent.URL, "", "clock").code)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := &app.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: os.Getenv}
	assert.Equal(t, app.ExitInterrupted, a.Run(ctx, root(a), []string{"clock", "-control-url", silent.URL}))
}

// Every command prints JSON that decodes.
func TestJSON(t *testing.T) {
	host := start(t)
	for _, line := range []string{
		"clock", "clock advance 1s", "fault arm GET /chains garbage", "fault list", "fault disarm flt_1",
		"fault disarm -all", "settings get", "settings set failOneIn=2", "ledger", "requests", "keys list",
		"reset -yes",
	} {
		got := host.moneymove(t, append(strings.Fields(line), "-o", "json")...)
		assert.Equal(t, app.ExitFine, got.code, "%s: %s", line, got.errors)
		var result map[string]any
		assert.NoError(t, json.Unmarshal([]byte(got.out), &result), "%s: %s", line, got.out)
		assert.NotEmpty(t, result, line)
	}
}

func TestControlCompletion(t *testing.T) {
	host := start(t)
	assert.Contains(t, host.moneymove(t, "__complete", "settings", "set", "pay").out, "payoutStepAfter=\n")
	assert.Contains(t, host.moneymove(t, "__complete", "settings", "get", "").out, "kybDecision\n")
	assert.Contains(t, host.moneymove(t, "__complete", "keys", "delete", "").out, host.Credentials().KeyID)
	require.Equal(t, app.ExitFine, host.moneymove(t, "fault", "arm", "GET", "/chains", "garbage").code)
	assert.Contains(t, host.moneymove(t, "__complete", "fault", "disarm", "").out, "flt_1\tgarbage /chains")
	assert.Contains(t, host.moneymove(t, "__complete", "clock", "-o", "").out, "json")
	got := run(t, "http://127.0.0.1:1/_host", "", "__complete", "keys", "delete", "")
	assert.Equal(t, app.ExitFine, got.code, "without a host there is nothing to suggest")
}
