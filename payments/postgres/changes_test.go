package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

// A transaction that takes its place first and commits last must not be passed over.
func TestChangesOfATransactionThatCommitsLate(t *testing.T) {
	store, pool := open(t, postgres.Options{})
	late, err := pool.Begin(t.Context())
	require.NoError(t, err)
	insert(t, store, "before")
	_, err = store.SubmitTx(t.Context(), late, payment("late"))
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
				_, err = store.SubmitTx(t.Context(), tx, payment(key))
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
