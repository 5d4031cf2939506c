package postgres

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// DefaultSchema is the name of the schema if none is chosen.
const DefaultSchema = "moneymovement"

// Options are the settings of a [Store]. The zero value has the defaults.
type Options struct {
	// Schema is the schema with the tables of the payments: see [Migrate]. The default is [DefaultSchema].
	Schema string
	// Jobs makes a job of River for each payment. Without it, a process finds the payments of others when it polls.
	Jobs *Jobs
}

// Jobs says which jobs of River a store makes. The zero value has the defaults.
type Jobs struct {
	// Schema is the schema with River's tables, as in river.Config. Empty is the first of the search path.
	Schema string
	// Queue is the queue of the jobs. The default is [DefaultQueue].
	Queue string
	// Priority is the priority of the jobs, 1 to 4. The default is River's.
	Priority int
	// Client inserts the jobs, with its hooks and its schema. The default is a client of the store's own that only
	// inserts. A client that works jobs is made after the store, because it needs the [Worker]: for this field, make
	// another one, without Workers and Queues.
	Client Inserter
}

// DefaultQueue is the queue of River's jobs if none is chosen.
const DefaultQueue = "payments"

// Inserter inserts jobs of River. A *river.Client[pgx.Tx] is one.
type Inserter interface {
	InsertTx(
		ctx context.Context, tx pgx.Tx, args river.JobArgs, options *river.InsertOpts,
	) (*rivertype.JobInsertResult, error)
}

// discardLogger returns a logger for libraries that would otherwise write to standard output.
func discardLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Store is a [payments.Store] in PostgreSQL. It is safe for concurrent use, by any number of processes.
type Store struct {
	pool  *pgxpool.Pool
	names names
	text  statements
	jobs  *jobs // nil without River

	restoredFrom atomic.Pointer[time.Time] // as last read
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
	named, err := newNames(options.Schema)
	if err != nil {
		return nil, err
	}
	if err := named.check(ctx, pool); err != nil {
		return nil, asUnreachable(err)
	}
	if err := named.checkRights(ctx, pool, options.Jobs); err != nil {
		return nil, asUnreachable(err)
	}
	store := &Store{pool: pool, names: named, text: newStatements(named)}
	if options.Jobs != nil {
		if store.jobs, err = newJobs(pool, *options.Jobs); err != nil {
			return nil, err
		}
	}
	if err := store.readRestored(ctx, pool); err != nil {
		return nil, asUnreachable(err)
	}
	return store, asUnreachable(store.startEra(ctx))
}

// startEra begins a new era if the tables have come from another server, as from a dump. The numbers of transactions
// there mean nothing here: without a new era, changes would stay hidden until this server has counted as far.
func (s *Store) startEra(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, s.text.era)
	return err
}

