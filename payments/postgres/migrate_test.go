package postgres_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	execute(t, admin, `REVOKE ALL ON SCHEMA "own" FROM `+role())
	execute(t, admin, `ALTER SCHEMA "own" OWNER TO postgres`)
	_, err = postgres.Open(t.Context(), pool, postgres.Options{Schema: "own"})
	require.ErrorAs(t, err, new(*postgres.SchemaMissing))
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
	execute(t, pool, "UPDATE moneymovement.payments_schema SET version = 0")
	_, err = postgres.Open(t.Context(), pool, postgres.Options{})
	var old *postgres.SchemaTooOld
	require.ErrorAs(t, err, &old)
	assert.Equal(t, postgres.SchemaTooOld{Schema: "moneymovement", Version: 0, Known: 1}, *old)

	execute(t, pool, "UPDATE moneymovement.payments_schema SET version = 7")
	var late *postgres.SchemaTooNew
	for _, err := range []error{
		postgres.Migrate(t.Context(), pool, ""), func() error {
			_, err := postgres.Open(t.Context(), pool, postgres.Options{})
			return err
		}(),
	} {
		require.ErrorAs(t, err, &late)
		assert.Equal(t, postgres.SchemaTooNew{Schema: "moneymovement", Version: 7, Known: 1}, *late)
	}
	var version int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT version FROM moneymovement.payments_schema").Scan(&version))
	assert.Equal(t, 7, version, "an old program must not change it")
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
		require.ErrorContains(t, postgres.Migrate(t.Context(), pool, name), "is no name for a schema")
		_, err := postgres.Open(t.Context(), pool, postgres.Options{Schema: name})
		require.ErrorContains(t, err, "is no name for a schema")
	}
	for _, name := range []string{strings.Repeat("n", 47), "a b", `a"; DROP SCHEMA payments CASCADE; --`, "a\nb"} {
		require.ErrorContains(t, postgres.MigrateRiver(t.Context(), pool, name), "is no name for the schema of River")
	}
	_, err := postgres.Open(t.Context(), nil, postgres.Options{})
	require.ErrorContains(t, err, "the pool is nil")
	_, err = postgres.Open(t.Context(), pool, postgres.Options{Schema: "payments", Jobs: &postgres.Jobs{Schema: "a b"}})
	require.ErrorContains(t, err, "River")
}
