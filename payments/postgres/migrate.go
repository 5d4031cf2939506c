package postgres

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/moneymovement/moneymovement-go/payments/postgres/internal/sqlname"
)

// The files of schema are the revisions, in order. A released file never changes: a new revision is a new file.
//
//go:embed schema/*.sql
var revisions embed.FS

// The tables say two numbers. Their revision is the last file that was run. Their version is the lowest one that a
// program must know to use them: it rises only with a revision that an older program must not write to. So an older
// program goes on beside a newer one while the tables are migrated, and after a way back.
const (
	newestRevision = 3
	newestVersion  = talliedVersion
	// restoredVersion is the version of tables that were restored from a copy: see [Store.MarkRestored].
	restoredVersion = 2
	// talliedVersion is the version of tables from the first payment on that counts against a cap. A program that does
	// not count would pass it.
	talliedVersion = 3
)

// versionOf is the version of each revision.
var versionOf = [newestRevision + 1]int{0, 1, 1, 1}

// Migrate creates the tables of a [Store] in a schema, or updates them to the revision of this package. Programs of
// earlier versions go on meanwhile and afterwards, unless [SchemaTooNew] says otherwise. It creates the schema if it is
// missing. An empty name is [DefaultSchema]; any other has up to 63 bytes of text that can be printed,
// and no dollar sign. Calling it again changes nothing, and needs no right to create anything. Several processes can
// call it at once: all but one wait. If the tables are of a later version, the error is *[SchemaTooNew].
func Migrate(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	names, err := newNames(schema)
	if err != nil {
		return err
	}
	if names.check(ctx, pool) == nil {
		return nil // without a right that only a migration needs
	}
	return asUnreachable(pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", lockOf(names.String())); err != nil {
			return err
		}
		return names.migrate(ctx, tx)
	}))
}

