package rig_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/test/rig"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/sandbox"
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
	kills := testkit.Size(15, 2000)
	w := newWorld(t, kills*perKill+5)
	w.work.Engine, w.work.Store = onSQLite, filepath.Join(t.TempDir(), "payments.db")
	killer := killer{w, rig.RandomPauses(1, 0, 120*time.Millisecond)}
	for i := range kills {
		worker := w.start((i + 1) * perKill)
		killer.end(i, worker)
	}
	last := w.start(w.work.All)
	w.settle(settleWithin, last)
	w.check()
}

// Two processes make the payments of a database, one with River and one without. One of them is killed, and started
// again, then the other one.
func TestKilledWorkersOnPostgreSQL(t *testing.T) {
	t.Parallel()
	kills := testkit.Size(15, 2000)
	w := newWorld(t, kills*perKill+5)
	w.onPostgres(testkit.PostgreSQL(t).URL())
	w.scaledLease()
	engines := []string{withRiver, onPostgres}
	workers := make([]*running, 2)
	begin := func(i, to int) {
		w.work.Engine = engines[i%2]
		workers[i%2] = w.start(to)
	}
	begin(0, 1)
	begin(1, 1)
	killer := killer{w, rig.RandomPauses(2, 0, 120*time.Millisecond)}
	for i := range kills {
		killer.end(i, workers[i%2])
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

// killer kills workers at moments of a seed.
type killer struct {
	*world
	pause func() time.Duration
}

// end kills a worker. Of ten kills, two come at any moment of the start. The others come after a number of requests, so
// that also on a slow machine a worker makes some payments before it dies: at a request that is lost, at one whose
// response is lost, and a moment after one.
func (k killer) end(n int, r *running) {
	k.Helper()
	defer k.kill(r)
	if n%5 == 4 {
		rest(k.Context(), k.pause())
		return
	}
	k.said(r, saidResumed, startWithin)
	moment := rig.Moment{Number: 1 + int(k.pause()/time.Millisecond), Phase: rig.Lost}
	if n%5 == 0 {
		moment.Phase = rig.Committed
	}
	trap := k.host.At(moment, func() {
		if n%5 < 2 {
			r.Kill()
		}
	})
	select {
	case <-trap.Done():
		if n%5 > 1 {
			rest(k.Context(), k.pause()/4)
		}
	case <-time.After(idle): // nothing is left to pay
	}
	k.host.Disarm()
}

// idle is how long a worker that does nothing lives.
const idle = time.Second

// scaledLease makes leases short. In a soak they last as long as they do by default.
func (w *world) scaledLease() { w.work.LeaseFor = testkit.Size(shortLease, 0) }

// perOutage is how many payments there are for each outage of a server.
const perOutage = 50

// PostgreSQL is killed and restarted while two workers submit and pay.
func TestPostgreSQLIsKilledUnderLoad(t *testing.T) {
	t.Parallel()
	outages := testkit.Size(4, 100)
	server := testkit.PostgreSQL(t)
	w := newWorld(t, (outages+1)*perOutage)
	w.onPostgres(server.URL())
	w.scaledLease()
	w.work.Engine = withRiver
	w.outages(server, outages)
}

// Redis, with the session and the rate windows, is killed and restarted while two workers pay.
func TestRedisIsKilledUnderLoad(t *testing.T) {
	t.Parallel()
	outages := testkit.Size(4, 100)
	redis := testkit.Redis(t)
	w := newWorld(t, (outages+1)*perOutage)
	w.onPostgres(testkit.PostgreSQL(t).URL())
	w.scaledLease()
	w.work.Redis, w.work.Minute, w.work.Workers = redis.URL(), time.Second, 2
	w.outages(redis, outages)
}

// outages kills a server and restarts it, again and again, while two workers pay.
func (w *world) outages(server *testkit.Server, outages int) {
	w.Helper()
	workers := []*running{w.start(0), w.start(0)}
	for _, worker := range workers {
		w.said(worker, saidResumed, startWithin)
	}
	workers = append(workers, w.start(w.work.All)) // submits all that time
	pause := rig.RandomPauses(3, 100*time.Millisecond, 800*time.Millisecond)
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

// What the network does to connections, in turns.
var weathers = []struct {
	fault     rig.Fault
	direction rig.Direction
	share     float64
}{
	{rig.Latency{Delay: 20 * time.Millisecond, Jitter: 10 * time.Millisecond}, rig.Responses, 1},
	{rig.Limit{Bytes: 1500}, rig.Responses, 0.5},
	{rig.Slices{Size: 40, Variation: 20, Pause: 100 * time.Microsecond}, rig.Requests, 1},
	{rig.Reset{}, rig.Responses, 0.5},
	{rig.Reset{After: 20 * time.Millisecond}, rig.Requests, 0.5},
	{rig.Silence{CloseAfter: 100 * time.Millisecond}, rig.Responses, 0.5},
	{nil, "", 0}, // all connections are cut
}

// All requests to the host go through a proxy that delays, cuts, resets and swallows.
func TestPaymentsThroughABadNetwork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testkit.Size(200, 20_000))
	proxy := rig.NewProxy(t, w.host.Address())
	w.work.URL = "http://" + proxy.Address()
	w.work.Engine, w.work.Store = onSQLite, filepath.Join(t.TempDir(), "payments.db")
	worker := w.start(w.work.All)
	w.said(worker, saidResumed, startWithin)
	changes := 0
	deadline := time.Now().Add(settleWithin + time.Duration(w.work.All)*200*time.Millisecond)
	for ; w.settled() < w.work.All && time.Now().Before(deadline); changes++ {
		proxy.Heal()
		now := weathers[changes%len(weathers)]
		if now.fault != nil {
			proxy.Add(now.fault, now.direction, now.share)
		} else {
			proxy.Cut()
			proxy.Reopen()
		}
		rest(t.Context(), 150*time.Millisecond)
	}
	proxy.Heal()
	w.settle(settleWithin, worker)
	w.notes = append(w.notes, fmt.Sprintf("the network changed %d times", changes))
	w.check()
}

// world is a host with a customer, and workers that pay.
type world struct {
	*testing.T
	host     *rig.Host
	work     work   // of the next worker, but for its name and the payments to submit
	program  string // the binary of the next worker; empty is this one
	balance  decimal.Decimal
	pool     *pgxpool.Pool // of the test, with PostgreSQL
	workers  []*running
	kills    []kill
	returned map[int]bool    // the payments for which Submit has returned
	broken   map[string]bool // the keys of payments that the checks complained about
	began    time.Time
	notes    []string // for the figures
}

// running is a worker that was started.
type running struct {
	*rig.Child
	work work
	read bool // its output was, to the end
}

// kill is the end of a worker.
type kill struct {
	at     time.Time
	worker string
}

func newWorld(t *testing.T, payments int, options ...sandbox.Option) *world {
	t.Helper()
	options = append([]sandbox.Option{sandbox.WithAudit(), sandbox.WithInstantProgress(), sandbox.WithRequestLog(0)},
		options...)
	w := &world{T: t, host: rig.Serve(t, options...), returned: map[int]bool{}, broken: map[string]bool{}}
	// More than twice what the payments cost: a low balance would stop a double payment.
	customer := w.host.Customer(t, decimal.NewFromInt(int64(payments)*4))
	w.balance = w.host.Ledger().Balances[string(customer.Client)][string(dapi.USDC)]
	w.work = work{URL: w.host.URL(), Email: w.host.Credentials().Email, Key: w.host.KeyFile(t),
		Client: customer.Client, Contact: customer.Contact, All: payments}
	t.Cleanup(func() {
		if t.Failed() {
			w.keepTrace()
		}
	})
	w.began = time.Now()
	return w
}

// onPostgres makes the workers use a database.
func (w *world) onPostgres(url string) {
	w.Helper()
	pool := w.connected(url)
	require.NoError(w, postgres.Migrate(w.Context(), pool, ""))
	require.NoError(w, postgres.MigrateRiver(w.Context(), pool, ""))
	w.onTables(pool, url)
}

func (w *world) connected(url string) *pgxpool.Pool {
	w.Helper()
	pool, err := pgxpool.New(w.Context(), url)
	require.NoError(w, err)
	w.Cleanup(pool.Close)
	return pool
}

// onTables makes the workers use the tables of a database.
func (w *world) onTables(pool *pgxpool.Pool, url string) {
	w.Helper()
	w.pool, w.work.Engine, w.work.Store = pool, onPostgres, url
	w.noteLeases()
}

// start starts a worker that submits payments from those whose Submit has not been seen to return, up to a number.
// Those are submitted again, and some more.
func (w *world) start(to int) *running {
	w.Helper()
	r := &running{work: w.work}
	r.work.Name = fmt.Sprintf("worker %d", len(w.workers)+1)
	r.work.To = to
	for r.work.From < to && w.returned[r.work.From] {
		r.work.From++
	}
	r.work.From = max(r.work.From-10, 0)
	given, err := json.Marshal(r.work)
	require.NoError(w, err)
	r.Child = rig.StartChild(w, w.program, workVariable+"="+string(given))
	w.workers = append(w.workers, r)
	return r
}

// said waits until a worker has printed a line.
func (w *world) said(r *running, line string, within time.Duration) {
	w.Helper()
	deadline, pause := time.Now().Add(within), 2*time.Millisecond
	for !strings.Contains("\n"+r.Output(), "\n"+line+"\n") {
		if time.Now().After(deadline) {
			w.Fatalf("%s has not said %q after %v", r.work.Name, line, within)
		}
		rest(w.Context(), pause)
		pause = min(pause*5/4, 200*time.Millisecond) // a long output takes time to read
	}
}

// kill kills a worker.
func (w *world) kill(r *running) {
	w.Helper()
	r.Kill()
	w.kills = append(w.kills, kill{worker: r.work.Name, at: time.Now()})
	w.note(r)
}

// note keeps the numbers of the payments for which a worker's Submit has returned.
func (w *world) note(r *running) {
	w.Helper()
	if r.read {
		return
	}
	r.read = true
	for line := range strings.SplitSeq(r.Output(), "\n") {
		if text, found := strings.CutPrefix(line, saidSubmitted+" "); found {
			n, err := strconv.Atoi(text)
			require.NoError(w, err, line)
			w.returned[n] = true
		}
	}
}

// stop asks a worker to end in its orderly way.
func (w *world) stop(r *running) {
	w.Helper()
	require.NoError(w, r.Interrupt(time.Minute))
	require.Zero(w, r.ExitCode(), "the end of %s", r.work.Name)
	require.Contains(w, r.Output(), saidStopped)
	w.note(r)
}

// settle waits until all payments have ended, and stops the workers.
func (w *world) settle(within time.Duration, workers ...*running) {
	w.Helper()
	w.said(workers[0], saidSettled, within)
	for _, r := range workers {
		w.stop(r)
	}
}

// keepTrace writes what is needed to see why a test failed to a folder that stays, and names it: the requests and the
// audit of the payments that the checks complained about, or of all, and what each worker printed.
func (w *world) keepTrace() {
	folder, err := os.MkdirTemp("", "soak-")
	if err != nil {
		w.Logf("no trace: %v", err)
		return
	}
	keys := map[string]string{}
	var audit strings.Builder
	for audited := range w.host.Audit() {
		for _, id := range audited.PayoutIDs {
			keys[id] = audited.Key
		}
		if len(w.broken) == 0 || w.broken[audited.Key] {
			text, err := json.Marshal(audited)
			fmt.Fprintf(&audit, "%s %v\n", text, err)
		}
	}
	var requests strings.Builder
	for _, r := range w.host.Raw() {
		key := keyOfRequest(r.Path, r.Header.Get("Idempotency-Key"), keys)
		if len(w.broken) == 0 || w.broken[key] {
			fmt.Fprintf(&requests, "%s %s %s %s, key %s, %s\n", r.At.Format("15:04:05.000000"),
				r.Header.Get(workerHeader), r.Method, r.Path, key, r.Body)
		}
	}
	var kills strings.Builder
	for _, k := range w.kills {
		fmt.Fprintf(&kills, "%s %s\n", k.at.Format("15:04:05.000000"), k.worker)
	}
	files := map[string]string{"requests": requests.String(), "audit": audit.String(), "kills": kills.String()}
	for _, r := range w.workers {
		files[r.work.Name] = r.Output()
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			w.Logf("the trace: %v", err)
		}
	}
	w.Logf("The requests of the payments and the output of the workers are in %s", folder)
}
