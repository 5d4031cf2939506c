package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/signing"
)

// childVariable makes the test program the command: with a process of its own, it can be killed.
const childVariable = "MONEYMOVEMENT_SANDBOX_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(run(context.Background(), app.System(), os.Args[1:]))
	}
	os.Exit(m.Run())
}

// integrator returns a client with what a host announced.
func integrator(t *testing.T, a announcement) *dapi.Integrator {
	t.Helper()
	key, err := signing.LoadDeveloperKey(a.KeyFile)
	require.NoError(t, err)
	platform, err := dapi.NewIntegrator(a.BaseURL, dapi.Developer{Email: a.Email, Key: key},
		moneymovement.WithPolling(time.Millisecond, 10*time.Millisecond))
	require.NoError(t, err)
	return platform
}

// control makes a call of the controls, and decodes the response into a value unless it is nil.
func (a announcement) control(t *testing.T, method, path, body string, into any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, a.ControlURL+path, strings.NewReader(body))
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Less(t, response.StatusCode, 300, path)
	if into != nil {
		require.NoError(t, json.NewDecoder(response.Body).Decode(into))
	}
}

func (a announcement) now(t *testing.T) time.Time {
	t.Helper()
	var clock struct{ Now time.Time }
	a.control(t, http.MethodGet, "/clock", "", &clock)
	return clock.Now
}

func TestStateIsKeptInFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "data")
	flags := []string{"-o", "json", "-control", "-data", folder, "-instant"}
	stdout, stop := start(t, flags...)
	first := announced(t, stdout)
	assert.Equal(t, folder, first.DataFolder)
	assert.Equal(t, first.BaseURL+"/_console", first.ConsoleURL)
	client, err := integrator(t, first).Clients.Create(t.Context(), dapi.ClientCreate{Email: "shop@example.com"})
	require.NoError(t, err)
	first.control(t, http.MethodPut, "/settings", `{"failOneIn":7,"payoutStepAfter":"1h"}`, nil)
	first.control(t, http.MethodPost, "/clock", `{"advance":"480h"}`, nil)
	before := first.now(t)
	require.Equal(t, app.ExitFine, stop())

	for name, secret := range map[string]string{apiKeyFile: first.APIKey, accessTokenFile: first.AccessToken} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		assert.Equal(t, secret+"\n", string(content))
	}
	if runtime.GOOS != "windows" {
		files, err := os.ReadDir(folder)
		require.NoError(t, err)
		assert.Len(t, files, 5)
		for _, file := range files {
			info, err := file.Info()
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), file.Name())
		}
		info, err := os.Stat(folder)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}

	stdout, stop = start(t, flags...)
	second := announced(t, stdout)
	second.BaseURL, second.ControlURL, second.ConsoleURL = first.BaseURL, first.ControlURL, first.ConsoleURL
	assert.Equal(t, first, second, "the configuration of a client works unchanged")
	require.Equal(t, app.ExitFine, stop())

	stdout, stop = start(t, flags...)
	third := announced(t, stdout)
	assert.False(t, third.now(t).Before(before), "the clock does not run backward")
	same, err := integrator(t, third).Clients.Get(t.Context(), client.ID)
	require.NoError(t, err)
	assert.Equal(t, "shop@example.com", same.Email)
	var settings struct {
		FailOneIn       int
		PayoutStepAfter string
	}
	third.control(t, http.MethodGet, "/settings", "", &settings)
	assert.Equal(t, 7, settings.FailOneIn)
	assert.Equal(t, "0s", settings.PayoutStepAfter, "-instant wins over what was kept")

	third.control(t, http.MethodPost, "/reset", "", nil)
	assert.True(t, third.now(t).Before(before))
	require.Equal(t, app.ExitFine, stop())
	stdout, stop = start(t, flags...)
	fourth := announced(t, stdout)
	_, err = integrator(t, fourth).Clients.Get(t.Context(), client.ID)
	require.Error(t, err, "a reset goes back to the start")
	assert.Equal(t, first.APIKey, fourth.APIKey)
	require.Equal(t, app.ExitFine, stop())
}