// Insert implements [payments.Store].
func (s *Store) Insert(
	ctx context.Context, record payments.Record,
) (stored payments.Record, inserted bool, err error) {
	err = s.retryConflicts(ctx, func() error {
		if s.jobs == nil && record.Count == nil {
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

// insert inserts a record by what is known of a restore. If another process has marked the tables since, nothing is
// inserted, and it reads that and tries again.
func (s *Store) insert(
	ctx context.Context, by sender, record payments.Record,
) (stored payments.Record, inserted bool, err error) {
	for tries := 0; ; tries++ {
		stored, inserted, err = s.insertOnce(ctx, by, record)
		if !errors.Is(err, pgx.ErrNoRows) || tries == 3 {
			return stored, inserted, err
		}
		if err := s.readRestored(ctx, by); err != nil {
			return payments.Record{}, false, err
		}
	}
}

func (s *Store) insertOnce(
	ctx context.Context, by sender, record payments.Record,
) (stored payments.Record, inserted bool, err error) {
	from := s.restoredFrom.Load()
	if from != nil {
		record, _ = record.Restored(*from)
	}
	var changes []payments.Tally
	if record.Count != nil {
		changes, err = s.recount(ctx, by, &record, func() (*payments.Spending, error) { return nil, nil })
		if reached := (*payments.CapReached)(nil); errors.As(err, &reached) {
			record, err = record.OverCap(reached), nil
		}
		if err != nil {
			return payments.Record{}, false, err
		}
	}
	text, err := record.Encode()
	if err != nil {
		return payments.Record{}, false, err
	}
	var batch pgx.Batch
	batch.Queue(syncCommit)
	batch.Queue(s.text.insert, string(record.Key), string(record.Account), record.Digest, string(record.State),
		int(record.Work()), timeOrNull(record.Due), text, record.Needs, from).Exec(func(tag pgconn.CommandTag) error {
		inserted = tag.RowsAffected() == 1
		return nil
	})
	batch.Queue(s.text.load, string(record.Key)).Query(func(rows pgx.Rows) (err error) {
		stored, err = pgx.CollectExactlyOneRow(rows, scanRecord)
		return err
	})
	if err := send(ctx, by, &batch); err != nil || !inserted || len(changes) == 0 {
		return stored, inserted, err
	}
	var tallies pgx.Batch
	s.queueTallies(&tallies, changes)
	return stored, inserted, send(ctx, by, &tallies)
}

// Load implements [payments.Store].
func (s *Store) Load(ctx context.Context, key moneymovement.Key) (record payments.Record, err error) {
	err = s.retryConflicts(ctx, func() error {
		rows, err := s.pool.Query(ctx, s.text.load, string(key))
		if err != nil {
			return err
		}
		record, err = pgx.CollectExactlyOneRow(rows, scanRecord)
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
	err = s.retryConflicts(ctx, func() error {
		var at changePosition
		leased := true
		save := func(batch *pgx.Batch) {
			batch.Queue(syncCommit)
			batch.Queue(s.text.save, string(claimed.Key), claimed.Lease.Owner, claimed.Lease.Epoch,
				string(claimed.State), int(work), timeOrNull(claimed.Due), text, release, claimed.Needs).QueryRow(
				func(saved pgx.Row) error {
					err := saved.Scan(&at.era, &at.tx, &at.change)
					if errors.Is(err, pgx.ErrNoRows) {
						leased, err = false, nil
					}
					return err
				})
		}
		if claimed.Count != nil {
			err = s.saveCounted(ctx, claimed, save, func() bool { return leased })
		} else {
			var batch pgx.Batch
			save(&batch)
			err = send(ctx, s.pool, &batch)
		}
		switch {
		case err != nil:
			return err
		case !leased:
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
	return s.retryConflicts(ctx, func() error {
		leased := false
		var batch pgx.Batch
		batch.Queue(asyncCommit)
		batch.Queue(s.text.postpone, string(claimed.Key), claimed.Lease.Owner, claimed.Lease.Epoch,
			timeOrNull(claimed.Due)).Exec(func(tag pgconn.CommandTag) error {
			leased = tag.RowsAffected() == 1
			return nil
		})
		if err := send(ctx, s.pool, &batch); err != nil {
			return err
		}
		if !leased {
			return &payments.LeaseLost{Key: claimed.Key, Lease: claimed.Lease}
		}
		return nil
	})
}

// sender is a pool or a transaction.
type sender interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// send sends statements in one round trip and, to a pool, in one transaction. The results go to the functions in the
// batch. Closing them a second time would touch a connection that somebody else has by then.
func send(ctx context.Context, to sender, batch *pgx.Batch) error {
	return to.SendBatch(ctx, batch).Close()
}

// retryConflicts repeats what the database refused because of another transaction. That happens if the role or the
// database has a stricter isolation of transactions than usual. The pauses grow, and differ between processes, so that
// transactions that met once do not meet again.
func (s *Store) retryConflicts(ctx context.Context, attempt func() error) error {
	for tries := 1; ; tries++ {
		err := attempt()
		if !hasCode(err, "40001", "40P01") || tries == 20 {
			return asUnreachable(err)
		}
		most := min(time.Millisecond<<tries, 200*time.Millisecond)
		select {
		case <-time.After(rand.N(most)): //gosec:disable G404 -- a pause is not a secret
		case <-ctx.Done():
			return asUnreachable(err)
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

// SubmitTx stores a payment in a transaction of the caller, and returns it. Nothing is sent: the payment begins after
// the transaction has committed. If it rolls back, the payment was never submitted.
//
// The same key with the same terms is the same payment, with other terms the error is *errors.IdempotencyKeyReused.
// After these and *errors.InvalidInput, the transaction can go on; after an error of the database it can only roll
// back. While another transaction that has submitted the same key is open, SubmitTx waits for its end. Other payments,
// also of the same account, do not wait.
//
// by is the processor of this process, which need not be resumed: the payment gets its trace, and its Config.Limits are
// checked. Nil is for a program that has neither: such a payment counts against the limits of others from its first
// call on. Transactions whose payments count wait for each other, so keep them short.
//
// In a transaction that is serializable, PostgreSQL may refuse one of two transactions that submit payments at the same
// time (SQLSTATE 40001), as usual: repeat the transaction.
func (s *Store) SubmitTx(
	ctx context.Context, tx pgx.Tx, by *payments.Processor, submission payments.Submission,
) (submitted payments.Record, err error) {
	if by != nil {
		submitted, err = by.Prepare(ctx, submission)
	} else {
		submitted, err = payments.Prepare(submission, time.Now())
	}
	if err != nil {
		return payments.Record{}, err
	}
	stored, _, err := s.InsertTx(ctx, tx, submitted)
	if err != nil {
		return payments.Record{}, err
	}
	return payments.Stored(submitted, stored)
}

// InsertTx is [Store.Insert] in a transaction of the caller, with a record of Processor.Prepare.
func (s *Store) InsertTx(ctx context.Context, tx pgx.Tx, record payments.Record) (payments.Record, bool, error) {
	if tx == nil {
		return payments.Record{}, false, errors.New("the transaction is nil: begin one")
	}
	stored, inserted, err := s.insert(ctx, tx, record)
	if err == nil && inserted && stored.Work() != payments.WorkNone {
		err = s.jobs.insert(ctx, tx, record.Key)
	}
	if err != nil {
		return payments.Record{}, false, asUnreachable(err)
	}
	return stored, inserted, nil
}
