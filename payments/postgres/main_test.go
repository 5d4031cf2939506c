package postgres_test

import (
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/servers"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/payments/storetest"
)

// shared is the server of all tests that do not kill theirs.
var shared = servers.Shared{Settings: []servers.Setting{{Name: "max_connections", Value: "200"}}}

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
