package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/payments/storetest"
)

// shared is the server of all tests that do not kill theirs.
var shared = testkit.SharedPostgreSQL{Settings: []testkit.Setting{{Name: "max_connections", Value: "200"}}}

func TestMain(m *testing.M) {
	defer shared.Stop()
	m.Run()
}

// pool returns connections to an empty database.
func pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	return connect(t, shared.PostgreSQL(t).URL())
}

func connect(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// open returns an empty store, and its connections.
func open(t testing.TB, options postgres.Options) (*postgres.Store, *pgxpool.Pool) {
	t.Helper()
	pool := pool(t)
	return opened(t, pool, options), pool
}

func opened(t testing.TB, pool *pgxpool.Pool, options postgres.Options) *postgres.Store {
	t.Helper()
	require.NoError(t, postgres.Migrate(t.Context(), pool, options.Schema))
	if options.Jobs != nil {
		require.NoError(t, postgres.MigrateRiver(t.Context(), pool, options.Jobs.Schema))
	}
	store, err := postgres.Open(t.Context(), pool, options)
	require.NoError(t, err)
	return store
}

func TestStoreKeepsTheContract(t *testing.T) {
	// A schema of its own in one database is faster than a database, and shows that nothing else is touched.
	pool := pool(t)
	var schemas atomic.Int64
	schema := func() string { return `it's "{work}"; --\ ` + strconv.FormatInt(schemas.Add(1), 10) }
	t.Run("alone", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) payments.Store {
			return opened(t, pool, postgres.Options{Schema: schema()})
		})
	})
	t.Run("with River", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) payments.Store {
			return opened(t, pool, postgres.Options{Schema: schema(), Jobs: &postgres.Jobs{}})
		}, storetest.Operations(500))
	})
}

// Poolers of connections, such as PgBouncer, need another way to send statements.
func TestStoreWithoutPreparedStatements(t *testing.T) {
	url := shared.PostgreSQL(t).URL()
	for _, mode := range []string{"exec", "simple_protocol", "cache_describe"} {
		t.Run(mode, func(t *testing.T) {
			pool := connect(t, url+"&default_query_exec_mode="+mode)
			store := opened(t, pool, postgres.Options{Schema: mode, Jobs: &postgres.Jobs{}})
			insert(t, store, "a", "b")
			_, err := submitted(t, store, pool, payment("c"))
			require.NoError(t, err)
			claimed := claimDue(t, store, 2, time.Minute)
			require.Len(t, claimed, 2)
			lost, err := store.Extend(t.Context(), map[moneymovement.Key]payments.Lease{
				"a": claimed[0].Lease, "b": claimed[1].Lease, "c": claimed[0].Lease}, time.Minute)
			require.NoError(t, err)
			assert.Equal(t, []moneymovement.Key{"c"}, lost)
			claimed[0].State, claimed[0].Due = moneymovement.PaymentCompleted, time.Time{}
			_, err = store.Save(t.Context(), claimed[0], true)
			require.NoError(t, err)
			claimed[1].Due = time.Now().Add(time.Hour)
			require.NoError(t, store.Postpone(t.Context(), claimed[1]))
			_, err = store.Save(t.Context(), claimed[1], true)
			require.ErrorAs(t, err, new(*payments.LeaseLost))

			keys, _ := changed(t, store, "")
			assert.Equal(t, []moneymovement.Key{"b", "c", "a"}, keys)
			for _, list := range []payments.List{
				{Limit: 5}, {Limit: 5, ByAccount: true, Account: payments.OwnAccount},
				{Limit: 5, States: moneymovement.StoredPaymentStates()},
			} {
				records, err := store.List(t.Context(), list)
				require.NoError(t, err)
				assert.Len(t, records, 3)
			}
			summary, err := store.Summary(t.Context())
			require.NoError(t, err)
			assert.Equal(t, map[moneymovement.PaymentState]int{moneymovement.PaymentAccepted: 2,
				moneymovement.PaymentCompleted: 1}, summary.ByState)
			assert.False(t, summary.OldestDue.IsZero())
		})
	}
}

// A transaction that takes its place first and commits last must not be passed over.
func TestChangesOfATransactionThatCommitsLate(t *testing.T) {
	store, pool := open(t, postgres.Options{})
	late, err := pool.Begin(t.Context())
	require.NoError(t, err)
	insert(t, store, "before")
	_, err = store.SubmitTx(t.Context(), late, nil, payment("late"))
	require.NoError(t, err)
	insert(t, store, "after")

	seen, at := changed(t, store, "")
	assert.Equal(t, []moneymovement.Key{"before"}, seen)
	require.NoError(t, late.Commit(t.Context()))
	rest, at := changed(t, store, at)
	assert.Equal(t, []moneymovement.Key{"late", "after"}, rest)
	none, _ := changed(t, store, at)
	assert.Empty(t, none)
}

