package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

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
	work, due, err := w.store.look(ctx, moneymovement.Key(job.Args.Key))
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

// look returns what a payment waits for, without reading all of it.
func (s *Store) look(ctx context.Context, key moneymovement.Key) (payments.Work, time.Time, error) {
	var work int16
	var due *time.Time
	err := s.repeat(ctx, func() error { return s.pool.QueryRow(ctx, s.text.look, string(key)).Scan(&work, &due) })
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, time.Time{}, &payments.NotFound{Key: key}
	}
	if err != nil || due == nil {
		return payments.Work(work), time.Time{}, err
	}
	return payments.Work(work), *due, nil
}
