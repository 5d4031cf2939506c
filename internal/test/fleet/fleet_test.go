// Package fleet_test has processes that share the session and the rate windows of one credential: real processes, real
// stores, and the sandbox host with rate windows on.
package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	apierrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/fleet"
	fleetredis "github.com/moneymovement/moneymovement-go/fleet/redis"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	fleetpostgres "github.com/moneymovement/moneymovement-go/payments/postgres/fleetpostgres"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// moneymovementRefusal returns the status of a refusal, or 0.
func moneymovementRefusal(err error) int {
	if refusal, ok := errors.AsType[*apierrors.Refusal](err); ok {
		return refusal.Status
	}
	return 0
}

const (
	minute = 10 * time.Second     // how long a minute of the rate windows lasts at the host
	held   = minute + time.Second // how long a call counts here: a second longer, as with real minutes
	rounds = 2                    // how many windows the processes fill

	// stated is the minute of the workers, which hold each call a sixtieth longer. A sixtieth of the host's short
	// minute would be less time than a request takes on a slow machine, and the host would refuse calls of the next
	// window.
	stated = held * 60 / 61
)

var storeKinds = map[string]func(testing.TB, ...testkit.Setting) *testkit.Server{
	"redis": testkit.Redis, "postgres": testkit.PostgreSQL,
}

// newHost starts a host with short rate windows, and returns a worker's work on it. A request for which drop returns
// true never reaches the host, and gets no response.
func newHost(t *testing.T, drop func(path string, body []byte) bool) (*sandbox.Host, work) {
	t.Helper()
	host := sandbox.New(sandbox.WithInstantProgress(),
		sandbox.WithSettings(func(s *sandbox.Settings) { s.RateMinute = sandbox.Duration(minute) }))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && drop(r.URL.Path, body) {
			<-r.Context().Done() // the client has gone
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		host.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	credentials := host.Credentials()
	key := filepath.Join(t.TempDir(), "developer.pem")
	require.NoError(t, credentials.Key.Save(key))
	platform, err := dapi.NewIntegrator(server.URL, dapi.Developer{Email: credentials.Email, Key: credentials.Key})
	require.NoError(t, err)
	client, err := platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: "fleet@example.com",
		Type: dapi.ClientTypeBusiness, EntityName: "Example"})
	require.NoError(t, err)
	require.NoError(t, host.Configure(func(s *sandbox.Settings) { s.RateLimits = true }))
	return host, work{BaseURL: server.URL, Email: credentials.Email, Key: key, Client: client.ID, Minute: stated}
}

// start starts a worker as a process of its own, and returns how to wait for its report.
func (w work) start(t *testing.T) (*exec.Cmd, func() result) {
	t.Helper()
	given, err := json.Marshal(w)
	require.NoError(t, err)
	process := exec.CommandContext(t.Context(), os.Args[0])
	process.Env = append(os.Environ(), workVariable+"="+string(given))
	var out, failure bytes.Buffer
	process.Stdout, process.Stderr = &out, &failure
	require.NoError(t, process.Start())
	return process, func() (result result) {
		err := process.Wait()
		if assert.NoError(t, err, failure.String()) {
			assert.NoError(t, json.Unmarshal(out.Bytes(), &result))
		}
		return result
	}
}

// Many processes with one credential log in once, use the whole window, and are never refused. Those that are killed
// hold up nobody for long: the first is killed in its login, so that its lock has to end by itself, and the others
// after their first call, one at once, and one when its calls wait for slots.
func TestAFleetOfProcesses(t *testing.T) {
	for kind, start := range storeKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			testFleet(t, kind, start(t).URL(), testkit.Size(8, 16))
		})
	}
}

