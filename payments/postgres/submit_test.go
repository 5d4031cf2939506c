package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

const jobsOfPayments = `SELECT count(*) FROM river_job WHERE kind = 'moneymovement_payment' AND queue = 'payments'`

func TestSubmitTxIsCommittedWithTheRowOfTheCaller(t *testing.T) {
	store, pool := open(t, postgres.Options{Jobs: &postgres.Jobs{}})
	execute(t, pool, "CREATE TABLE invoices (id text PRIMARY KEY)")
	submit := func(key string, then error) (payments.Record, error) {
		var record payments.Record
		err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			execute(t, tx, "INSERT INTO invoices VALUES ($1)", key)
			var err error
			record, err = store.SubmitTx(t.Context(), tx, payment(moneymovement.Key(key)))
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
		_, err := store.SubmitTx(t.Context(), tx, other)
		require.ErrorAs(t, err, new(*errors.IdempotencyKeyReused))
		_, err = store.SubmitTx(t.Context(), tx, payment(""))
		require.ErrorAs(t, err, new(*errors.InvalidInput))
		_, err = store.SubmitTx(t.Context(), tx, payment("b")) // the transaction goes on
		return err
	}))
	assert.Equal(t, 2, count(t, pool, jobsOfPayments), "a payment has one job")
	_, err = store.SubmitTx(t.Context(), nil, payment("c"))
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
			_, err := store.SubmitTx(ctx, tx, payment(numbered(fmt.Sprint("open-", i), 20)[j]))
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
			_, err = store.SubmitTx(t.Context(), first, payment("a"))
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
		_, err := store.SubmitTx(t.Context(), tx, payment("a"))
		require.NoError(t, err)
		assert.Equal(t, 1, count(t, tx,
			"SELECT count(*) FROM pg_settings WHERE name = 'synchronous_commit' AND setting = 'on'"))
		return nil
	}))
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		execute(t, tx, "SET LOCAL synchronous_commit = remote_apply")
		_, err := store.SubmitTx(t.Context(), tx, payment("b"))
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
		record, err = store.SubmitTx(t.Context(), tx, p)
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
