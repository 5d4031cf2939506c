package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/payments"
)

// These come before what is counted is read. The first raises the version of the tables: see talliedVersion. The update
// of the row without an asset makes those who count wait for each other. In a transaction with a snapshot, it fails if
// somebody has counted since the snapshot.
const (
	markTallied = `UPDATE {schema}.payments_schema SET version = $1 WHERE version < $1`
	lockTallies = `INSERT INTO {schema}.tallies AS t VALUES ('', '', 'epoch', 1)
		ON CONFLICT (asset, payee, at) DO UPDATE SET amount = t.amount + 1`
)

const sumTallies = `SELECT coalesce(sum(amount), 0)::text FROM {schema}.tallies
WHERE asset = $1 AND payee = $2 AND at >= $3 AND at < $4`

const addTally = `INSERT INTO {schema}.tallies AS t VALUES ($1, $2, $3, $4::text::numeric)
ON CONFLICT (asset, payee, at) DO UPDATE SET amount = t.amount + excluded.amount`

// recount returns the tallies to add with a record, in a transaction. before is the Spending of the stored record. If
// the record would pass a cap, the error is *[payments.CapReached].
func (s *Store) recount(
	ctx context.Context, tx sender, record *payments.Record, before func() (*payments.Spending, error),
) ([]payments.Tally, error) {
	var batch pgx.Batch
	batch.Queue(s.text.markTallied, talliedVersion)
	batch.Queue(s.text.lockTallies)
	if err := send(ctx, tx, &batch); err != nil {
		return nil, s.asTallyError(err)
	}
	stored, err := before()
	if err != nil {
		return nil, err
	}
	return record.Recount(stored, func(of payments.Cap) (sum decimal.Decimal, err error) {
		var text string
		if err := tx.QueryRow(ctx, s.text.sumTallies, of.Asset, of.Payee, of.From, of.Until).Scan(&text); err != nil {
			return sum, err
		}
		return decimal.NewFromString(text)
	})
}

// queueTallies adds tallies to a batch.
func (s *Store) queueTallies(batch *pgx.Batch, changes []payments.Tally) {
	for _, change := range changes {
		batch.Queue(s.text.addTally, change.Asset, change.Payee, change.At, change.Amount.String())
	}
}

// saveCounted is a save of a record with a Count. saved reports after it whether the lease was the payment's.
func (s *Store) saveCounted(
	ctx context.Context, claimed payments.Claimed, save func(*pgx.Batch), saved func() bool,
) error {
	lost := &payments.LeaseLost{Key: claimed.Key, Lease: claimed.Lease}
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		changes, err := s.recount(ctx, tx, &claimed.Record, func() (*payments.Spending, error) {
			rows, err := tx.Query(ctx, s.text.load, string(claimed.Key))
			if err != nil {
				return nil, err
			}
			stored, err := pgx.CollectExactlyOneRow(rows, scanRecord)
			if errors.Is(err, pgx.ErrNoRows) {
				err = lost
			}
			return stored.Spending, err
		})
		if err != nil {
			return err
		}
		var batch pgx.Batch
		save(&batch)
		s.queueTallies(&batch, changes)
		if err := send(ctx, tx, &batch); err != nil {
			return err
		}
		if !saved() {
			return lost // and the tallies are rolled back
		}
		return nil
	})
}

// asTallyError says what to do about a table that the role may not use. Only programs with limits need it.
func (s *Store) asTallyError(err error) error {
	if hasCode(err, "42501") {
		return &RightMissing{Role: s.pool.Config().ConnConfig.User, Right: "SELECT, INSERT, UPDATE",
			On: s.names.String() + ".tallies", kind: "table"}
	}
	return err
}
