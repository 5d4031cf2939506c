package sqlite

import (
	"context"
	"fmt"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// A file that was restored from a copy says so in a table, and in its version: a program that does not know what that
// means does not open it, because it could send a key without a search. A copy by Backup has both from the beginning,
// so that whoever opens it in the place of the store need not say it.

// restoredFlag is added to the version of a file that was restored.
const restoredFlag = 1 << 16

// restoredTable has one row: since when payments are missing, in microseconds, and whether those that are there say so.
const restoredTable = `CREATE TABLE IF NOT EXISTS restored (
	id INTEGER PRIMARY KEY CHECK (id = 1), since INTEGER NOT NULL, marked INTEGER NOT NULL
) STRICT`

// MarkRestored implements [payments.Store]. A copy by [Store.Backup] is marked when it is opened.
func (s *Store) MarkRestored(ctx context.Context, since time.Time) error {
	if err := s.checkUsable(ctx); err != nil {
		return err
	}
	return s.write(ctx, &restoration{since: since})
}

type restoration struct {
	since time.Time
	w     *writer
	known time.Time                    // of an earlier one
	takes map[moneymovement.Key]*lease // of the rows that differ
}

func (r *restoration) apply(ctx context.Context, w *writer) (refused, err error) {
	r.w, r.known, r.takes = w, w.restoredFrom, map[moneymovement.Key]*lease{}
	if r.since.IsZero() {
		r.w.restoredFrom = time.Time{}
		return nil, w.unmarkRestored(ctx)
	}
	r.since = r.since.Truncate(time.Microsecond).UTC()
	if !r.known.IsZero() && r.known.Before(r.since) {
		r.since = r.known
	}
	w.restoredFrom = r.since
	return nil, r.mark(ctx)
}

func (r *restoration) end(committed bool) {
	switch {
	case r.w == nil:
		return
	case committed:
		r.w.store.restoredFrom.Store(&r.since)
	default:
		r.w.restoredFrom = r.known
	}
	for key, takes := range r.takes {
		r.w.store.leases.endTake(key, takes, committed)
	}
}

// resumeRestored reads whether the file was restored. If it is a copy that nobody has opened, its payments are marked.
func (w *writer) resumeRestored(ctx context.Context) error {
	version, err := w.version(ctx)
	if err != nil || version&restoredFlag == 0 {
		return err
	}
	var since int64
	var marked bool
	row := w.conn.QueryRowContext(ctx, "SELECT since, marked FROM restored")
	if err := row.Scan(&since, &marked); err != nil {
		return err
	}
	from, change := toTime(since), w.change
	w.restoredFrom = from
	w.store.restoredFrom.Store(&from)
	if marked {
		return nil
	}
	if _, err := w.begin.ExecContext(ctx); err != nil {
		return err
	}
	r := &restoration{since: from}
	if _, err = r.apply(ctx, w); err == nil {
		_, err = w.commit.ExecContext(ctx)
	}
	if err != nil {
		err = w.rollBack(change, err)
	}
	r.end(err == nil)
	return err
}

// mark stores in the open transaction that the file was restored, and what that means for each payment.
func (r *restoration) mark(ctx context.Context) error {
	w := r.w
	if err := w.noteRestored(ctx, w.restoredFrom, true); err != nil {
		return err
	}
	for _, state := range []moneymovement.PaymentState{moneymovement.PaymentAccepted, moneymovement.PaymentPaying,
		moneymovement.PaymentNeedsDecision} {
		for after := moneymovement.Key(""); ; {
			rows, err := w.page(ctx, state, after)
			if err != nil {
				return err
			}
			for i := range rows {
				if err := r.restore(ctx, &rows[i]); err != nil {
					return err
				}
				after = rows[i].key
			}
			if len(rows) < restoredPage {
				break
			}
		}
	}
	return nil
}

// restoredPage is how many rows are read at once.
const restoredPage = 500

// page returns the next rows of a state in the order of their keys, as the open transaction has them.
func (w *writer) page(
	ctx context.Context, state moneymovement.PaymentState, after moneymovement.Key,
) (found []row, err error) {
	rows, err := w.conn.QueryContext(ctx, "SELECT "+columns+" FROM payments WHERE state = ? AND key > ? "+
		"ORDER BY key LIMIT ?", state, after, restoredPage)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		row, err := w.store.scanned(rows.Scan)
		if err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

// restore writes what a row says after a restore, and takes its lease. Nobody has it before the transaction has ended:
// a reader still sees the row as it was, and whoever leased it now would overwrite the mark.
func (r *restoration) restore(ctx context.Context, old *row) error {
	w := r.w
	record, differs := old.record().Restored(w.restoredFrom)
	if !differs {
		return nil
	}
	row, err := rowOf(&record)
	if err != nil {
		return err
	}
	row.account = old.account
	r.takes[row.key] = w.store.leases.take(row.key)
	_, err = w.save.ExecContext(ctx, row.state, row.work, row.due, w.change+1, row.text, row.checksum(), row.key)
	if err != nil {
		return err
	}
	w.change++
	return nil
}

// noteRestored stores in the file that payments since a time are missing.
func (w *writer) noteRestored(ctx context.Context, since time.Time, marked bool) error {
	version, err := w.version(ctx)
	if err != nil {
		return err
	}
	if _, err := w.conn.ExecContext(ctx, restoredTable); err != nil {
		return err
	}
	_, err = w.conn.ExecContext(ctx, "INSERT INTO restored VALUES (1, ?1, ?2) "+
		"ON CONFLICT DO UPDATE SET since = min(since, ?1), marked = ?2", since.UnixMicro(), marked)
	if err != nil {
		return err
	}
	_, err = w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version|restoredFlag))
	return err
}

// unmarkRestored ends in the open transaction that the file was restored.
func (w *writer) unmarkRestored(ctx context.Context) error {
	version, err := w.version(ctx)
	if err != nil {
		return err
	}
	if _, err := w.conn.ExecContext(ctx, "DROP TABLE IF EXISTS restored"); err != nil {
		return err
	}
	_, err = w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version&^restoredFlag))
	return err
}

// version returns the version in the file, with restoredFlag if it has that.
func (w *writer) version(ctx context.Context) (version int, err error) {
	err = w.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}
