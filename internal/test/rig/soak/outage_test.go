package soak_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/servers"
	"github.com/moneymovement/moneymovement-go/internal/test/rig"
	"github.com/moneymovement/moneymovement-go/internal/tier"
)

// perOutage is how many payments there are for each outage of a server.
const perOutage = 50

// PostgreSQL is killed and restarted while two workers submit and pay.
func TestPostgreSQLIsKilledUnderLoad(t *testing.T) {
	t.Parallel()
	outages := tier.Size(4, 100)
	server := servers.PostgreSQL(t)
	w := newWorld(t, (outages+1)*perOutage)
	w.onPostgres(server.URL())
	w.scaledLease()
	w.work.Engine = withRiver
	w.outages(server, outages)
}

// Redis, with the session and the rate windows, is killed and restarted while two workers pay.
func TestRedisIsKilledUnderLoad(t *testing.T) {
	t.Parallel()
	outages := tier.Size(4, 100)
	redis := servers.Redis(t)
	w := newWorld(t, (outages+1)*perOutage)
	w.onPostgres(servers.PostgreSQL(t).URL())
	w.scaledLease()
	w.work.Redis, w.work.Minute, w.work.Workers = redis.URL(), time.Second, 2
	w.outages(redis, outages)
}

// outages kills a server and restarts it, again and again, while two workers pay.
func (w *world) outages(server *servers.Server, outages int) {
	w.Helper()
	workers := []*running{w.start(0), w.start(0)}
	for _, worker := range workers {
		w.said(worker, saidResumed, startWithin)
	}
	workers = append(workers, w.start(w.work.All)) // submits all that time
	pause := rig.Pauses(3, 100*time.Millisecond, 800*time.Millisecond)
	underLoad := 0
	for range outages {
		rest(w.Context(), pause())
		if w.settled() < w.work.All {
			underLoad++
		}
		server.Kill()
		rest(w.Context(), pause()/2)
		server.Restart()
	}
	w.settle(settleWithin, workers...)
	w.notes = append(w.notes, fmt.Sprintf("%d outages of the server, %d of them before the last payment was made",
		outages, underLoad))
	w.check()
}

// settled returns how many payments the host has settled.
func (w *world) settled() (n int) {
	for audited := range w.host.Audit() {
		n += audited.Settlements
	}
	return n
}
