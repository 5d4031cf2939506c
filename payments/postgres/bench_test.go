package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

// The benchmarks use a server with the default settings, so that each commit waits for the disk. 32 callers share 16
// connections.
const callers = 32

// inParallel makes n calls, and reports how long they took.
func inParallel(b *testing.B, n int, call func(i int) error) {
	b.Helper()
	took := make([]time.Duration, n)
	next := make(chan int)
	var group sync.WaitGroup
	start := time.Now()
	for range callers {
		group.Go(func() {
			for i := range next {
				began := time.Now()
				if err := call(i); err != nil {
					b.Error(err)
				}
				took[i] = time.Since(began)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(n)/time.Since(start).Seconds(), "calls/s")
	b.ReportMetric(float64(took[n/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[n*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(0, "ns/op")
}

func benchmarked(b *testing.B, options postgres.Options) (*postgres.Store, *pgxpool.Pool) {
	b.Helper()
	pool := pool(b)
	config := pool.Config()
	config.MaxConns = 16
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	require.NoError(b, err)
	b.Cleanup(pool.Close)
	return opened(b, pool, options), pool
}

func BenchmarkSubmit(b *testing.B) {
	b.Run("alone", func(b *testing.B) { benchmarkSubmit(b, postgres.Options{}) })
	b.Run("with River", func(b *testing.B) { benchmarkSubmit(b, postgres.Options{Jobs: &postgres.Jobs{}}) })
}

func benchmarkSubmit(b *testing.B, options postgres.Options) {
	store, _ := benchmarked(b, options)
	records := make([]payments.Record, b.N)
	for i := range records {
		records[i] = prepared(b, moneymovement.Key(fmt.Sprint("invoice-", i)))
	}
	b.ResetTimer()
	inParallel(b, b.N, func(i int) error {
		_, _, err := store.Insert(b.Context(), records[i])
		return err
	})
}

// A call here is a whole step that pays: claim, store that it begins, store that it is about to be signed, store what
// it showed.
func BenchmarkStep(b *testing.B) {
	b.Run("alone", func(b *testing.B) { benchmarkStep(b, func(*pgxpool.Pool) {}) })
	// Nothing that was replaced can be removed while this transaction is open.
	b.Run("while a transaction is open", func(b *testing.B) {
		benchmarkStep(b, func(pool *pgxpool.Pool) {
			open, err := pool.BeginTx(b.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
			require.NoError(b, err)
			count(b, open, "SELECT pg_current_xact_id()::text::bigint")
			b.Cleanup(func() { _ = open.Rollback(context.WithoutCancel(b.Context())) })
		})
	})
}

func benchmarkStep(b *testing.B, before func(*pgxpool.Pool)) {
	store, pool := benchmarked(b, postgres.Options{})
	fill(b, pool, 0, b.N)
	before(pool)
	filled := count(b, pool, "SELECT pg_total_relation_size('moneymovement.payments')")
	b.ResetTimer()
	var mu sync.Mutex
	var claimed []payments.Claimed
	next := func() (one payments.Claimed, err error) { // 16 at once, as a processor claims
		mu.Lock()
		defer mu.Unlock()
		if len(claimed) == 0 {
			claimed, _, err = store.Claim(b.Context(), payments.Claim{
				Owner: "me", Work: payments.WorkBegin, Limit: 16, Now: time.Now(), For: time.Minute})
			if err != nil {
				return one, err
			}
		}
		one, claimed = claimed[0], claimed[1:]
		return one, nil
	}
	inParallel(b, b.N, func(int) error {
		one, err := next()
		if err != nil {
			return err
		}
		one.State, one.Calls = moneymovement.PaymentPaying, 1
		for range 2 {
			if _, err := store.Save(b.Context(), one, false); err != nil {
				return err
			}
		}
		one.State, one.Due = moneymovement.PaymentCompleted, time.Time{}
		_, err = store.Save(b.Context(), one, true)
		return err
	})
	execute(b, pool, "VACUUM moneymovement.payments")
	after := count(b, pool, "SELECT pg_total_relation_size('moneymovement.payments')")
	b.ReportMetric(float64(after)/float64(b.N), "B/payment")
	b.ReportMetric(float64(after)/float64(filled), "growth")
}

// A million payments that have ended, beside 10,000 open ones, cost a start little. A call is what a process does when
// it starts: open, count, and claim of each class.
func BenchmarkStart(b *testing.B) {
	finished := testkit.Size(10_000, 1_000_000)
	store, pool := benchmarked(b, postgres.Options{})
	fill(b, pool, finished, 10_000)
	for b.Loop() {
		_, err := postgres.Open(b.Context(), pool, postgres.Options{})
		require.NoError(b, err)
		summary, err := store.Summary(b.Context())
		require.NoError(b, err)
		assert.Equal(b, finished, summary.ByState[moneymovement.PaymentCompleted])
		for _, work := range []payments.Work{payments.WorkBegin, payments.WorkAgain, payments.WorkFollow} {
			claimed, _, err := store.Claim(b.Context(), payments.Claim{
				Owner: "me", Work: work, Limit: 32, Now: time.Now(), For: time.Millisecond})
			require.NoError(b, err)
			assert.Len(b, claimed, 32)
		}
	}
	b.ReportMetric(float64(count(b, pool, "SELECT pg_total_relation_size('moneymovement.payments')"))/
		float64(finished+10_000), "B/payment")
}

// fill copies finished and open payments into the table: a third of the open ones of each class if there are finished
// ones, and otherwise all new.
func fill(b *testing.B, pool *pgxpool.Pool, finished, open int) {
	b.Helper()
	template := prepared(b, "invoice-0000000")
	now := time.Now().Add(-time.Hour)
	rows := pgx.CopyFromSlice(finished+open, func(i int) ([]any, error) {
		state, work, due := moneymovement.PaymentCompleted, payments.WorkNone, (*time.Time)(nil)
		if i >= finished {
			state, work, due = moneymovement.PaymentAccepted, payments.WorkBegin, &now
			if finished > 0 {
				work = payments.Work(1 + i%3)
			}
		}
		of := template
		of.Key = moneymovement.Key(fmt.Sprintf("invoice-%07d", i))
		text, err := of.Encode()
		return []any{string(of.Key), fmt.Sprint("cl_", i%100), "digest", string(state), int16(work), due,
			int64(i/100 + 1), int64(0), int32(0), "3", int64(i), text}, err
	})
	require.NoError(b, pool.AcquireFunc(b.Context(), func(c *pgxpool.Conn) error {
		_, err := c.Exec(b.Context(), "SET synchronous_commit = off")
		if err != nil {
			return err
		}
		_, err = c.Conn().CopyFrom(context.WithoutCancel(b.Context()), pgx.Identifier{"moneymovement", "payments"},
			[]string{
				"key", "account", "digest", "state", "work", "due", "turn", "lease_epoch", "change_era", "change_tx",
				"change",
				"data"}, rows)
		return err
	}))
	execute(b, pool, "SELECT setval('moneymovement.changes', $1)", finished+open+1)
	execute(b, pool, "VACUUM (ANALYZE) moneymovement.payments")
}
