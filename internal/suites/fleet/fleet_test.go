package fleet_test

import (
	"bytes"
	"encoding/json"
	stderrors "errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/servers"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// moneymovementRefusal returns the status of a refusal, or 0.
func moneymovementRefusal(err error) int {
	if refusal, ok := stderrors.AsType[*errors.Refusal](err); ok {
		return refusal.Status
	}
	return 0
}

// minute is how long a minute of the rate windows lasts here. A call is held a sixtieth longer.
const (
	minute = 10 * time.Second
	held   = minute + minute/60
	rounds = 2 // how many windows the processes fill
)

var storeKinds = map[string]func(testing.TB, ...servers.Setting) *servers.Server{
	"redis": servers.Redis, "postgres": servers.PostgreSQL,
}

// newHost starts a host with short rate windows, and returns a worker's work on it.
func newHost(t *testing.T) (*sandbox.Host, work) {
	t.Helper()
	host := sandbox.New(sandbox.WithInstantProgress(),
		sandbox.WithSettings(func(s *sandbox.Settings) { s.RateMinute = sandbox.Duration(minute) }))
	server := httptest.NewServer(host)
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
	return host, work{BaseURL: server.URL, Email: credentials.Email, Key: key, Client: client.ID, Minute: minute}
}

// start starts a worker as a process of its own, and returns how to wait for its report.
func (w work) start(t *testing.T) (*exec.Cmd, func() done) {
	t.Helper()
	given, err := json.Marshal(w)
	require.NoError(t, err)
	process := exec.CommandContext(t.Context(), os.Args[0])
	process.Env = append(os.Environ(), workVariable+"="+string(given))
	var out, failure bytes.Buffer
	process.Stdout, process.Stderr = &out, &failure
	require.NoError(t, process.Start())
	return process, func() (result done) {
		err := process.Wait()
		if assert.NoError(t, err, failure.String()) {
			assert.NoError(t, json.Unmarshal(out.Bytes(), &result))
		}
		return result
	}
}

// Many processes with one credential log in once, use the whole window, and are never refused.
func TestAFleetOfProcesses(t *testing.T) {
	for kind, start := range storeKinds {
		for _, processes := range []int{8, 16} {
			t.Run(fmt.Sprint(kind, " ", processes), func(t *testing.T) {
				host, w := newHost(t)
				w.Store, w.StoreURL = kind, start(t).URL()
				before := len(host.Requests())
				w.Callers, w.For = 4, (rounds-1)*held+held/2+2*time.Second
				together := run(t, w, processes)
				assert.Zero(t, together.Limited)
				assert.Empty(t, together.Failed)
				check(t, host.Requests()[before:])
			})
		}
	}
}

// Processes that are killed hold up nobody: neither the login, nor the slots that they were given or waited for.
func TestKilledProcessesHoldUpNobody(t *testing.T) {
	host, w := newHost(t)
	w.Store, w.StoreURL = "redis", servers.Redis(t).URL()
	before := len(host.Requests())
	w.Callers, w.For = 4, time.Minute
	for i := range 3 {
		w.Name = fmt.Sprint("killed ", i)
		process, _ := w.start(t)
		time.AfterFunc(time.Duration(i+1)*time.Second, func() { assert.NoError(t, process.Process.Kill()) })
	}
	w.For = (rounds-1)*held + held/2 + 4*time.Second
	together := run(t, w, 8)
	assert.Zero(t, together.Limited)
	assert.Empty(t, together.Failed)
	limited, logins, saved := 0, 0, 0
	for _, r := range host.Requests()[before:] {
		switch {
		case r.Status == 429:
			limited++
		case r.Operation == "CreateToken":
			logins++
		case r.Operation == "CreateContact":
			saved++
		}
	}
	assert.Zero(t, limited)
	assert.Equal(t, 1, logins)
	assert.GreaterOrEqual(t, saved, rounds*120*9/10)
}

func run(t *testing.T, w work, processes int) (together done) {
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

// check reads the host's log: one login, nothing over a window, and the window used.
func check(t *testing.T, requests []sandbox.Request) {
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
	for _, at := range writes {
		if at.Before(writes[0].Add((rounds-1)*held + held/2)) {
			used++
		}
	}
	t.Logf("%d of %d used", used, rounds*120)
	assert.GreaterOrEqual(t, used, rounds*120*98/100)
}
