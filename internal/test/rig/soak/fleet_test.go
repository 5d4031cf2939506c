package soak_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/servers"
	"github.com/moneymovement/moneymovement-go/internal/tier"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// The rate windows of the fleet test.
const (
	windows = 2   // that the fleet fills before one of it is killed
	writes  = 120 // that the service takes in a minute
	enough  = windows * writes * 98 / 100
)

// Many workers with one credential pay: one login, no refusal, and the window of writes is used. Then one of them is
// killed, and its payments go on.
func TestAFleetOfWorkersPays(t *testing.T) {
	if !tier.Soak() { // a short minute would leave a busy machine too little time between two windows
		t.Skip("needs some minutes with nothing else running; make soak runs it")
	}
	const minute = time.Minute
	const held = minute + minute/60 // as long as the limiter counts a call
	const within = startWithin + (windows+1)*minute
	for _, count := range []int{8, 16} {
		t.Run(fmt.Sprint(count, " workers"), func(t *testing.T) {
			// Two writes for each payment: the windows before the kill, and half of the one after it. The other half
			// lets the payments of the killed worker go on, which a full window would hold up for a minute.
			w := newWorld(t, windows*writes/2+writes/4, sandbox.WithRequestLog(1<<20), sandbox.WithSettings(
				func(s *sandbox.Settings) { s.RateMinute = sandbox.Duration(minute) }))
			w.onPostgres(servers.PostgreSQL(t, servers.Setting{Name: "max_connections", Value: "300"}).URL())
			w.work.Redis, w.work.Minute, w.work.Workers = servers.Redis(t).URL(), minute, count
			w.scaledLease()
			require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.RateLimits = true }))
			before := len(w.host.Requests())

			workers := []*running{w.start(w.work.All)}
			for range count - 1 {
				workers = append(workers, w.start(0))
			}
			w.used(before, enough, within)
			first := paying(w.host.Requests()[before:])[0].Time
			rest(t.Context(), time.Until(first.Add(windows*held-minute/6))) // soon the next window begins
			victim := count - 1
			for i := range workers[1:] { // the first one has submitted, and settles
				if w.leased(workers[i+1].work.Name) > w.leased(workers[victim].work.Name) {
					victim = i + 1
				}
			}
			require.Positive(t, w.leased(workers[victim].work.Name), "the worker to be killed has payments")
			w.kill(workers[victim])
			w.settle(within, slices.Delete(workers, victim, victim+1)...)

			w.shared(w.host.Requests()[before:], count, held)
			w.check()
		})
	}
}

// used waits until the fleet has sent so many writes since a request.
func (w *world) used(since, count int, within time.Duration) {
	w.Helper()
	for deadline := time.Now().Add(within); len(paying(w.host.Requests()[since:])) < count; {
		require.True(w, time.Now().Before(deadline), "the fleet uses its windows")
		rest(w.Context(), 20*time.Millisecond)
	}
}

// shared checks by the host's log that workers share a session and the windows, whose calls are held for so long.
func (w *world) shared(requests []sandbox.Request, workers int, held time.Duration) {
	w.Helper()
	sent, used, logins, limited := paying(requests), 0, 0, 0
	for _, r := range sent {
		if r.Time.Before(sent[0].Time.Add((windows-1)*held + held/2)) {
			used++
		}
	}
	for _, r := range requests {
		if r.Operation == "CreateToken" {
			logins++
		}
		if r.Status == http.StatusTooManyRequests {
			limited++
		}
	}
	assert.Equal(w, 1, logins, "one login for the whole fleet")
	assert.Zero(w, limited, "refused for the rate")
	assert.GreaterOrEqual(w, used, enough, "of the windows of writes")
	w.notes = append(w.notes, fmt.Sprintf("%d workers, %d logins, %d refused for the rate, %d of %d writes used",
		workers, logins, limited, used, windows*writes))
}

// paying returns the writes for payments.
func paying(requests []sandbox.Request) (found []sandbox.Request) {
	for _, r := range requests {
		if r.Method == http.MethodPost && (r.Operation == "BookPayout" || r.Operation == "ConfirmPayout") {
			found = append(found, r)
		}
	}
	return found
}
