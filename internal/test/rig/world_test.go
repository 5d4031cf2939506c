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
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// world is a host with a customer, and workers that pay.
type world struct {
	*testing.T
	host     *rig.Host
	work     work // of the next worker, but for its name and the payments to submit
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
	pool, err := pgxpool.New(w.Context(), url)
	require.NoError(w, err)
	w.Cleanup(pool.Close)
	require.NoError(w, postgres.Migrate(w.Context(), pool, ""))
	require.NoError(w, postgres.MigrateRiver(w.Context(), pool, ""))
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
	r.Child = rig.Again(w, workVariable+"="+string(given))
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
	require.Zero(w, r.Code(), "the end of %s", r.work.Name)
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