func TestFlagsOverrideStoredState(t *testing.T) {
	folder := t.TempDir()
	key := filepath.Join(t.TempDir(), "own.pem")
	rateLimits := func(more ...string) (announcement, bool) {
		stdout, stop := start(t, append([]string{"-o", "json", "-control", "-data", folder}, more...)...)
		a := announced(t, stdout)
		var settings struct{ RateLimits bool }
		a.control(t, http.MethodGet, "/settings", "", &settings)
		require.Equal(t, app.ExitFine, stop())
		return a, settings.RateLimits
	}
	before, limited := rateLimits("-rate-limits")
	assert.True(t, limited)
	given, limited := rateLimits("-api-key", "a-test-key-of-mine", "-key-file", key, "-email", "own@example.com")
	assert.False(t, limited, "a flag is for one run")
	assert.Equal(t, "a-test-key-of-mine", given.APIKey)
	assert.Equal(t, key, given.KeyFile)
	assert.Equal(t, "own@example.com", given.Email)
	assert.NotEqual(t, before.AccessToken, given.AccessToken, "of another account")
	after, _ := rateLimits()
	assert.Equal(t, "a-test-key-of-mine", after.APIKey)
	assert.Equal(t, "own@example.com", after.Email)
	own, err := signing.LoadDeveloperKey(key)
	require.NoError(t, err)
	kept, err := signing.LoadDeveloperKey(after.KeyFile)
	require.NoError(t, err)
	assert.Equal(t, own.PublicKey(), kept.PublicKey())

	stdout, stop := start(t, "-o", "json", "-control", "-data", folder)
	announced(t, stdout).control(t, http.MethodPut, "/settings", `{"rateLimits":true}`, nil)
	require.Equal(t, app.ExitFine, stop())
	_, limited = rateLimits()
	assert.True(t, limited, "it was changed while the host ran")
	_, limited = rateLimits("-rate-limits=false")
	assert.False(t, limited)
}

func TestAppKeysThatAreChosen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte("the-key-in-the-file\n"), 0o600))
	for name, c := range map[string]struct{ flag, want string }{
		"in the command line": {"-api-key=the-key-of-the-test", "the-key-of-the-test"},
		"in a file":           {"-api-key-file=" + file, "the-key-in-the-file"},
		"on standard input":   {"-api-key-file=-", "the-key-on-standard-input"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app.App{In: strings.NewReader("the-key-on-standard-input\n"), Err: io.Discard, Getenv: os.Getenv}
			stdout, stop := startApp(t, a, "-o", "json", c.flag)
			ready := announced(t, stdout)
			assert.Equal(t, c.want, ready.APIKey)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, ready.BaseURL+"/apps/me", nil)
			require.NoError(t, err)
			request.Header.Set("X-Api-Key", c.want)
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Equal(t, http.StatusOK, response.StatusCode)
			assert.Equal(t, app.ExitFine, stop())
		})
	}
}

// A start that fails says what to change, and leaves everything as it was.
func TestFoldersWithoutHost(t *testing.T) {
	top := t.TempDir()
	file := filepath.Join(top, "file")
	require.NoError(t, os.WriteFile(file, []byte("text"), 0o600))
	short := filepath.Join(top, "short")
	require.NoError(t, os.Mkdir(short, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(short, stateFile), make([]byte, 5000), 0o600))
	inside := filepath.Join(top, "inside")
	require.NoError(t, os.MkdirAll(filepath.Join(inside, stateFile), 0o700))
	for path, c := range map[string]struct {
		code int
		says string
	}{
		file:                         {app.ExitUsage, "-data: " + file + " is a file: name a folder"},
		filepath.Join(file, "below"): {app.ExitUsage, "-data: "},
		short:                        {app.ExitFailure, "is damaged"},
		inside:                       {app.ExitFailure, "is a directory"},
	} {
		var out, problems bytes.Buffer
		code := run(t.Context(), &app.App{Out: &out, Err: &problems, Getenv: os.Getenv},
			[]string{"sandbox", "-addr", "127.0.0.1:0", "-data", path})
		assert.Equal(t, c.code, code, path)
		assert.Contains(t, problems.String(), c.says)
		assert.Empty(t, out.String())
	}
	var left []string
	require.NoError(t, filepath.WalkDir(top, func(path string, _ os.DirEntry, err error) error {
		left = append(left, filepath.ToSlash(strings.TrimPrefix(path, top)))
		return err
	}))
	assert.Equal(t, []string{"", "/file", "/inside", "/inside/host.db", "/short", "/short/host.db"}, left)
}