// Writers with transactions of all lengths, some of which roll back, and a reader that never goes back.
func TestNoChangeIsLeftOut(t *testing.T) {
	store, pool := open(t, postgres.Options{})
	const writers, each = 8, 60
	var group sync.WaitGroup
	var mu sync.Mutex
	committed := map[moneymovement.Key]bool{}
	for w := range writers {
		random := rand.New(rand.NewPCG(uint64(w), 1))
		group.Go(func() {
			for i := range each {
				key := moneymovement.Key(fmt.Sprintf("w%d-%d", w, i))
				tx, err := pool.Begin(t.Context())
				if !assert.NoError(t, err) {
					return
				}
				_, err = store.SubmitTx(t.Context(), tx, nil, payment(key))
				assert.NoError(t, err)
				_, err = tx.Exec(t.Context(), "SELECT pg_sleep($1)", float64(random.IntN(8))/1000)
				assert.NoError(t, err)
				if random.IntN(4) == 0 {
					assert.NoError(t, tx.Rollback(t.Context()))
					continue
				}
				assert.NoError(t, tx.Commit(t.Context()))
				mu.Lock()
				committed[key] = true
				mu.Unlock()
			}
		})
	}
	over := make(chan struct{})
	go func() { group.Wait(); close(over) }()
	var at payments.Position
	seen := map[moneymovement.Key]int{}
	for last := false; !last; {
		select {
		case <-over:
			last = true
		default:
		}
		var keys []moneymovement.Key
		keys, at = changed(t, store, at)
		for _, key := range keys {
			seen[key]++
		}
	}
	assert.Len(t, seen, len(committed))
	for key := range committed {
		assert.Equal(t, 1, seen[key], key)
	}
}

// Tables from a dump have numbers of transactions of another server.
func TestChangesGoOnAfterTheTablesMovedToAnotherServer(t *testing.T) {
	store, pool := open(t, postgres.Options{})
	insert(t, store, "moved")
	execute(t, pool, "UPDATE moneymovement.payments SET change_tx = '99999999999'")
	hidden, _ := changed(t, store, "")
	assert.Empty(t, hidden, "this shows what the test is about")

	store = opened(t, pool, postgres.Options{})
	keys, at := changed(t, store, "")
	assert.Equal(t, []moneymovement.Key{"moved"}, keys)
	insert(t, store, "new")
	keys, _ = changed(t, store, at)
	assert.Equal(t, []moneymovement.Key{"new"}, keys)

	opened(t, pool, postgres.Options{})
	assert.Equal(t, 1, count(t, pool, "SELECT era FROM moneymovement.payments_schema"), "one era for each move")
}

func TestPositions(t *testing.T) {
	store, _ := open(t, postgres.Options{})
	insert(t, store, "a")
	for _, bad := range []payments.Position{
		"x", "1", "0.1", "0.0.0.0", "0.-1.0", "0.1.x", "-1.0.0", "99999999999.0.0", "0.99999999999999999999999.0", "0.1.'",
		"0.0.9999999999999999999", "0. 1.0",
	} {
		_, err := store.Changes(t.Context(), bad, 1)
		require.ErrorAs(t, err, new(*payments.BadPosition), bad)
	}
	keys, _ := changed(t, store, "0.18446744073709551615.1")
	assert.Empty(t, keys)
}

