package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
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
// The errors are *[SchemaMissing], *[SchemaTooOld], *[SchemaTooNew] and *[Unreachable], and those of River's settings.
func Open(ctx context.Context, pool *pgxpool.Pool, options Options) (*Store, error) {
	if pool == nil {
		return nil, errors.New("the pool is nil: make one with pgxpool.New")
	}
	named := namesOf(options.Schema)
	if err := named.check(ctx, pool); err != nil {
		return nil, explained(err)
	}
	store := &Store{pool: pool, text: statementsOf(named)}
	if options.Jobs != nil {
		var err error
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
	case refusedAs(err, "42P01", "3F000", "42501"), errors.Is(err, pgx.ErrNoRows): // no table, no schema, no right
		return &SchemaMissing{Schema: n.schema}
	case err != nil:
		return err
	case version > known:
		return &SchemaTooNew{Schema: n.schema, Version: version, Known: known}
	case version < known:
		return &SchemaTooOld{Schema: n.schema, Version: version, Known: known}
	}
	return nil
}

// notice begins a new era if the tables have come from another server, as from a dump. The numbers of transactions there
// mean nothing here: without a new era, changes would stay hidden until this server has counted as far.
func (s *Store) notice(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, s.text.era)
	return err
}

// Insert implements [payments.Store].
func (s *Store) Insert(ctx context.Context, row payments.Row) (stored payments.Row, inserted bool, err error) {
	if s.jobs == nil {
		err = s.repeat(ctx, func() error {
			var batch pgx.Batch
			batch.Queue(durable)
			s.queueInsert(&batch, row)
			stored, inserted, err = insertedBy(s.pool.SendBatch(ctx, &batch), 1, row.Key)
			return err
		})
		return stored, inserted, err
	}
	err = s.repeat(ctx, func() error {
		return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
			stored, inserted, err = s.InsertTx(ctx, tx, row)
			return err
		})
	})
	return stored, inserted, err
}

func (s *Store) queueInsert(batch *pgx.Batch, row payments.Row) {
	var terms struct {
		Digest string `json:"digest"`
	}
	_ = json.Unmarshal(row.Data, &terms) // the column is for people: the record has it, too
	batch.Queue(s.text.insert, string(row.Key), string(row.Account), terms.Digest, string(row.State), int16(row.Work),
		timeOrNull(row.Due), row.Data)
	batch.Queue(s.text.load, string(row.Key))
}

// insertedBy reads the results of an insert, after those that come first.
func insertedBy(results pgx.BatchResults, first int, key moneymovement.Key) (payments.Row, bool, error) {
	defer results.Close() //nolint:errcheck // its error is that of a result that was read
	for range first {
		if _, err := results.Exec(); err != nil {
			return payments.Row{}, false, err
		}
	}
	tag, err := results.Exec()
	if err != nil {
		return payments.Row{}, false, err
	}
	rows, err := results.Query()
	if err != nil {
		return payments.Row{}, false, err
	}
	row, err := pgx.CollectExactlyOneRow(rows, scanned)
	if err != nil {
		return payments.Row{}, false, notFound(err, key)
	}
	return row, tag.RowsAffected() == 1, results.Close()
}

// Load implements [payments.Store].
func (s *Store) Load(ctx context.Context, key moneymovement.Key) (row payments.Row, err error) {
	err = s.repeat(ctx, func() error {
		rows, err := s.pool.Query(ctx, s.text.load, string(key))
		if err != nil {
			return err
		}
		row, err = pgx.CollectExactlyOneRow(rows, scanned)
		return notFound(err, key)
	})
	return row, err
}

// Save implements [payments.Store].
func (s *Store) Save(ctx context.Context, row payments.Row, release bool) (position payments.Position, err error) {
	err = s.repeat(ctx, func() error {
		var batch pgx.Batch
		batch.Queue(durable)
		batch.Queue(s.text.save, string(row.Key), row.Lease.Owner, row.Lease.Epoch, string(row.State), int16(row.Work),
			timeOrNull(row.Due), row.Data, release)
		results := s.pool.SendBatch(ctx, &batch)
		defer results.Close() //nolint:errcheck // its error is that of a result that was read
		if _, err := results.Exec(); err != nil {
			return err
		}
		var at place
		if err := results.QueryRow().Scan(&at.era, &at.tx, &at.change); err != nil {
			return leaseLost(err, row)
		}
		position = at.position()
		return results.Close()
	})
	if err == nil && release {
		s.jobs.wakeIfDue(ctx, row)
	}
	return position, err
}

// Postpone implements [payments.Store].
func (s *Store) Postpone(ctx context.Context, row payments.Row) error {
	return s.repeat(ctx, func() error {
		var batch pgx.Batch
		batch.Queue(careless)
		batch.Queue(s.text.postpone, string(row.Key), row.Lease.Owner, row.Lease.Epoch, timeOrNull(row.Due))
		results := s.pool.SendBatch(ctx, &batch)
		defer results.Close() //nolint:errcheck // its error is that of a result that was read
		if _, err := results.Exec(); err != nil {
			return err
		}
		tag, err := results.Exec()
		if err == nil && tag.RowsAffected() == 0 {
			err = pgx.ErrNoRows
		}
		if err != nil {
			return leaseLost(err, row)
		}
		return results.Close()
	})
}

// repeat repeats what the database refused because of another transaction. That happens if the role or the database has
// a stricter isolation of transactions than usual.
func (s *Store) repeat(ctx context.Context, do func() error) error {
	for turn := 1; ; turn++ {
		err := do()
		if !refusedAs(err, "40001", "40P01") || turn == 20 || ctx.Err() != nil {
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

func leaseLost(err error, row payments.Row) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return &payments.LeaseLost{Key: row.Key, Lease: row.Lease}
	}
	return err
}