func TestASecondProcessIsRefused(t *testing.T) {
	testkit.Long(t, "waits for more than a second")
	folder := t.TempDir()
	stdout, stop := start(t, "-o", "json", "-data", folder)
	announced(t, stdout)
	var out, problems bytes.Buffer
	code := run(t.Context(), &app.App{Out: &out, Err: &problems, Getenv: os.Getenv},
		[]string{"sandbox", "-addr", "127.0.0.1:0", "-data", folder})
	assert.Equal(t, app.ExitFailure, code)
	assert.Contains(t, problems.String(), "another process serves a host from "+folder+": stop it")
	assert.Empty(t, out.String())
	assert.Equal(t, app.ExitFine, stop())
}

// child is the command in a process of its own.
type child struct {
	announcement
	process *exec.Cmd
}

func startChild(t *testing.T, folder string) child {
	t.Helper()
	process := exec.CommandContext(t.Context(), os.Args[0], "sandbox", "-o", "json", "-q", "-control", "-instant",
		"-seed", "-addr", "127.0.0.1:0", "-data", folder)
	process.Env = append(os.Environ(), childVariable+"=1")
	process.Stderr = os.Stderr
	stdout, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() { _, _ = process.Process.Kill(), process.Wait() })
	started := child{process: process}
	require.NoError(t, json.NewDecoder(stdout).Decode(&started.announcement))
	return started
}

// kill ends the process as kill -9 does.
func (c child) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, c.process.Process.Kill())
	_ = c.process.Wait() // it was killed
}

// What the host responded to before a kill is there after it, and an idempotency key replays.
func TestKilledHostLosesNothingConfirmed(t *testing.T) {
	testkit.Long(t, "starts and kills processes")
	folder := t.TempDir()
	confirmed := map[string]dapi.PayoutID{} // by idempotency key
	var first announcement
	for round := range 3 {
		host := startChild(t, folder)
		if round == 0 {
			first = host.announcement
		}
		assert.Equal(t, first.Seeded, host.Seeded)
		account := integrator(t, host.announcement).For(host.Seeded.Client)
		pay := func(key string) (*dapi.Payout, error) {
			paid, err := account.Payouts.Pay(t.Context(), dapi.PayoutCreate{ContactID: host.Seeded.WalletContact,
				Amount: decimal.RequireFromString("0.01"), Currency: dapi.USDC}, moneymovement.Key(key),
				dapi.PayTerms{})
			return paid.Payout, err
		}
		for key, id := range confirmed {
			again, err := pay(key)
			require.NoError(t, err)
			assert.Equal(t, id, again.ID, "%s is the same payment", key)
		}

		var mu sync.Mutex
		var wait sync.WaitGroup
		enough := make(chan struct{}, 1)
		for worker := range 4 {
			wait.Go(func() {
				for i := 0; ; i++ {
					key := fmt.Sprintf("round-%d-worker-%d-%d", round, worker, i)
					paid, err := pay(key)
					if err != nil {
						return // the process has ended
					}
					mu.Lock()
					confirmed[key] = paid.ID
					if len(confirmed) >= 8*(round+1) {
						select {
						case enough <- struct{}{}:
						default:
						}
					}
					mu.Unlock()
				}
			})
		}
		ended := make(chan struct{})
		go func() { wait.Wait(); close(ended) }()
		select {
		case <-enough:
		case <-ended:
			t.Fatal("no payment can be made")
		}
		host.kill(t)
		<-ended
	}

	host := startChild(t, folder)
	account := integrator(t, host.announcement).For(host.Seeded.Client)
	paid := map[dapi.PayoutID]int{}
	for entry, err := range account.Transactions.All(t.Context(), dapi.ListTransactionsParams{Limit: 100}) {
		require.NoError(t, err)
		paid[entry.PayoutID]++
	}
	for key, id := range confirmed {
		payout, err := account.Payouts.Get(t.Context(), id)
		require.NoError(t, err, key)
		assert.Equal(t, dapi.PayoutStatusCompleted, payout.Status, key)
		assert.Equal(t, 1, paid[id], "%s left the account once", key)
	}
	var books struct{ Sums map[string]decimal.Decimal }
	host.control(t, http.MethodGet, "/ledger", "", &books)
	assert.NotEmpty(t, books.Sums)
	for currency, sum := range books.Sums {
		assert.True(t, sum.IsZero(), currency)
	}
	host.kill(t)
}
