package postgres_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// never is longer than any test: a processor that polls so rarely is woken by River, or not at all.
const never = time.Hour

// river runs a caller's own client of River beside a program.
func (w *world) river(p *program, config *river.Config) *river.Client[pgx.Tx] {
	w.Helper()
	config.Workers, config.Logger = river.NewWorkers(), slog.New(slog.DiscardHandler)
	river.AddWorker(config.Workers, postgres.NewWorker(p.store, p.processor))
	client, err := river.NewClient(riverpgxv5.New(p.pool), config)
	require.NoError(w, err)
	require.NoError(w, client.Start(w.Context()))
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		assert.NoError(w, client.StopAndCancel(ctx))
	})
	return client
}

func queues(names ...string) *river.Config {
	config := &river.Config{Queues: map[string]river.QueueConfig{}}
	for _, name := range names {
		config.Queues[name] = river.QueueConfig{MaxWorkers: 10}
	}
	return config
}

func (w *world) count(p *program, sql string, args ...any) (n int) {
	w.Helper()
	require.NoError(w, p.pool.QueryRow(w.Context(), sql, args...).Scan(&n))
	return n
}

// One program submits, and another one, which never polls by itself in this test, is woken by its own client of River,
// with a queue and a schema of the caller's.
func TestRiverWakesAnotherProgram(t *testing.T) {
	w := newWorld(t, shared.PostgreSQL(t))
	options := postgres.Options{Jobs: &postgres.Jobs{Schema: "jobs", Queue: "money", Priority: 2}}
	pool := w.pool()
	_, err := pool.Exec(t.Context(), "CREATE SCHEMA jobs")
	require.NoError(t, err)
	require.NoError(t, postgres.MigrateRiver(t.Context(), pool, "jobs"))
	submits := w.program(options, payments.Config{})
	pays := w.resumed(options, payments.Config{PollEvery: never})
	config := queues("money")
	config.Schema = "jobs"
	w.river(pays, config)
	keys := numbered("invoice", 20)
	w.submit(submits, keys...)
	w.await(pays, len(keys), 2*time.Minute)
	w.once(pays, keys)
	assert.Equal(t, len(keys),
		w.count(pays, "SELECT count(*) FROM jobs.river_job WHERE queue = 'money' AND priority = 2"))
	require.Eventually(t, func() bool {
		return w.count(pays, "SELECT count(*) FROM jobs.river_job WHERE state = 'completed'") == len(keys)
	}, time.Minute, 50*time.Millisecond, "a job ends when nothing is left to do")
	assert.Zero(t, w.count(pays, "SELECT count(*) FROM river_job"), "the other schema is not touched")
}

// A decision makes a payment due whose own job has completed.
func TestRiverWakesAfterADecision(t *testing.T) {
	w := newWorld(t, shared.PostgreSQL(t))
	options := postgres.Options{Jobs: &postgres.Jobs{}}
	pays := w.resumed(options, payments.Config{PollEvery: never})
	w.river(pays, queues(postgres.DefaultQueue))
	decides := w.program(options, payments.Config{})
	payment := w.payment("invoice")
	payment.Payout.Amount = payment.Payout.Amount.Add(w.payment("").Payout.Amount.Shift(6)) // more than there is
	_, err := decides.processor.Submit(t.Context(), payment)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	record, err := decides.processor.Await(ctx, "invoice", moneymovement.PaymentNeedsDecision)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return w.count(pays, "SELECT count(*) FROM river_job WHERE state = 'completed'") == 1
	}, time.Minute, 20*time.Millisecond)
	_, err = decides.processor.Decide(t.Context(), "invoice", payments.Retry())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		again, err := decides.processor.Get(t.Context(), "invoice")
		return err == nil && again.State == moneymovement.PaymentNeedsDecision &&
			again.ChangedAt.After(record.ChangedAt)
	}, time.Minute, 20*time.Millisecond)
}

