package postgres_test

import (
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
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

func TestMigrateAgainChangesNothing(t *testing.T) {
	store, pool := open(t, postgres.Options{})
	insert(t, store, "kept")
	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
	_, err := store.Load(t.Context(), "kept")
	require.NoError(t, err)
}

func TestManyProcessesMigrateAtOnce(t *testing.T) {
	url := shared.PostgreSQL(t).URL()
	var group sync.WaitGroup
	for range 8 {
		pool := connect(t, url)
		group.Go(func() {
			assert.NoError(t, postgres.Migrate(t.Context(), pool, "the same"))
			assert.NoError(t, postgres.MigrateRiver(t.Context(), pool, ""))
			_, err := postgres.Open(t.Context(), pool, postgres.Options{Schema: "the same", Jobs: &postgres.Jobs{}})
			assert.NoError(t, err)
		})
	}
	group.Wait()
}

func TestMigrateNeedsNoRightOfTheDatabaseIfTheSchemaExists(t *testing.T) {
	admin := pool(t)
	execute(t, admin, `CREATE ROLE `+role()+` LOGIN PASSWORD 'pay'`)
	execute(t, admin, `CREATE SCHEMA "own" AUTHORIZATION `+role())
	defer func() {
		execute(t, admin, `DROP OWNED BY `+role())
		execute(t, admin, `DROP ROLE `+role())
	}()
	config := admin.Config()
	config.ConnConfig.User, config.ConnConfig.Password = strings.Trim(role(), `"`), "pay"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	require.Error(t, postgres.Migrate(t.Context(), pool, "another"))
	require.NoError(t, postgres.Migrate(t.Context(), pool, "own"))
	store, err := postgres.Open(t.Context(), pool, postgres.Options{Schema: "own"})
	require.NoError(t, err)
	insert(t, store, "a")
	execute(t, admin, `ALTER SCHEMA "own" OWNER TO postgres`)
	execute(t, admin, `GRANT USAGE ON SCHEMA "own" TO `+role())
	require.NoError(t, postgres.Migrate(t.Context(), pool, "own"), "there is nothing to do")
	execute(t, admin, `REVOKE ALL ON SCHEMA "own" FROM `+role())
	_, err = postgres.Open(t.Context(), pool, postgres.Options{Schema: "own"})
	var lacks *postgres.RightMissing
	require.ErrorAs(t, err, &lacks)
	assert.Equal(t, "USAGE own", lacks.Right+" "+lacks.On)
}

// The rights that docs/production.md lists are enough. Open names the first of them that is missing.
func TestOpenNamesTheRightThatIsMissing(t *testing.T) {
	admin := pool(t)
	execute(t, admin, `CREATE ROLE `+role()+` LOGIN PASSWORD 'pay'`)
	defer func() {
		execute(t, admin, `DROP OWNED BY `+role())
		execute(t, admin, `DROP ROLE `+role())
	}()
	config := admin.Config()
	config.ConnConfig.User, config.ConnConfig.Password = strings.Trim(role(), `"`), "pay"
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	require.NoError(t, postgres.Migrate(t.Context(), admin, "pay"))
	execute(t, admin, `CREATE SCHEMA "work"`)
	require.NoError(t, postgres.MigrateRiver(t.Context(), admin, "work"))
	options := postgres.Options{Schema: "pay", Jobs: &postgres.Jobs{Schema: "work"}}
	for _, grant := range []struct{ rights, on, name string }{
		{"USAGE", "SCHEMA", "pay"}, {"SELECT", "TABLE", "pay.payments_schema"},
		{"UPDATE", "TABLE", "pay.payments_schema"},
		{"INSERT", "TABLE", "pay.payments"}, {"SELECT", "TABLE", "pay.payments"}, {"UPDATE", "TABLE", "pay.payments"},
		{"USAGE", "SEQUENCE", "pay.changes"}, {"SELECT", "SEQUENCE", "pay.turns"}, {"UPDATE", "SEQUENCE", "pay.turns"},
		{"USAGE", "SCHEMA", "work"}, {"INSERT", "TABLE", "work.river_job"}, {"SELECT", "TABLE", "work.river_job"},
		{"UPDATE", "TABLE", "work.river_job"},
		{"USAGE", "SEQUENCE", "work.river_job_id_seq"},
	} {
		_, err := postgres.Open(t.Context(), pool, options)
		var lacks *postgres.RightMissing
		require.ErrorAs(t, err, &lacks)
		assert.Equal(t, grant.rights+" "+grant.name, lacks.Right+" "+lacks.On)
		require.ErrorContains(t, err, "GRANT "+grant.rights+" ON "+grant.on+" "+grant.name)
		execute(t, admin, "GRANT "+grant.rights+" ON "+grant.on+" "+grant.name+" TO "+role())
	}
	require.NoError(t, postgres.Migrate(t.Context(), pool, "pay"))
	store, err := postgres.Open(t.Context(), pool, options)
	require.NoError(t, err)
	insert(t, store, "a", "b")
	_, err = submitted(t, store, pool, payment("c"))
	require.NoError(t, err)
	rows := claimDue(t, store, 3, time.Minute)
	require.Len(t, rows, 3)
	_, err = store.Extend(t.Context(), map[moneymovement.Key]payments.Lease{"a": rows[0].Lease}, time.Minute)
	require.NoError(t, err)
	_, err = store.Save(t.Context(), rows[0], true)
	require.NoError(t, err)
	require.NoError(t, store.Postpone(t.Context(), rows[1]))
	_, err = store.Summary(t.Context())
	require.NoError(t, err)
	_, err = store.Changes(t.Context(), "", 9)
	require.NoError(t, err)
	require.NoError(t, store.MarkRestored(t.Context(), time.Now()))
}

// A pool of one connection is enough, and no lock of a session is left, which a pooler would keep.
func TestMigrationsOverOneConnection(t *testing.T) {
	config := pool(t).Config()
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 2 {
		require.NoError(t, postgres.Migrate(ctx, pool, ""))
		require.NoError(t, postgres.MigrateRiver(ctx, pool, ""))
		var locks int
		require.NoError(t, pool.QueryRow(ctx, "SELECT count(*) FROM pg_locks "+
			"WHERE locktype = 'advisory' AND database = "+
			"(SELECT oid FROM pg_database WHERE datname = current_database())").Scan(&locks))
		assert.Zero(t, locks)
	}
	_, err = postgres.Open(ctx, pool, postgres.Options{Jobs: &postgres.Jobs{}})
	require.NoError(t, err)
}

// role is the name of a role. Roles belong to the server and not to the database.
func role() string { return pgx.Identifier{"role of a test"}.Sanitize() }

func TestOpenSaysWhatIsWrongWithTheSchema(t *testing.T) {
	pool := pool(t)
	_, err := postgres.Open(t.Context(), pool, postgres.Options{Schema: "nowhere"})
	var missing *postgres.SchemaMissing
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, "nowhere", missing.Schema)
	assert.ErrorContains(t, err, "call postgres.Migrate")

	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
	execute(t, pool, "UPDATE moneymovement.payments_schema SET revision = 1")
	_, err = postgres.Open(t.Context(), pool, postgres.Options{})
	var old *postgres.SchemaTooOld
	require.ErrorAs(t, err, &old)
	assert.Equal(t, postgres.SchemaTooOld{Schema: "moneymovement", Version: 1, Known: 3}, *old)

	execute(t, pool, "UPDATE moneymovement.payments_schema SET revision = 70")
	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
	_, err = postgres.Open(t.Context(), pool, postgres.Options{})
	require.NoError(t, err, "a later revision that says nothing else is left as it is")

	execute(t, pool, "UPDATE moneymovement.payments_schema SET version = 7")
	var late *postgres.SchemaTooNew
	for _, err := range []error{
		postgres.Migrate(t.Context(), pool, ""), func() error {
			_, err := postgres.Open(t.Context(), pool, postgres.Options{})
			return err
		}(),
	} {
		require.ErrorAs(t, err, &late)
		assert.Equal(t, postgres.SchemaTooNew{Schema: "moneymovement", Version: 7, Known: 3}, *late)
	}
	var version int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT version FROM moneymovement.payments_schema").Scan(&version))
	assert.Equal(t, 7, version, "an old program must not change it")
}

