package postgres_test

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
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
