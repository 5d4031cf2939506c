package postgres

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// jobs inserts a job for each payment. Nil inserts none.
type jobs struct {
	pool    *pgxpool.Pool
	client  Inserter
	options river.InsertOpts
}

func jobsOf(pool *pgxpool.Pool, from Jobs) (*jobs, error) {
	if from.Priority < 0 || from.Priority > 4 {
		return nil, fmt.Errorf("jobs of River cannot have the priority %d: use 1 to 4, or 0 for River's default",
			from.Priority)
	}
	j := &jobs{pool: pool, client: from.Client, options: river.InsertOpts{
		Queue: cmp.Or(from.Queue, DefaultQueue), Priority: from.Priority,
	}}
	if j.client == nil {
		client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: from.Schema, Logger: silent()})
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
		if refusedAs(err, "42P01", "3F000") { // no table, no schema
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
