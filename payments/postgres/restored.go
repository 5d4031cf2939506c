package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// MarkRestored implements [payments.Store]. While it runs, nobody else writes to the table. Until it has ended, the
// tables have a version of their own: a program that does not know what a restore means does not open them, because it
// could send a key without a search.
func (s *Store) MarkRestored(ctx context.Context, since time.Time) error {
	return s.retryConflicts(ctx, func() error {
		var from *time.Time
		err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) (err error) {
			if since.IsZero() {
				_, err := tx.Exec(ctx, s.text.unmark, versionOf[newestRevision], restoredVersion)
				return err
			}
			if _, err := tx.Exec(ctx, s.text.lock); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, s.text.mark, since, restoredVersion); err != nil {
				return err
			}
			if from, err = s.storedRestored(ctx, tx); err != nil {
				return err
			}
			return s.restoreAll(ctx, tx, *from)
		})
		if err == nil { // before, inserts go on with what is committed
			s.restoredFrom.Store(from)
		}
		return err
	})
}

// readRestored reads when the copy was made from which the tables were restored, for the inserts to come.
func (s *Store) readRestored(ctx context.Context, from sender) error {
	since, err := s.storedRestored(ctx, from)
	if err == nil {
		s.restoredFrom.Store(since)
	}
	return err
}

// storedRestored returns when the copy was made from which the tables were restored. Nil if they were not. A mark goes
// by this alone: what the store has read last may be from before the mark.
func (s *Store) storedRestored(ctx context.Context, from sender) (since *time.Time, err error) {
	err = from.QueryRow(ctx, s.text.restoredFrom).Scan(&since)
	return since, err
}

// restorable are the states in which a payment can differ after a restore.
var restorable = []string{string(moneymovement.PaymentAccepted), string(moneymovement.PaymentPaying),
	string(moneymovement.PaymentNeedsDecision)}

// restoreAll stores what a restore means for each payment.
func (s *Store) restoreAll(ctx context.Context, tx pgx.Tx, since time.Time) error {
	const page = 500
	for after := ""; ; {
		rows, err := tx.Query(ctx, s.text.listStates, after, page, restorable)
		if err != nil {
			return err
		}
		records, err := pgx.CollectRows(rows, scanRecord)
		if err != nil {
			return err
		}
		var batch pgx.Batch
		for _, record := range records {
			after = string(record.Key)
			if err := s.queueRestored(&batch, record, since); err != nil {
				return err
			}
		}
		if err := send(ctx, tx, &batch); err != nil || len(records) < page {
			return err
		}
	}
}

// queueRestored adds the change of one payment to a batch, if there is one.
func (s *Store) queueRestored(batch *pgx.Batch, record payments.Record, since time.Time) error {
	record, differs := record.Restored(since)
	if !differs {
		return nil
	}
	text, err := record.Encode()
	if err != nil {
		return err
	}
	batch.Queue(s.text.restore, string(record.Key), string(record.State), int(record.Work()), timeOrNull(record.Due),
		text, record.Needs)
	return nil
}
