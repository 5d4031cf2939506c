package postgres_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
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
	submits := w.program()
	pool := w.pool()
	_, err := pool.Exec(t.Context(), "CREATE SCHEMA jobs")
	require.NoError(t, err)
	require.NoError(t, postgres.MigrateRiver(t.Context(), pool, "jobs"))
	require.NoError(t, submits.open(t.Context(), pool, options, payments.Config{}, nil))

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
	decides := w.program()
	require.NoError(t, decides.open(t.Context(), w.pool(), options, payments.Config{}, nil))
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
			submits := w.program()
			require.NoError(t, submits.open(t.Context(), w.pool(), options, payments.Config{}, nil))
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
	p := w.program()
	require.NoError(t, p.open(t.Context(), w.pool(), postgres.Options{Jobs: &postgres.Jobs{}}, payments.Config{}, nil))
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