func testFleet(t *testing.T, kind, store string, processes int) {
	t.Helper()
	const lock = 15 * time.Second // how long the lock of a login outlasts its process
	var dropLogin atomic.Bool
	inLogin := make(chan struct{})
	afterCall := []chan struct{}{make(chan struct{}), make(chan struct{})}
	signals := map[string]func(){
		"killed 0": sync.OnceFunc(func() { close(afterCall[0]) }),
		"killed 1": sync.OnceFunc(func() { close(afterCall[1]) }),
	}
	var began atomic.Pointer[time.Time] // when a process that is not killed first wrote
	host, w := newHost(t, func(path string, body []byte) bool {
		if bytes.Contains(body, []byte("Example contact")) && !bytes.Contains(body, []byte("Example contact killed")) {
			began.CompareAndSwap(nil, new(time.Now()))
		}
		if strings.HasSuffix(path, "/auth/token") && dropLogin.CompareAndSwap(true, false) {
			close(inLogin)
			return true
		}
		for name, signal := range signals {
			if bytes.Contains(body, []byte("Example contact "+name)) {
				signal()
			}
		}
		return false
	})
	w.Store, w.StoreURL = kind, store
	before := len(host.Requests())
	w.Callers, w.For = 4, 2*time.Minute
	dropLogin.Store(true)
	w.Name = "killed in login"
	process, _ := w.start(t)
	await(t, inLogin, "the login of the process that is killed in it")
	require.NoError(t, process.Process.Kill())
	for i, called := range afterCall {
		w.Name = fmt.Sprint("killed ", i)
		process, _ := w.start(t)
		go func() {
			<-called
			<-time.After(time.Duration(i) * time.Second)
			assert.NoError(t, process.Process.Kill())
		}()
	}
	w.For = lock + (rounds-1)*held + held/2 + 4*time.Second
	together := run(t, w, processes)
	assert.Zero(t, together.Limited)
	assert.Empty(t, together.Failed)
	for i, called := range afterCall {
		await(t, called, fmt.Sprint("a call of the process killed ", i))
	}
	require.NotNil(t, began.Load())
	check(t, host.Requests()[before:], *began.Load())
}

// await waits for a channel to be closed.
func await(t *testing.T, closed <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		require.Fail(t, "a minute has passed without "+what)
	}
}

func run(t *testing.T, w work, processes int) (together result) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range processes {
		w.Name = fmt.Sprint(i)
		_, wait := w.start(t)
		all.Go(func() {
			result := wait()
			mu.Lock()
			defer mu.Unlock()
			together.Saved += result.Saved
			together.Limited += result.Limited
			together.Failed = append(together.Failed, result.Failed...)
		})
	}
	all.Wait()
	return together
}

// check reads the host's log: one login, nothing over a window, and most of the window used. Slots are lost with killed
// processes, and on a machine that is slow because of other work.
func check(t *testing.T, requests []sandbox.Request, began time.Time) {
	t.Helper()
	var logins, limited int
	var writes []time.Time
	for _, r := range requests {
		switch {
		case r.Status == 429:
			limited++
		case r.Operation == "CreateToken":
			logins++
		case r.Operation == "CreateContact":
			writes = append(writes, r.Time)
		}
	}
	assert.Equal(t, 1, logins)
	assert.Zero(t, limited)
	require.NotEmpty(t, writes)
	used := 0
	// On a slow machine, those that are killed write long before the others do.
	for _, first := range []time.Time{writes[0], began} {
		since := 0
		for _, at := range writes {
			if !at.Before(first) && at.Before(first.Add((rounds-1)*held+held/2)) {
				since++
			}
		}
		used = max(used, since)
	}
	t.Logf("%d of %d used", used, rounds*120)
	assert.GreaterOrEqual(t, used, rounds*120*3/4)
}

// work is what a worker does. The test hands it to a process in an environment variable.
type work struct {
	Name, Store, StoreURL string
	BaseURL, Email, Key   string // the key is in a file
	Client                dapi.ClientID
	Callers               int           // at the same time
	Minute                time.Duration // of the rate windows that the worker states
	For                   time.Duration
}

