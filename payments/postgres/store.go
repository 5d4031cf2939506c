package postgres

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// Store is a [payments.Store] in PostgreSQL. It is safe for concurrent use, by any number of processes.
type Store struct {
	pool *pgxpool.Pool
	text statements
	jobs *jobs // nil without River
}

var _ payments.Store = (*Store)(nil)

// Open returns a store over the tables in a schema. They must be there: see [Migrate]. The pool stays the caller's, who
// closes it after the last use of the store.
//
// The errors are *[SchemaMissing], *[SchemaTooOld], *[SchemaTooNew], *[RightMissing] and *[Unreachable], and those of
// River's settings.
func Open(ctx context.Context, pool *pgxpool.Pool, options Options) (*Store, error) {
	if pool == nil {
		return nil, errors.New("the pool is nil: make one with pgxpool.New")
	}
	named, err := namesOf(options.Schema)
	if err != nil {
		return nil, err
	}
	if err := named.check(ctx, pool); err != nil {
		return nil, explained(err)
	}
	if err := named.rights(ctx, pool, options.Jobs); err != nil {
		return nil, explained(err)
	}
	store := &Store{pool: pool, text: statementsOf(named)}
	if options.Jobs != nil {
		if store.jobs, err = jobsOf(pool, *options.Jobs); err != nil {
			return nil, err
		}
	}
	return store, explained(store.notice(ctx))
}

// check compares the version of the tables with the one that this package works with.
func (n names) check(ctx context.Context, pool *pgxpool.Pool) error {
	var version int
	err := pool.QueryRow(ctx, n.sql("SELECT version FROM {schema}.payments_schema")).Scan(&version)
	switch {
	case refusedAs(err, "42P01", "3F000"), errors.Is(err, pgx.ErrNoRows): // no table, no schema
		return &SchemaMissing{Schema: n.String()}
	case refusedAs(err, "42501"): // no right
		return cmp.Or[error](n.rights(ctx, pool, nil), err)
	case err != nil:
		return err
	case version > known:
		return &SchemaTooNew{Schema: n.String(), Version: version, Known: known}
	case version < known:
		return &SchemaTooOld{Schema: n.String(), Version: version, Known: known}
	}
	return nil
}

