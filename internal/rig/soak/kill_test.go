package soak_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/rig"
	"github.com/moneymovement/moneymovement-go/internal/servers"
)

// perKill is how many payments there are for each kill.
const perKill = 13

// The longest times that a test waits for a worker.
const (
	startWithin  = time.Minute
	settleWithin = 10 * time.Minute
)

// shortLease is how long leases last in the short tests. The long ones have the default.
const shortLease = 2 * time.Second

// One process after the other makes the payments of a file, and is killed at any moment, some already as they start.
func TestKilledWorkersOnSQLite(t *testing.T) {
	t.Parallel()
	kills := size(t, "MONEYMOVEMENT_SOAK_SQLITE_KILLS", 15)
	w := newWorld(t, kills*perKill+5)
	w.work.Engine, w.work.Store = onSQLite, filepath.Join(t.TempDir(), "payments.db")
	pause := rig.Pauses(1, 0, 200*time.Millisecond)
	for i := range kills {
		worker := w.start((i + 1) * perKill)
		if i%5 != 4 {
			w.said(worker, saidResumed, startWithin)
		}
		rest(t.Context(), pause())
		w.kill(worker)
	}
	last := w.start(w.work.All)
	w.settle(settleWithin, last)
	w.check()
}

// Two processes make the payments of a database, one with River and one without. One of them is killed, and started
// again, then the other one.
func TestKilledWorkersOnPostgreSQL(t *testing.T) {
	t.Parallel()
	kills := size(t, "MONEYMOVEMENT_SOAK_POSTGRES_KILLS", 15)
	w := newWorld(t, kills*perKill+5)
	w.onPostgres(servers.PostgreSQL(t).URL())
	w.scaledLease("MONEYMOVEMENT_SOAK_POSTGRES_KILLS")
	engines := []string{withRiver, onPostgres}
	workers := make([]*running, 2)
	begin := func(i, to int) {
		w.work.Engine = engines[i%2]
		workers[i%2] = w.start(to)
	}
	begin(0, 1)
	begin(1, 1)
	pause := rig.Pauses(2, 0, 200*time.Millisecond)
	for i := range kills {
		if i%5 != 4 {
			w.said(workers[i%2], saidResumed, startWithin)
		}
		rest(t.Context(), pause())
		w.kill(workers[i%2])
		begin(i, (i+1)*perKill+5)
	}
	w.said(workers[0], saidResumed, startWithin)
	w.said(workers[1], saidResumed, startWithin)
	last := w.start(w.work.All)
	w.settle(settleWithin, append([]*running{last}, workers...)...)
	var left int
	require.NoError(t, w.pool.QueryRow(t.Context(), "SELECT count(*) FROM river_job WHERE state NOT IN "+
		"('completed', 'cancelled')").Scan(&left))
	w.notes = append(w.notes, fmt.Sprintf("%d jobs of River that still snooze", left))
	w.work.Engine = "PostgreSQL, with and without River"
	w.check()
}

// scaledLease makes leases short, unless the variable sets a size: then they last as long as they do by default.
func (w *world) scaledLease(variable string) {
	if size(w.T, variable, -1) < 0 {
		w.work.LeaseFor = shortLease
	}
}
