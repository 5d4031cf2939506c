package postgres_test

import (
	"context"
	"log"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

// An invoice is approved and its payment is submitted, or neither.
func ExampleStore_SubmitTx() { //nolint:testableexamples // it needs a database
	type invoice struct {
		id      string
		payment payments.Payment
	}
	approve := func(ctx context.Context, pool *pgxpool.Pool, store *postgres.Store, i invoice) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "UPDATE invoices SET approved = true, payment = $2 WHERE id = $1", i.id,
				string(i.payment.Key)); err != nil {
				return err
			}
			_, err := store.SubmitTx(ctx, tx, nil, i.payment)
			return err
		})
	}
	_ = approve
}

// A worker process pays. Its own River client, which may have other workers and queues, wakes the processor. River's
// tables are in the schema "river" here.
func ExampleNewWorker() {
	work := func(ctx context.Context, pool *pgxpool.Pool, services payments.Services) (err error) {
		store, err := postgres.Open(ctx, pool, postgres.Options{Jobs: &postgres.Jobs{Schema: "river"}})
		if err != nil {
			return err // *postgres.SchemaMissing: call postgres.Migrate
		}
		processor, err := payments.New(store, services, payments.Config{})
		if err != nil {
			return err
		}
		workers := river.NewWorkers()
		river.AddWorker(workers, postgres.NewWorker(store, processor))
		client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: "river", Workers: workers,
			Queues: map[string]river.QueueConfig{postgres.DefaultQueue: {MaxWorkers: 10}}})
		if err != nil {
			return err
		}
		if _, err := processor.Resume(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, processor.Stop(context.WithoutCancel(ctx))) }()
		if err := client.Start(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		<-ctx.Done() // SIGTERM
		return client.Stop(context.WithoutCancel(ctx))
	}
	if err := work(context.Background(), nil, payments.Services{}); err != nil {
		log.Print("without a database: ", err)
	}
	// Output:
}