// Whatever happens to the jobs, the payments go on at the processor's polls.
func TestPaymentsGoOnWithoutTheirJobs(t *testing.T) {
	for name, harm := range map[string]string{
		"deleted":                          "DELETE FROM river_job",
		"stuck in a process that has died": "UPDATE river_job SET state = 'running', attempted_at = now()",
		"in a queue that somebody paused": "INSERT INTO river_queue (name, paused_at, updated_at) " +
			"VALUES ('payments', now(), now())",
		"discarded, or finished in an error": "UPDATE river_job SET state = 'discarded', finalized_at = now()",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, shared.PostgreSQL(t))
			options := postgres.Options{Jobs: &postgres.Jobs{}}
			submits := w.program(options, payments.Config{})
			keys := numbered("invoice", 30)
			w.submit(submits, keys...)
			_, err := submits.pool.Exec(t.Context(), harm)
			require.NoError(t, err)
			pays := w.resumed(options, payments.Config{PollEvery: 2 * time.Second})
			w.river(pays, queues(postgres.DefaultQueue))
			w.await(pays, len(keys), 2*time.Minute)
			w.once(pays, keys)
			assert.Zero(t,
				w.count(pays, "SELECT count(*) FROM river_job WHERE state = 'completed' AND id <= $1", len(keys)))
		})
	}
}

func TestWorkSaysHowLongAJobSnoozes(t *testing.T) {
	w := newWorld(t, shared.PostgreSQL(t))
	p := w.program(postgres.Options{Jobs: &postgres.Jobs{}}, payments.Config{})
	worker := postgres.NewWorker(p.store, p.processor)
	work := func(key moneymovement.Key, age time.Duration) error {
		job := &river.Job[postgres.Wake]{Args: postgres.Wake{Key: string(key)}}
		job.JobRow = &rivertype.JobRow{CreatedAt: time.Now().Add(-age)}
		return worker.Work(t.Context(), job)
	}
	var cancels *river.JobCancelError
	require.ErrorAs(t, work("nobody", 0), &cancels)
	require.ErrorContains(t, cancels, `no payment with the key "nobody"`)

	w.submit(p, "invoice")
	snoozes := func(age, least, most time.Duration) {
		t.Helper()
		var snooze *river.JobSnoozeError
		require.ErrorAs(t, work("invoice", age), &snooze)
		assert.GreaterOrEqual(t, snooze.Duration, least)
		assert.LessOrEqual(t, snooze.Duration, most)
	}
	snoozes(time.Hour, 2*time.Second, 2*time.Second) // the processor of this process does not run: another one may
	claimed, _, err := p.store.Claim(t.Context(), payments.Claim{Owner: "me", Key: "invoice", For: time.Minute})
	require.NoError(t, err)
	claimed[0].Due = time.Now().Add(10 * time.Minute)
	require.NoError(t, p.store.Postpone(t.Context(), claimed[0]))
	snoozes(0, 9*time.Minute, 10*time.Minute)

	pays := w.resumed(postgres.Options{}, payments.Config{PollEvery: never})
	worker = postgres.NewWorker(pays.store, pays.processor)
	claimed, _, err = p.store.Claim(t.Context(), payments.Claim{Owner: "me", Key: "invoice", For: time.Minute})
	require.NoError(t, err)
	claimed[0].Due = time.Now()
	_, err = p.store.Save(t.Context(), claimed[0], false) // due, and leased by another process
	require.NoError(t, err)
	snoozes(0, 2*time.Second, 3*time.Second)
	snoozes(40*time.Second, 10*time.Second, 12*time.Second)
	snoozes(24*time.Hour, 15*time.Minute, 15*time.Minute)

	claimed[0].State, claimed[0].Due = moneymovement.PaymentCompleted, time.Time{}
	_, err = p.store.Save(t.Context(), claimed[0], true)
	require.NoError(t, err)
	require.NoError(t, work("invoice", 0), "nothing is left to do")
}

// shared is the server of all tests.
var shared = testkit.SharedPostgreSQL{Settings: []testkit.Setting{{Name: "max_connections", Value: "200"}}}

func TestMain(m *testing.M) {
	defer shared.Stop()
	m.Run()
}

// world is a host on a port, and a database.
type world struct {
	*worlds.World
	database string // the URL
	contact  dapi.ContactID
}

