package fleet_test

import (
	"bytes"
	"encoding/json"
	stderrors "errors"
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

const (
	minute = 10 * time.Second     // how long a minute of the rate windows lasts at the host
	held   = minute + time.Second // how long a call counts here: a second longer, as with real minutes
	rounds = 2                    // how many windows the processes fill

	// stated is the minute of the workers, which hold each call a sixtieth longer. A sixtieth of the host's short
	// minute would be less time than a request takes on a slow machine, and the host would refuse calls of the next
	// window.
	stated = held * 60 / 61
)

var storeKinds = map[string]func(testing.TB, ...servers.Setting) *servers.Server{
	"redis": servers.Redis, "postgres": servers.PostgreSQL,
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
				host, w := newHost(t, func(string, []byte) bool { return false })
				w.Store, w.StoreURL = kind, start(t).URL()
				before := len(host.Requests())
				w.Callers, w.For = 4, (rounds-1)*held+held/2+4*time.Second
				together := run(t, w, processes)
				assert.Zero(t, together.Limited)
				assert.Empty(t, together.Failed)
				check(t, host.Requests()[before:], 0)
			})
		}
	}
}

// Processes that are killed hold up nobody for long. The first is killed in its login, so that its lock has to end by
// itself. The others are killed after their first call: one at once, one when its calls wait for slots.
func TestKilledProcessesHoldUpNobody(t *testing.T) {
	const lock = 15 * time.Second // how long the lock of a login outlasts its process
	var dropLogin atomic.Bool
	inLogin := make(chan struct{})
	afterCall := []chan struct{}{make(chan struct{}), make(chan struct{})}
	signals := map[string]func(){
		"killed 0": sync.OnceFunc(func() { close(afterCall[0]) }),
		"killed 1": sync.OnceFunc(func() { close(afterCall[1]) }),
	}
	host, w := newHost(t, func(path string, body []byte) bool {
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
	w.Store, w.StoreURL = "redis", servers.Redis(t).URL()
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
			time.Sleep(time.Duration(i) * time.Second)
			assert.NoError(t, process.Process.Kill())
		}()
	}
	w.For = lock + (rounds-1)*held + held/2 + 4*time.Second
	together := run(t, w, 8)
	assert.Zero(t, together.Limited)
	assert.Empty(t, together.Failed)
	for i, called := range afterCall {
		await(t, called, fmt.Sprint("a call of the process killed ", i))
	}
	check(t, host.Requests()[before:], len(afterCall)*w.Callers) // the calls that the killed processes had begun
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

// check reads the host's log: one login, nothing over a window, and the window used, except for the slots that were
// lost.
func check(t *testing.T, requests []sandbox.Request, lost int) {
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
	assert.GreaterOrEqual(t, used, rounds*120*98/100-lost)
}