// Tables of revision 1, which do not say their revision, are migrated while a program works on them. What that program
// writes afterwards, with its own statements, is as if it had written it before.
func TestTablesOfRevision1(t *testing.T) {
	pool := pool(t)
	store := opened(t, pool, postgres.Options{})
	insert(t, store, "a")
	execute(t, pool, "ALTER TABLE moneymovement.payments DROP COLUMN needs")
	execute(t, pool, "ALTER TABLE moneymovement.payments_schema DROP COLUMN revision, DROP COLUMN restored_from")
	_, err := postgres.Open(t.Context(), pool, postgres.Options{})
	require.ErrorAs(t, err, new(*postgres.SchemaTooOld))
	store = opened(t, pool, postgres.Options{})
	execute(t, pool, `INSERT INTO moneymovement.payments (key, account, digest, state, work, due, turn, lease_epoch,
			change_era, change_tx, change, data)
		SELECT 'b', account, digest, state, work, due, turn, 0, change_era, change_tx, change + 1,
			convert_to(replace(convert_from(data, 'UTF8'), '"key":"a"', '"key":"b"'), 'UTF8')
		FROM moneymovement.payments`)
	rows := claimDue(t, store, 3, time.Minute)
	require.Len(t, rows, 2)
	for _, row := range rows {
		_, err := store.Save(t.Context(), row, true)
		require.NoError(t, err)
	}
	var version, revision int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT version, revision FROM moneymovement.payments_schema").
		Scan(&version, &revision))
	assert.Equal(t, []int{1, 3}, []int{version, revision}, "programs of revision 1 open it as well")

	require.NoError(t, store.MarkRestored(t.Context(), time.Now()))
	read := func() (version int) {
		row := pool.QueryRow(t.Context(), "SELECT version FROM moneymovement.payments_schema")
		require.NoError(t, row.Scan(&version))
		return version
	}
	assert.Equal(t, 2, read(), "programs that do not know what a restore means do not open it")
	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
	_, err = postgres.Open(t.Context(), pool, postgres.Options{})
	require.NoError(t, err)
	require.NoError(t, store.MarkRestored(t.Context(), time.Time{}))
	assert.Equal(t, 1, read())
}