// newWorld starts a host with an account that has money and a contact.
func newWorld(t *testing.T, database *testkit.Server) *world {
	t.Helper()
	w := &world{
		World: worlds.Serve(t, sandbox.WithAudit(), sandbox.WithInstantProgress(), sandbox.WithRequestLog(0),
			sandbox.WithSettings(func(s *sandbox.Settings) { s.MaxCredit = decimal.NewFromInt(1500) })),
		database: database.URL(),
	}
	self := w.Integrator(w.Developer()).Self()
	w.Credit(self.Sandbox, "1500", dapi.USDC)
	w.contact = w.Contact(self.Contacts, worlds.Wallet())

	pool := w.pool()
	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
	require.NoError(t, postgres.MigrateRiver(t.Context(), pool, ""))
	return w
}

func (w *world) pool() *pgxpool.Pool {
	w.Helper()
	pool, err := pgxpool.New(w.Context(), w.database)
	require.NoError(w, err)
	w.Cleanup(pool.Close)
	return pool
}

// program is a process of a fleet, or what would be one.
type program struct {
	pool      *pgxpool.Pool
	store     *postgres.Store
	processor *payments.Processor
}

func (w *world) program(options postgres.Options, config payments.Config) *program {
	w.Helper()
	pool := w.pool()
	store, err := postgres.Open(w.Context(), pool, options)
	require.NoError(w, err)
	platform := w.Integrator(w.Developer(), moneymovement.WithoutPacing())
	processor, err := payments.New(store, payments.IntegratorServices(platform), config)
	require.NoError(w, err)
	return &program{pool: pool, store: store, processor: processor}
}

// resumed is a program that pays until the test ends.
func (w *world) resumed(options postgres.Options, config payments.Config) *program {
	w.Helper()
	p := w.program(options, config)
	_, err := p.processor.Resume(w.Context())
	require.NoError(w, err)
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		assert.NoError(w, p.processor.Stop(ctx))
	})
	return p
}

func (w *world) payment(key moneymovement.Key) payments.Payment {
	return payments.Payment{Key: key, Account: payments.OwnAccount, Payout: dapi.PayoutCreate{
		ContactID: w.contact, Amount: decimal.NewFromInt(1), Currency: dapi.USDC}}
}

func numbered(prefix string, n int) (keys []moneymovement.Key) {
	for i := range n {
		keys = append(keys, moneymovement.Key(fmt.Sprintf("%s-%04d", prefix, i)))
	}
	return keys
}

// submit submits payments, each in a transaction of its own with a row of the caller's.
func (w *world) submit(p *program, keys ...moneymovement.Key) {
	w.Helper()
	_, err := p.pool.Exec(w.Context(), "CREATE TABLE IF NOT EXISTS invoices (id text PRIMARY KEY)")
	require.NoError(w, err)
	for _, key := range keys {
		require.NoError(w, pgx.BeginFunc(w.Context(), p.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(w.Context(), "INSERT INTO invoices VALUES ($1)", string(key)); err != nil {
				return err
			}
			_, err := p.store.SubmitTx(w.Context(), tx, nil, w.payment(key))
			return err
		}))
	}
}

// await waits until so many payments are completed.
func (w *world) await(p *program, completed int, within time.Duration) {
	w.Helper()
	require.Eventually(w, func() bool {
		found, err := p.store.Summary(w.Context())
		return err == nil && found.ByState[moneymovement.PaymentCompleted] >= completed
	}, within, 20*time.Millisecond)
}

// once checks that the host paid each payment once, and knows of no other.
func (w *world) once(p *program, keys []moneymovement.Key) {
	w.Helper()
	unseen := map[string]bool{}
	for _, key := range keys {
		unseen[string(key)] = true
		record, err := p.processor.Get(w.Context(), key)
		require.NoError(w, err)
		paid, found := w.Host.AuditOf("self", string(key))
		require.True(w, found, key)
		assert.Equal(w, moneymovement.PaymentCompleted, record.State, key)
		assert.Equal(w, []string{string(record.PayoutID)}, paid.PayoutIDs, key)
		assert.Equal(w, 1, paid.Fundings, key)
		assert.Equal(w, 1, paid.Bodies, key)
		assert.Zero(w, paid.Returns, key)
		assert.Equal(w, "1", paid.Paid.String(), key)
	}
	for paid := range w.Host.Audit() {
		assert.True(w, unseen[paid.Key], "the host was asked for %s", paid.Key)
		delete(unseen, paid.Key)
	}
	assert.Empty(w, unseen)
}