// result is what a worker reports.
type result struct {
	Saved   int
	Limited int      // refused by the service
	Failed  []string // other errors than the end of the time
}

const workVariable = "MONEYMOVEMENT_FLEET_WORK"

// TestMain does the work of a process that a test started.
func TestMain(m *testing.M) {
	given := os.Getenv(workVariable)
	if given == "" {
		os.Exit(m.Run())
	}
	var w work
	err := json.Unmarshal([]byte(given), &w)
	var result result
	if err == nil {
		result, err = w.do(context.Background())
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// stores opens the two parts of a fleet in a store, and returns how to close it.
func stores(
	ctx context.Context, kind, url, credential string, options ...fleet.Option,
) (dapi.SessionLocker, *fleet.Limiter, func(), error) {
	if kind == "redis" {
		parsed, err := redis.ParseURL(url)
		if err != nil {
			return nil, nil, nil, err
		}
		client := redis.NewClient(parsed)
		limiter, err := fleetredis.NewLimiter(client, credential, options...)
		if err != nil {
			return nil, nil, nil, err
		}
		store, err := fleetredis.NewTokenStore(client, credential, fleetredis.WithEncryption(make([]byte, 32)))
		return store, limiter, func() { client.Close() }, err
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := fleetpostgres.Migrate(ctx, pool, ""); err != nil {
		return nil, nil, nil, err
	}
	limiter, err := fleetpostgres.NewLimiter(pool, "", credential, options...)
	if err != nil {
		return nil, nil, nil, err
	}
	store, err := fleetpostgres.NewTokenStore(pool, credential, fleetpostgres.WithEncryption(make([]byte, 32)))
	return store, limiter, pool.Close, err
}

// scaled returns the stated windows with a shorter minute.
func scaled(minute time.Duration) (options []fleet.Option) {
	for window, allowance := range moneymovement.StatedWindows() {
		minutes := int(allowance.Per / time.Minute)
		allowance.Per = time.Duration(minutes) * minute
		options = append(options, fleet.WithWindow(window, allowance))
	}
	return options
}

// do saves contacts from many goroutines until the time is over.
func (w work) do(ctx context.Context) (result result, err error) {
	key, err := signing.LoadDeveloperKey(w.Key)
	if err != nil {
		return result, err
	}
	developer := dapi.Developer{Email: w.Email, Key: key, StoreRequired: true}
	store, limiter, closeStore, err := stores(ctx, w.Store, w.StoreURL, developer.Credential(w.BaseURL),
		scaled(w.Minute)...)
	if err != nil {
		return result, err
	}
	defer closeStore()
	developer.Store = store
	platform, err := dapi.NewIntegrator(w.BaseURL, developer, moneymovement.WithRateLimiter(limiter),
		moneymovement.WithHTTPClient(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: w.Callers}}),
		moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}))
	if err != nil {
		return result, err
	}
	ctx, cancel := context.WithTimeout(ctx, w.For)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for caller := range w.Callers {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				_, err := platform.For(w.Client).Contacts.Create(ctx, dapi.ContactCreate{
					Name: fmt.Sprintf("Example contact %s-%d-%d", w.Name, caller, i),
					Account: dapi.Onchain(dapi.OnchainAccount{ChainID: "base", Currency: "USDC",
						WalletAddress: fmt.Sprintf("0x%040x", i+1+1000*(caller+1))}),
				})
				mu.Lock()
				result.count(ctx, err)
				mu.Unlock()
				if late, ok := errors.AsType[*moneymovement.WindowFull](err); ok && !late.Closed {
					return // no room before the end
				}
			}
		})
	}
	all.Wait()
	return result, nil
}

func (d *result) count(ctx context.Context, err error) {
	refused := moneymovementRefusal(err)
	switch {
	case err == nil:
		d.Saved++
	case refused == http.StatusTooManyRequests:
		d.Limited++
	case ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) && len(d.Failed) < 5:
		d.Failed = append(d.Failed, err.Error())
	}
}
