package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/moneymovement/moneymovement-go/payments"
)

// SubmitTx stores a payment in a transaction of the caller, and returns it. Nothing is sent: the payment begins after
// the transaction has committed. If it rolls back, the payment was never submitted.
//
// The same key with the same terms is the same payment, with other terms the error is *errors.IdempotencyKeyReused.
// After these and *errors.InvalidInput, the transaction can go on; after an error of the database it can only roll
// back. While another transaction that has submitted the same key is open, SubmitTx waits for its end. Other payments,
// also of the same account, do not wait.
//
// SubmitTx needs no processor, and so it calls no tracer. With a tracer, call Processor.Prepare, [Store.InsertTx] and
// payments.Stored.
//
// In a transaction that is serializable, PostgreSQL may refuse one of two transactions that submit payments at the same
// time (SQLSTATE 40001), as usual: repeat the transaction.
func (s *Store) SubmitTx(ctx context.Context, tx pgx.Tx, submission payments.Submission) (payments.Record, error) {
	submitted, err := payments.Prepare(submission, time.Now())
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
	if err == nil && inserted && record.Work() != payments.WorkNone {
		err = s.jobs.insert(ctx, tx, record.Key)
	}
	if err != nil {
		return payments.Record{}, false, explained(err)
	}
	return stored, inserted, nil
}