func TestSchemaNames(t *testing.T) {
	pool := pool(t)
	for _, name := range []string{
		"payments", "SELECT", `a"b`, "it's", `back\slash`, "semi;colon --", "{schema}", "{work}", "Größe", " ",
		strings.Repeat("n", 63),
	} {
		store := opened(t, pool, postgres.Options{Schema: name})
		insert(t, store, "a")
		row := claimDue(t, store, 1, time.Minute)[0]
		_, err := store.Save(t.Context(), row, true)
		require.NoError(t, err, name)
	}
	for _, name := range []string{strings.Repeat("n", 64), "a\x00b", "\xff", "a\nb", "a$b"} {
		require.ErrorContains(t, postgres.Migrate(t.Context(), pool, name), "is not a name for a schema")
		_, err := postgres.Open(t.Context(), pool, postgres.Options{Schema: name})
		require.ErrorContains(t, err, "is not a name for a schema")
	}
	for _, name := range []string{strings.Repeat("n", 47), "a b", `a"; DROP SCHEMA payments CASCADE; --`, "a\nb"} {
		err := postgres.MigrateRiver(t.Context(), pool, name)
		require.ErrorContains(t, err, "is not a name for the schema of River")
	}
	_, err := postgres.Open(t.Context(), nil, postgres.Options{})
	require.ErrorContains(t, err, "the pool is nil")
	_, err = postgres.Open(t.Context(), pool, postgres.Options{Schema: "payments", Jobs: &postgres.Jobs{Schema: "a b"}})
	require.ErrorContains(t, err, "River")
}

// The driver's error has a line for each address that it has tried.
func TestUnreachableErrorIsOneLine(t *testing.T) {
	away := connect(t, "postgres://someone:hidden@127.0.0.1:1/payments") // no program listens on port 1
	_, err := postgres.Open(t.Context(), away, postgres.Options{})
	var unreachable *postgres.Unreachable
	require.ErrorAs(t, err, &unreachable)
	require.ErrorAs(t, err, new(*pgconn.ConnectError), "what pgx says")
	assert.NotContains(t, err.Error(), "\n")
	assert.NotContains(t, err.Error(), "hidden")
}

func TestJobsWithoutTheTablesOfRiver(t *testing.T) {
	pool := pool(t)
	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
	store, err := postgres.Open(t.Context(), pool, postgres.Options{Jobs: &postgres.Jobs{}})
	require.NoError(t, err)
	require.ErrorContains(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := store.SubmitTx(t.Context(), tx, nil, payment("a"))
		return err
	}), "run River's migrations, for example with postgres.MigrateRiver")
}

func TestJobsWithAPriorityThatRiverDoesNotHave(t *testing.T) {
	pool := pool(t)
	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
	for _, priority := range []int{-1, 5} {
		_, err := postgres.Open(t.Context(), pool, postgres.Options{Jobs: &postgres.Jobs{Priority: priority}})
		require.ErrorContains(t, err, "use 1 to 4", "%d", priority)
	}
}

func TestTablesOfRiverInASchemaThatIsMissing(t *testing.T) {
	require.ErrorContains(t, postgres.MigrateRiver(t.Context(), pool(t), "missing"),
		"create the schema of River's tables first")
}
