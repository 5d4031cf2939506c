package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// jobs inserts a job for each payment. Nil inserts none.
type jobs struct {
	pool    *pgxpool.Pool
	client  Inserter
	options river.InsertOpts
}

func newJobs(pool *pgxpool.Pool, from Jobs) (*jobs, error) {
	if from.Priority < 0 || from.Priority > 4 {
		return nil, fmt.Errorf("jobs of River cannot have the priority %d: use 1 to 4, or 0 for River's default",
			from.Priority)
	}
	j := &jobs{pool: pool, client: from.Client, options: river.InsertOpts{
		Queue: cmp.Or(from.Queue, DefaultQueue), Priority: from.Priority,
	}}
	if j.client == nil {
		client, err := river.NewClient(riverpgxv5.New(pool),
			&river.Config{Schema: from.Schema, Logger: discardLogger()})
		if err != nil {
			return nil, fmt.Errorf("a client for River's jobs: %w", err)
		}
		j.client = client
	}
	return j, nil
}

func (j *jobs) insert(ctx context.Context, tx pgx.Tx, key moneymovement.Key) error {
	if j == nil {
		return nil
	}
	options := j.options
	if _, err := j.client.InsertTx(ctx, tx, Wake{Key: string(key)}, &options); err != nil {
		if hasCode(err, "42P01", "3F000") { // no table, no schema
			err = fmt.Errorf("run River's migrations, for example with postgres.MigrateRiver, or name the schema of "+
				"River's tables in Jobs.Schema: %w", err)
		}
		return fmt.Errorf("a job of River for the payment: %w", err)
	}
	return nil
}

// wake inserts a job for a stored payment that is due at once: a person has decided, and the payment's own job has
// completed or snoozes. If that fails, the payment goes on at the processor's next poll.
func (j *jobs) wake(ctx context.Context, key moneymovement.Key) {
	if j != nil {
		_ = pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error { return j.insert(ctx, tx, key) })
	}
}

// Wake are the arguments of the jobs: the key of the payment.
type Wake struct {
	Key string `json:"key"`
}

// Kind implements river.JobArgs.
func (Wake) Kind() string { return "moneymovement_payment" }

// Worker works the jobs of payments: it wakes the processor of its process. Add it to the workers of your client, with
// river.AddWorker, in processes whose processor is resumed.
type Worker struct {
	river.WorkerDefaults[Wake]
	store     *Store
	processor *payments.Processor
}

var _ river.Worker[Wake] = (*Worker)(nil)

// NewWorker returns a worker for the processor of this process and its store.
func NewWorker(store *Store, processor *payments.Processor) *Worker {
	return &Worker{store: store, processor: processor}
}

// The pauses of a job whose payment is due and waits for its turn. They grow with the age of the job, so that a million
// payments that wait do not keep the database busy.
const (
	leastSnooze = 2 * time.Second
	mostSnooze  = 15 * time.Minute
)

// Work implements river.Worker. It returns at once: a job never waits for its payment.
func (w *Worker) Work(ctx context.Context, job *river.Job[Wake]) error {
	work, due, err := w.store.readWork(ctx, moneymovement.Key(job.Args.Key))
	if _, missing := errors.AsType[*payments.NotFound](err); missing {
		return river.JobCancel(err)
	}
	if err != nil {
		return err
	}
	now := time.Now()
	switch {
	case work == payments.WorkNone:
		return nil
	case due.After(now):
		return river.JobSnooze(due.Sub(now))
	case !w.processor.Wake(): // it was stopped: let another process take the job
		return river.JobSnooze(leastSnooze)
	}
	return river.JobSnooze(min(max(now.Sub(job.CreatedAt)/4, leastSnooze), mostSnooze))
}

// readWork returns what a payment waits for, without reading all of it.
func (s *Store) readWork(ctx context.Context, key moneymovement.Key) (payments.Work, time.Time, error) {
	var work int16
	var due *time.Time
	err := s.retryConflicts(ctx, func() error {
		return s.pool.QueryRow(ctx, s.text.readWork, string(key)).Scan(&work, &due)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, time.Time{}, &payments.NotFound{Key: key}
	}
	if err != nil || due == nil {
		return payments.Work(work), time.Time{}, err
	}
	return payments.Work(work), *due, nil
}