// A stricter isolation than usual makes the database refuse statements that meet others. They are repeated.
func TestStricterIsolationOfTransactions(t *testing.T) {
	admin := pool(t)
	require.NoError(t, postgres.Migrate(t.Context(), admin, ""))
	execute(t, admin, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable',
		current_database()); END $$`)
	pool := connect(t, admin.Config().ConnString())
	store, err := postgres.Open(t.Context(), pool, postgres.Options{})
	require.NoError(t, err)
	insert(t, store, numbered("a", 40)...)
	var group sync.WaitGroup
	var mu sync.Mutex
	paid := map[moneymovement.Key]int{}
	for range 6 {
		group.Go(func() {
			for {
				claimed, err := claimSome(t.Context(), store)
				if !assert.NoError(t, err) || len(claimed) == 0 {
					return
				}
				for _, one := range claimed {
					one.State, one.Due = moneymovement.PaymentCompleted, time.Time{}
					_, err := store.Save(t.Context(), one, true)
					assert.NoError(t, err)
					mu.Lock()
					paid[one.Key]++
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	assert.Len(t, paid, 40)
	for key, times := range paid {
		assert.Equal(t, 1, times, key)
	}
}

func claimSome(ctx context.Context, store *postgres.Store) ([]payments.Claimed, error) {
	claimed, _, err := store.Claim(ctx, payments.Claim{
		Owner: "me", Work: payments.WorkBegin, Limit: 3, Now: time.Now(), For: time.Minute,
	})
	return claimed, err
}

// payment is a payment of one USDC.
func payment(key moneymovement.Key) payments.Payment {
	return payments.Payment{
		Key: key, Account: payments.OwnAccount,
		Payout: dapi.PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(1), Currency: dapi.USDC},
	}
}

func prepared(t testing.TB, key moneymovement.Key) payments.Record {
	t.Helper()
	record, err := payments.Prepare(payment(key), time.Now())
	require.NoError(t, err)
	return record
}

func insert(t testing.TB, store *postgres.Store, keys ...moneymovement.Key) {
	t.Helper()
	for _, key := range keys {
		_, inserted, err := store.Insert(t.Context(), prepared(t, key))
		require.NoError(t, err)
		require.True(t, inserted, key)
	}
}

func claimDue(t testing.TB, store *postgres.Store, limit int, lasts time.Duration) []payments.Claimed {
	t.Helper()
	claimed, _, err := store.Claim(t.Context(), payments.Claim{
		Owner: "me", Work: payments.WorkBegin, Limit: limit, Now: time.Now(), For: lasts,
	})
	require.NoError(t, err)
	return claimed
}

// changed returns the keys of the changes after a position, and the last position.
func changed(
	t testing.TB, store *postgres.Store, after payments.Position,
) (keys []moneymovement.Key, at payments.Position) {
	t.Helper()
	records, err := store.Changes(t.Context(), after, 1000)
	require.NoError(t, err)
	at = after
	for _, record := range records {
		keys, at = append(keys, record.Key), record.Position
	}
	return keys, at
}

func numbered(prefix string, n int) (keys []moneymovement.Key) {
	for i := range n {
		keys = append(keys, moneymovement.Key(fmt.Sprintf("%s-%04d", prefix, i)))
	}
	return keys
}

// executor is a pool, a connection or a transaction.
type executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func execute(t testing.TB, by executor, sql string, args ...any) {
	t.Helper()
	_, err := by.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

func count(t testing.TB, by executor, sql string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, by.QueryRow(t.Context(), sql, args...).Scan(&n))
	return n
}

const jobsOfPayments = `SELECT count(*) FROM river_job WHERE kind = 'moneymovement_payment' AND queue = 'payments'`

func TestSubmitTxIsCommittedWithTheRowOfTheCaller(t *testing.T) {
	store, pool := open(t, postgres.Options{Jobs: &postgres.Jobs{}})
	execute(t, pool, "CREATE TABLE invoices (id text PRIMARY KEY)")
	submit := func(key string, then error) (payments.Record, error) {
		var record payments.Record
		err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			execute(t, tx, "INSERT INTO invoices VALUES ($1)", key)
			var err error
			record, err = store.SubmitTx(t.Context(), tx, nil, payment(moneymovement.Key(key)))
			return errors.Join(err, then)
		})
		return record, err
	}
	refused := errors.New("the caller changes its mind")
	_, err := submit("rolled-back", refused)
	require.ErrorIs(t, err, refused)
	_, err = store.Load(t.Context(), "rolled-back")
	require.ErrorAs(t, err, new(*payments.NotFound))
	assert.Zero(t, count(t, pool, "SELECT count(*) FROM invoices"))
	assert.Zero(t, count(t, pool, jobsOfPayments))

	record, err := submit("committed", nil)
	require.NoError(t, err)
	assert.Equal(t, moneymovement.PaymentAccepted, record.State)
	row, err := store.Load(t.Context(), "committed")
	require.NoError(t, err)
	assert.Equal(t, row.Position, record.Position)
	assert.Equal(t, 1, count(t, pool, "SELECT count(*) FROM invoices"))
	assert.Equal(t, 1, count(t, pool, jobsOfPayments))
	assert.Equal(t, 1, count(t, pool, `SELECT count(*) FROM moneymovement.payments WHERE digest = $1`, record.Digest))
}

func TestSubmitTxOfAKnownKey(t *testing.T) {
	store, pool := open(t, postgres.Options{Jobs: &postgres.Jobs{}})
	first, err := submitted(t, store, pool, payment("a"))
	require.NoError(t, err)
	again := payment("a")
	again.Payout.Amount, again.Metadata = decimal.RequireFromString("1.00"), map[string]string{"other": "metadata"}
	second, err := submitted(t, store, pool, again)
	require.NoError(t, err)
	assert.Equal(t, first, second, "the same terms are the same payment")

	other := payment("a")
	other.Payout.Amount = decimal.NewFromInt(2)
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := store.SubmitTx(t.Context(), tx, nil, other)
		require.ErrorAs(t, err, new(*errors.IdempotencyKeyReused))
		_, err = store.SubmitTx(t.Context(), tx, nil, payment(""))
		require.ErrorAs(t, err, new(*errors.InvalidInput))
		_, err = store.SubmitTx(t.Context(), tx, nil, payment("b")) // the transaction goes on
		return err
	}))
	assert.Equal(t, 2, count(t, pool, jobsOfPayments), "a payment has one job")
	_, err = store.SubmitTx(t.Context(), nil, nil, payment("c"))
	require.ErrorContains(t, err, "the transaction is nil")
}

func TestOpenTransactionsDoNotBlockOthers(t *testing.T) {
	store, pool := open(t, postgres.Options{Jobs: &postgres.Jobs{}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var open []pgx.Tx
	for i := range 3 { // all of the same account
		tx, err := pool.Begin(ctx)
		require.NoError(t, err)
		for j := range 20 {
			_, err := store.SubmitTx(ctx, tx, nil, payment(numbered(fmt.Sprint("open-", i), 20)[j]))
			require.NoError(t, err)
		}
		open = append(open, tx)
	}
	insert(t, store, numbered("committed", 20)...)
	rows := claimDue(t, store, 50, time.Minute)
	assert.Len(t, rows, 20, "what is not committed is not there")
	_, err := store.Save(ctx, rows[0], true)
	require.NoError(t, err)
	for _, tx := range open {
		require.NoError(t, tx.Commit(ctx))
	}
	assert.Len(t, claimDue(t, store, 100, time.Minute), 61) // the saved row waits again
}

func TestTwoTransactionsWithTheSameKey(t *testing.T) {
	for _, commits := range []bool{true, false} {
		t.Run(fmt.Sprint("first commits: ", commits), func(t *testing.T) {
			store, pool := open(t, postgres.Options{})
			first, err := pool.Begin(t.Context())
			require.NoError(t, err)
			_, err = store.SubmitTx(t.Context(), first, nil, payment("a"))
			require.NoError(t, err)
			var group sync.WaitGroup
			group.Go(func() { // waits for the first
				record, err := submitted(t, store, pool, payment("a"))
				assert.NoError(t, err)
				assert.Equal(t, moneymovement.PaymentAccepted, record.State)
			})
			awaitLock(t, pool)
			if commits {
				require.NoError(t, first.Commit(t.Context()))
			} else {
				require.NoError(t, first.Rollback(t.Context()))
			}
			group.Wait()
			assert.Equal(t, 1, count(t, pool, "SELECT count(*) FROM moneymovement.payments"))
		})
	}
}

func TestSubmitTxIsDurableWhateverTheCallersSettings(t *testing.T) {
	store, pool := open(t, postgres.Options{})
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		execute(t, tx, "SET LOCAL synchronous_commit = off")
		_, err := store.SubmitTx(t.Context(), tx, nil, payment("a"))
		require.NoError(t, err)
		assert.Equal(t, 1, count(t, tx,
			"SELECT count(*) FROM pg_settings WHERE name = 'synchronous_commit' AND setting = 'on'"))
		return nil
	}))
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		execute(t, tx, "SET LOCAL synchronous_commit = remote_apply")
		_, err := store.SubmitTx(t.Context(), tx, nil, payment("b"))
		require.NoError(t, err)
		assert.Equal(t, 1, count(t, tx,
			"SELECT count(*) FROM pg_settings WHERE name = 'synchronous_commit' AND setting = 'remote_apply'"))
		return nil
	}))
}

// submitted submits a payment in a transaction of its own.
func submitted(t testing.TB, store *postgres.Store, by interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}, p payments.Payment) (record payments.Record, err error) {
	t.Helper()
	err = pgx.BeginFunc(t.Context(), by, func(tx pgx.Tx) error {
		record, err = store.SubmitTx(t.Context(), tx, nil, p)
		return err
	})
	return record, err
}

// awaitLock waits until a statement waits for the end of another transaction.
func awaitLock(t testing.TB, by executor) {
	t.Helper()
	require.Eventually(t, func() bool {
		return count(t, by, "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) "+
			"WHERE NOT granted AND a.datname = current_database()") > 0
	}, 10*time.Second, 5*time.Millisecond)
}
