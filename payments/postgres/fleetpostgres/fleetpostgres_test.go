package fleetpostgres_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/fleet"
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

// A name of a schema cannot end a comment or the body of the function. A long name is refused: PostgreSQL would cut it
// off, and two tenants would share it.
func TestNamesThatAreNoSchema(t *testing.T) {
	pool := migrated(t, shared.PostgreSQL(t))
	for _, name := range []string{
		"x\nDROP TABLE moneymovement.fleet_session; --", "x$take$; DROP TABLE moneymovement.fleet_session; --",
		strings.Repeat("n", 64), "a\x00b", "\xff",
	} {
		require.ErrorContains(t, fleetpostgres.Migrate(t.Context(), pool, name), "is not a name for a schema")
		_, err := fleetpostgres.NewLimiter(pool, name, "c")
		require.ErrorContains(t, err, "is not a name for a schema")
		_, err = fleetpostgres.NewTokenStore(pool, "c", fleetpostgres.WithoutEncryption(),
			fleetpostgres.WithSchema(name))
		require.ErrorContains(t, err, "is not a name for a schema")
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

func TestUnavailableDatabase(t *testing.T) {
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

// The server is killed under load, and comes back without its log: calls fail in between, and then go on.
func TestServerKilledUnderLoad(t *testing.T) {
	server := testkit.PostgreSQL(t)
	migrated(t, server)
	testkit.KilledStore(t, server.Kill, server.Restart, func() fleet.Windows { return windows(t, dial(t, server)) })
}

// Sixteen limiters fill the window twice, although serializable transactions get in each other's way. How long it takes
// depends on the machine: a slot whose response comes late goes back to the store. TestAFullWindowIsUsed of package
// fleet says how much of the window is used, with a clock of its own.
func TestSerializableTransactionsFillTheWindow(t *testing.T) {
	server, allowed := testkit.PostgreSQL(t, serializable), testkit.Allowance()
	migrated(t, server)
	result := testkit.Load{
		Processes: 16, Callers: 5, For: 5 * time.Minute, Calls: 2 * allowed.Calls,
		Options: []fleet.Option{fleet.WithPatience(5 * time.Minute)},
		Open:    func() fleet.Windows { return windows(t, dial(t, server)) },
	}.Run(t)
	for i, at := range result.At { // a call may be noted late, and never early
		require.LessOrEqual(t, i, allowed.Calls*(1+int(at/allowed.Span()))-1, "calls before the one after %v", at)
	}
	assert.GreaterOrEqual(t, len(result.At), 2*allowed.Calls, "in five minutes")
	assert.Zero(t, result.Unavailable)
}

var serializable = testkit.Setting{Name: "default_transaction_isolation", Value: "serializable"}

// interrupted is a database in which other transactions get in the way of some questions.
type interrupted struct {
	fleetpostgres.DB
	times int // that are left
}

func (d *interrupted) QueryRow(ctx context.Context, statement string, args ...any) pgx.Row {
	if d.times == 0 {
		return d.DB.QueryRow(ctx, statement, args...)
	}
	d.times--
	return refusedRow{&pgconn.PgError{Code: "40001", Message: "could not serialize access due to concurrent update"}}
}

type refusedRow struct{ err error }

func (r refusedRow) Scan(...any) error { return r.err }

// A question that another transaction got in the way of is asked again at once, a few times.
func TestReservationIsRetriedAfterConflict(t *testing.T) {
	db := &interrupted{DB: migrated(t, shared.PostgreSQL(t))}
	of := windows(t, db)
	request := fleet.Request{Key: "a", Process: "p", Calls: 1, Span: time.Minute}
	request.Waiting[0] = 1
	db.times = 5
	_, err := of.Reserve(t.Context(), request)
	require.ErrorContains(t, err, "could not serialize access")
	assert.Zero(t, db.times, "no more than five times")
	db.times = 4
	reservation, err := of.Reserve(t.Context(), request)
	require.NoError(t, err)
	assert.Len(t, reservation.Slots, 1)
}

func windows(t *testing.T, db fleetpostgres.DB) *fleetpostgres.Windows {
	t.Helper()
	windows, err := fleetpostgres.NewWindows(db, "")
	require.NoError(t, err)
	return windows
}

// Without the tables, and with a damaged row, the error is that of the database.
func TestMissingTables(t *testing.T) {
	pool := dial(t, shared.PostgreSQL(t))
	limiter, err := fleetpostgres.NewLimiter(pool, "", "credential", fleet.WithPatience(0))
	require.NoError(t, err)
	call := moneymovement.RateCall{Window: moneymovement.WindowWrites}
	var away *fleet.StoreUnavailable
	require.ErrorAs(t, limiter.Wait(t.Context(), call), &away)
	require.ErrorContains(t, away, "call fleetpostgres.Migrate")
	_, err = storeOf(t, pool, "credential").Load(t.Context())
	require.ErrorContains(t, err, "call fleetpostgres.Migrate")

	require.NoError(t, fleetpostgres.Migrate(t.Context(), pool, ""))
	_, err = pool.Exec(t.Context(), "INSERT INTO moneymovement.fleet_window (key, log, processes) "+
		"VALUES ('credential:reads', 'log', '{someone,another}')")
	require.NoError(t, err)
	call.Window = moneymovement.WindowReads
	require.ErrorAs(t, limiter.Wait(t.Context(), call), &away)

	_, err = fleetpostgres.NewLimiter(nil, "", "credential")
	require.ErrorContains(t, err, "make one with pgxpool.New")
}

// Migrate needs no right to create what exists: the schema, and then the tables and the function.
func TestMigrateNeedsNoRightToCreateWhatExists(t *testing.T) {
	admin := dial(t, shared.PostgreSQL(t))
	execute := func(statement string) {
		t.Helper()
		_, err := admin.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	execute(`CREATE ROLE fleet_of_a_test LOGIN PASSWORD 'fleet'`)
	defer func() { execute(`DROP OWNED BY fleet_of_a_test`); execute(`DROP ROLE fleet_of_a_test`) }()
	execute(`CREATE SCHEMA moneymovement AUTHORIZATION fleet_of_a_test`)
	config := admin.Config()
	config.ConnConfig.User, config.ConnConfig.Password, config.MaxConns = "fleet_of_a_test", "fleet", 1
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	require.Error(t, fleetpostgres.Migrate(t.Context(), pool, "another"))
	require.NoError(t, fleetpostgres.Migrate(t.Context(), pool, ""))

	execute(`REASSIGN OWNED BY fleet_of_a_test TO postgres`)
	execute(`GRANT USAGE ON SCHEMA moneymovement TO fleet_of_a_test`)
	require.NoError(t, fleetpostgres.Migrate(t.Context(), pool, ""))
	ask := fleet.Request{Key: "a", Process: "p", Calls: 1, Span: time.Minute}
	_, err = windows(t, pool).Reserve(t.Context(), ask)
	require.ErrorContains(t, err, "grant the rights")
	execute(`GRANT SELECT, INSERT, UPDATE, DELETE ON moneymovement.fleet_session, moneymovement.fleet_window
		TO fleet_of_a_test`)
	_, err = windows(t, pool).Reserve(t.Context(), ask)
	require.NoError(t, err)
	execute(`DROP FUNCTION moneymovement.fleet_take_1`)
	require.Error(t, fleetpostgres.Migrate(t.Context(), pool, ""), "there is something to do")
	require.NoError(t, fleetpostgres.Migrate(t.Context(), admin, ""))
	require.NoError(t, fleetpostgres.Migrate(t.Context(), pool, ""))
}

// Windows that count nothing any more are deleted.
func TestOldWindowsAreDeleted(t *testing.T) {
	pool := migrated(t, shared.PostgreSQL(t))
	_, err := pool.Exec(t.Context(), "INSERT INTO moneymovement.fleet_window (key, ends) "+
		"SELECT 'old' || i, now() - interval '1 hour' FROM generate_series(1, 150) i")
	require.NoError(t, err)
	windows := windows(t, pool)
	left := 150
	for range 5000 {
		_, err := windows.Reserve(t.Context(), fleet.Request{Key: "new", Process: "p", Calls: 1, Span: time.Minute})
		require.NoError(t, err)
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM moneymovement.fleet_window "+
			"WHERE key LIKE 'old%'").Scan(&left))
		if left == 0 {
			break
		}
	}
	assert.Zero(t, left)
}