// riverSchema is the rule of River's clients for the name of a schema. River's migrations do not apply it.
var riverSchema = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,45}$`)

// MigrateRiver creates River's tables in a schema, or updates them, with the migrations of the version of River that
// this package was built with. Call it only if you do not run River's migrations in another way. The schema must exist.
// An empty name is the first of the search path.
func MigrateRiver(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	if schema != "" && !riverSchema.MatchString(schema) {
		return fmt.Errorf("%.80q is not a name for the schema of River's tables: a name has up to 46 letters, digits "+
			"and underscores", schema)
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool),
		&rivermigrate.Config{Schema: schema, Logger: discardLogger()})
	if err != nil {
		return err
	}
	// River's migrations do not wait for each other, so a lock does. It is of the transaction, and not of the session,
	// which a pooler keeps. River itself makes each migration in a transaction of its own, and so does this.
	for more := true; more && err == nil; {
		err = pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", lockOf("river "+schema)); err != nil {
				return err
			}
			//nolint:staticcheck // deprecated for several migrations in one transaction, and this is one
			made, err := migrator.MigrateTx(ctx, tx, rivermigrate.DirectionUp, &rivermigrate.MigrateOpts{MaxSteps: 1})
			more = err == nil && len(made.Versions) > 0
			return err
		})
	}
	if hasCode(err, "3F000") { // no schema
		err = fmt.Errorf("create the schema of River's tables first: %w", err)
	}
	return asUnreachable(err)
}

func (n names) migrate(ctx context.Context, tx pgx.Tx) error {
	// CREATE SCHEMA IF NOT EXISTS needs a right that a program whose schema exists may not have.
	var exists bool
	row := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1)", n.String())
	if err := row.Scan(&exists); err != nil {
		return err
	}
	if !exists {
		if _, err := tx.Exec(ctx, n.sql("CREATE SCHEMA {schema}")); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, n.sql(`CREATE TABLE IF NOT EXISTS {schema}.payments_schema (
		only_row boolean PRIMARY KEY CHECK (only_row), version integer NOT NULL, era integer NOT NULL)`)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx,
		n.sql("INSERT INTO {schema}.payments_schema VALUES (true, 0, 0) ON CONFLICT DO NOTHING")); err != nil {
		return err
	}
	version, revision, err := n.read(ctx, tx)
	if err != nil {
		return err
	}
	if version > newestVersion {
		return &SchemaTooNew{Schema: n.String(), Version: version, Known: newestVersion}
	}
	for revision++; revision <= newestRevision; revision++ {
		text, err := revisions.ReadFile(fmt.Sprintf("schema/%03d.sql", revision))
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, n.sql(string(text))); err != nil {
			return fmt.Errorf("revision %d of the schema: %w", revision, err)
		}
	}
	_, err = tx.Exec(ctx, n.sql("UPDATE {schema}.payments_schema SET revision = $1, version = greatest(version, $2) "+
		"WHERE revision < $1"), newestRevision, versionOf[newestRevision])
	return err
}

// read returns the version and the revision of the tables. Tables of revision 1 do not say their revision.
func (n names) read(ctx context.Context, from interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}) (version, revision int, err error) {
	err = from.QueryRow(ctx, n.sql("SELECT version, coalesce((to_jsonb(s) ->> 'revision')::integer, version) "+
		"FROM {schema}.payments_schema s")).Scan(&version, &revision)
	return version, revision, err
}

// names puts the name of the schema into statements.
type names struct{ sqlname.Schema }

// namesOf returns the names of a schema. It refuses a text that cannot be one.
func newNames(schema string) (names, error) {
	named, err := sqlname.Check(cmp.Or(schema, DefaultSchema))
	return names{named}, err
}

// sql replaces {schema} by the name, and {changes} and {turns} by texts with the names of these sequences.
func (n names) sql(text string) string { return n.In(text, "changes", "turns") }

// lockOf returns the number of the advisory lock that migrations of a schema take.
func lockOf(schema string) int64 {
	digest := fnv.New64a()
	_, _ = digest.Write([]byte("moneymovement payments schema " + schema))
	return int64(digest.Sum64()) //gosec:disable G115 -- any 64 bits will do
}

// check compares what the tables say with what this package works with.
func (n names) check(ctx context.Context, pool *pgxpool.Pool) error {
	version, revision, err := n.read(ctx, pool)
	switch {
	case hasCode(err, "42P01", "3F000"), errors.Is(err, pgx.ErrNoRows): // no table, no schema
		return &SchemaMissing{Schema: n.String()}
	case hasCode(err, "42501"): // no right
		return cmp.Or[error](n.checkRights(ctx, pool, nil), err)
	case err != nil:
		return err
	case version > newestVersion:
		return &SchemaTooNew{Schema: n.String(), Version: version, Known: newestVersion}
	case revision < newestRevision:
		return &SchemaTooOld{Schema: n.String(), Version: revision, Known: newestRevision}
	}
	return nil
}

// needed are the rights of a role that pays, and on what. The last ones are for River's jobs.
const neededRights = `
SELECT CASE WHEN o.kind = 'schema' THEN o.schema ELSE o.schema || '.' || o.name END, o.kind, r.privilege, current_user
FROM (VALUES
	(1, 'schema', $1, '', 'USAGE'),
	(2, 'table', $1, 'payments_schema', 'SELECT,UPDATE'),
	(3, 'table', $1, 'payments', 'SELECT,INSERT,UPDATE'),
	(4, 'sequence', $1, 'changes', 'USAGE'),
	(5, 'sequence', $1, 'turns', 'SELECT,UPDATE'),
	(6, 'schema', $2, '', 'USAGE'),
	(7, 'table', $2, 'river_job', 'SELECT,INSERT,UPDATE'),
	(8, 'sequence', $2, 'river_job_id_seq', 'USAGE')) o (place, kind, schema, name, privileges)
JOIN pg_catalog.pg_namespace n ON n.nspname = o.schema
LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = o.name
CROSS JOIN LATERAL unnest(string_to_array(o.privileges, ',')) r (privilege)
WHERE CASE
	WHEN o.kind = 'schema' THEN NOT has_schema_privilege(n.oid, r.privilege)
	WHEN c.oid IS NULL THEN false
	WHEN o.kind = 'table' THEN NOT has_table_privilege(c.oid, r.privilege)
	ELSE NOT has_sequence_privilege(c.oid, r.privilege) END
ORDER BY o.place, r.privilege LIMIT 1`

// rights returns the first right that the role lacks. A program would otherwise learn of it from a payment.
func (n names) checkRights(ctx context.Context, pool *pgxpool.Pool, jobs *Jobs) error {
	var river *string // none
	if jobs != nil {
		river = &jobs.Schema
		if *river == "" {
			if err := pool.QueryRow(ctx, "SELECT current_schema()").Scan(&river); err != nil {
				return err
			}
		}
	}
	var lacks RightMissing
	err := pool.QueryRow(ctx, neededRights, n.String(), river).Scan(&lacks.On, &lacks.kind, &lacks.Right, &lacks.Role)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return &lacks
}