// needed are the rights of a role that pays, and on what. The last ones are for River's jobs.
const needed = `
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
func (n names) rights(ctx context.Context, pool *pgxpool.Pool, jobs *Jobs) error {
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
	err := pool.QueryRow(ctx, needed, n.String(), river).Scan(&lacks.On, &lacks.kind, &lacks.Right, &lacks.Role)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return &lacks
}

// notice begins a new era if the tables have come from another server, as from a dump. The numbers of transactions
// there mean nothing here: without a new era, changes would stay hidden until this server has counted as far.
func (s *Store) notice(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, s.text.era)
	return err
}

// Insert implements [payments.Store].
func (s *Store) Insert(
	ctx context.Context, record payments.Record,
) (stored payments.Record, inserted bool, err error) {
	err = s.repeat(ctx, func() error {
		if s.jobs == nil {
			stored, inserted, err = s.insert(ctx, s.pool, record)
			return err
		}
		return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
			stored, inserted, err = s.InsertTx(ctx, tx, record)
			return err
		})
	})
	if err != nil {
		return payments.Record{}, false, err
	}
	return stored, inserted, nil
}

func (s *Store) insert(
	ctx context.Context, by sender, record payments.Record,
) (stored payments.Record, inserted bool, err error) {
	text, err := record.Encode()
	if err != nil {
		return payments.Record{}, false, err
	}
	var batch pgx.Batch
	batch.Queue(durable)
	batch.Queue(s.text.insert, string(record.Key), string(record.Account), record.Digest, string(record.State),
		int(record.Work()), timeOrNull(record.Due), text).Exec(func(tag pgconn.CommandTag) error {
		inserted = tag.RowsAffected() == 1
		return nil
	})
	batch.Queue(s.text.load, string(record.Key)).Query(func(rows pgx.Rows) (err error) {
		stored, err = pgx.CollectExactlyOneRow(rows, scanned)
		return err
	})
	return stored, inserted, send(ctx, by, &batch)
}

// Load implements [payments.Store].
func (s *Store) Load(ctx context.Context, key moneymovement.Key) (record payments.Record, err error) {
	err = s.repeat(ctx, func() error {
		rows, err := s.pool.Query(ctx, s.text.load, string(key))
		if err != nil {
			return err
		}
		record, err = pgx.CollectExactlyOneRow(rows, scanned)
		return notFound(err, key)
	})
	return record, err
}

// Save implements [payments.Store].
func (s *Store) Save(
	ctx context.Context, claimed payments.Claimed, release bool,
) (position payments.Position, err error) {
	text, err := claimed.Encode()
	if err != nil {
		return "", err
	}
	work := claimed.Work()
	err = s.repeat(ctx, func() error {
		var at place
		held := true
		var batch pgx.Batch
		batch.Queue(durable)
		batch.Queue(s.text.save, string(claimed.Key), claimed.Lease.Owner, claimed.Lease.Epoch, string(claimed.State),
			int(work), timeOrNull(claimed.Due), text, release).QueryRow(func(saved pgx.Row) error {
			err := saved.Scan(&at.era, &at.tx, &at.change)
			if errors.Is(err, pgx.ErrNoRows) {
				held, err = false, nil
			}
			return err
		})
		if err := send(ctx, s.pool, &batch); err != nil {
			return err
		}
		if !held {
			return &payments.LeaseLost{Key: claimed.Key, Lease: claimed.Lease}
		}
		position = at.position()
		return nil
	})
	if err == nil && release && work != payments.WorkNone && !claimed.Due.After(time.Now()) {
		s.jobs.wake(ctx, claimed.Key)
	}
	return position, err
}

// Postpone implements [payments.Store].
func (s *Store) Postpone(ctx context.Context, claimed payments.Claimed) error {
	return s.repeat(ctx, func() error {
		held := false
		var batch pgx.Batch
		batch.Queue(careless)
		batch.Queue(s.text.postpone, string(claimed.Key), claimed.Lease.Owner, claimed.Lease.Epoch,
			timeOrNull(claimed.Due)).Exec(func(tag pgconn.CommandTag) error {
			held = tag.RowsAffected() == 1
			return nil
		})
		if err := send(ctx, s.pool, &batch); err != nil {
			return err
		}
		if !held {
			return &payments.LeaseLost{Key: claimed.Key, Lease: claimed.Lease}
		}
		return nil
	})
}

// sender is a pool or a transaction.
type sender interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// send sends statements in one round trip and, to a pool, in one transaction. The results go to the functions in the
// batch. Closing them a second time would touch a connection that somebody else has by then.
func send(ctx context.Context, to sender, batch *pgx.Batch) error {
	return to.SendBatch(ctx, batch).Close()
}

// repeat repeats what the database refused because of another transaction. That happens if the role or the database has
// a stricter isolation of transactions than usual. The pauses grow, and differ between processes, so that transactions
// that met once do not meet again.
func (s *Store) repeat(ctx context.Context, do func() error) error {
	for turn := 1; ; turn++ {
		err := do()
		if !refusedAs(err, "40001", "40P01") || turn == 20 {
			return explained(err)
		}
		most := min(time.Millisecond<<turn, 200*time.Millisecond)
		select {
		case <-time.After(rand.N(most)): //gosec:disable G404 -- a pause is no secret
		case <-ctx.Done():
			return explained(err)
		}
	}
}

// timeOrNull rounds up to what the database keeps, so that nothing becomes due before its time.
func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.Add(time.Microsecond - time.Nanosecond).Truncate(time.Microsecond)
	return &t
}

func notFound(err error, key moneymovement.Key) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return &payments.NotFound{Key: key}
	}
	return err
}
