package fleetpostgres_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/testkit"
	fleetpostgres "github.com/moneymovement/moneymovement-go/payments/postgres/fleetpostgres"
)

// shared is the server of the tests that neither kill theirs nor load it.
var shared testkit.SharedPostgreSQL

func TestMain(m *testing.M) {
	defer shared.Stop()
	m.Run()
}

func dial(t *testing.T, server *testkit.Server) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), server.URL())
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func migrated(t *testing.T, server *testkit.Server) *pgxpool.Pool {
	t.Helper()
	pool := dial(t, server)
	require.NoError(t, fleetpostgres.Migrate(t.Context(), pool, ""))
	return pool
}

// seal is a key.
func seal(key byte) []byte { return bytes.Repeat([]byte{key}, 32) }

// storeOf returns a token store, which stores the session as it is if no option says otherwise.
func storeOf(
	t *testing.T, pool *pgxpool.Pool, credential string, options ...fleetpostgres.TokenStoreOption,
) *fleetpostgres.TokenStore {
	t.Helper()
	options = append([]fleetpostgres.TokenStoreOption{fleetpostgres.WithoutEncryption()}, options...)
	store, err := fleetpostgres.NewTokenStore(pool, credential, options...)
	require.NoError(t, err)
	return store
}

func TestTokenStore(t *testing.T) {
	pool := migrated(t, shared.PostgreSQL(t))
	require.NoError(t, fleetpostgres.Migrate(t.Context(), pool, `a "schema"`))
	testkit.TokenStore(t, storeOf(t, pool, "plain"))
	testkit.TokenStore(t, storeOf(t, pool, "sealed", fleetpostgres.WithEncryption(seal(1)),
		fleetpostgres.WithSchema(`a "schema"`)))
	var plain, sealed string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT encode(session, 'escape') FROM moneymovement.fleet_session`).
		Scan(&plain))
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT encode(session, 'escape') FROM "a ""schema""".fleet_session`).
		Scan(&sealed))
	assert.Contains(t, plain, "two-refresh")
	assert.NotContains(t, sealed, "two")
}

// A name of a schema cannot end a comment or the body of the function, and none is cut off: two tenants would share it.
func TestNamesThatAreNoSchema(t *testing.T) {
	pool := migrated(t, shared.PostgreSQL(t))
	for _, name := range []string{
		"x\nDROP TABLE moneymovement.fleet_session; --", "x$take$; DROP TABLE moneymovement.fleet_session; --",
		strings.Repeat("n", 64), "a\x00b", "\xff",
	} {
		require.ErrorContains(t, fleetpostgres.Migrate(t.Context(), pool, name), "is no name for a schema")
		_, err := fleetpostgres.NewLimiter(pool, name, "c")
		require.ErrorContains(t, err, "is no name for a schema")
		_, err = fleetpostgres.NewTokenStore(pool, "c", fleetpostgres.WithoutEncryption(),
			fleetpostgres.WithSchema(name))
		require.ErrorContains(t, err, "is no name for a schema")
	}
	require.NoError(t, storeOf(t, pool, "c").Save(t.Context(), testkit.Session("x")))
}

// A store says how its session is protected.
func TestATokenStoreNeedsItsProtection(t *testing.T) {
	for says, options := range map[string][]fleetpostgres.TokenStoreOption{
		"needs WithEncryption and a key, or WithoutEncryption": nil,
		"has 16 bytes: take 32 random ones":                    {fleetpostgres.WithEncryption(make([]byte, 16))},
	} {
		_, err := fleetpostgres.NewTokenStore(nil, "c", options...)
		require.ErrorContains(t, err, says)
	}
}

// A value that cannot be read or decrypted is ignored, and the next login replaces it.
func TestAForeignValueIsNoSession(t *testing.T) {
	pool := migrated(t, shared.PostgreSQL(t))
	store := storeOf(t, pool, "c", fleetpostgres.WithEncryption(seal(1)))
	for name, value := range map[string]string{"not encrypted": "", "short": "x"} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, storeOf(t, pool, "c").Save(t.Context(), testkit.Session("x")))
			if value != "" {
				_, err := pool.Exec(t.Context(), "UPDATE moneymovement.fleet_session SET session = $1", []byte(value))
				require.NoError(t, err)
			}
			stored, err := store.Load(t.Context())
			require.NoError(t, err)
			assert.True(t, stored.AccessToken.IsZero())
			require.NoError(t, store.Save(t.Context(), testkit.Session("new")))
			stored, err = store.Load(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "new", stored.AccessToken.Reveal())
		})
	}
}

// Many processes may migrate at once, and again.
func TestMigrationsAtTheSameTime(t *testing.T) {
	server := shared.PostgreSQL(t)
	var all sync.WaitGroup
	for range 8 {
		pool := dial(t, server)
		all.Go(func() {
			for range 3 {
				assert.NoError(t, fleetpostgres.Migrate(t.Context(), pool, "fleet"))
			}
		})
	}
	all.Wait()
}

func TestAStoreThatIsDown(t *testing.T) {
	server := testkit.PostgreSQL(t)
	store := storeOf(t, migrated(t, server), "c")
	server.Stop()
	_, err := store.Load(t.Context())
	require.Error(t, err)
	require.Error(t, store.Save(t.Context(), testkit.Session("secret token")))
	_, err = store.Lock(t.Context(), "a", 1)
	require.Error(t, err)
	require.Error(t, store.Unlock(t.Context(), "a"))
}
