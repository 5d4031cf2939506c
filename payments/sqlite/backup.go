package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strconv"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// Backup writes a copy of the store, as it is at one time, to a new file. Payments go on meanwhile. The copy is
// complete or not there, and its owner alone can read it. If the file exists already, the error wraps fs.ErrExist. It
// also works after *[Removed], when the files of the store are gone.
//
// To go back to a copy, put it in the place of the store's file while no process has it open, and remove the store's
// -wal and -shm. It does not know what was paid since, and says so itself when it is opened, as by
// [Store.MarkRestored]: each payment is searched for before it is paid. Submit the payments since then again, with the
// same keys, reconcile with [payments.Processor.Reconcile], and then call [payments.Processor.EndRestored]. Watch
// begins anew. A program of an earlier version does not open a copy until then: it gets *[Newer].
func (s *Store) Backup(ctx context.Context, path string) error {
	if err := s.checkOpen(ctx); err != nil {
		return err
	}
	path, err := realPath(path)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("sqlite: a backup needs a name of its own, and %s is there: %w", path, fs.ErrExist)
	}
	if err := createFile(path + ".new"); err != nil {
		return err
	}
	if err := s.copyTo(ctx, path+".new"); err != nil {
		return errors.Join(err, os.Remove(path+".new"))
	}
	return renameInto(path+".new", path)
}

func (s *Store) copyTo(ctx context.Context, path string) error {
	const vacuum = "VACUUM INTO ?"
	at := time.Now()
	switch err := s.checkUsable(ctx); {
	case errors.As(err, new(*Removed)): // the writer still has the files, and does nothing more
		if _, err := s.writer.conn.ExecContext(ctx, vacuum, path); err != nil {
			return s.readError(ctx, err)
		}
	case err != nil:
		return err
	default:
		source, err := s.connect("", 1)
		if err != nil {
			return err
		}
		defer source.Close()
		if _, err := source.ExecContext(ctx, vacuum, path); err != nil {
			return s.readError(ctx, err)
		}
	}
	fresh := &Store{path: path, settings: s.settings}
	target, err := fresh.connect("_journal_mode=WAL", 1)
	if err != nil {
		return err
	}
	conn, err := target.Conn(ctx)
	if err == nil {
		w := &writer{conn: conn}
		if err = w.noteRestored(ctx, at, false); err == nil {
			err = w.markClosed()
		}
		err = errors.Join(err, conn.Close())
	}
	if err = errors.Join(err, target.Close()); err != nil {
		return asTyped(path, err)
	}
	return syncFile(path) // SQLite does not sync what it copies
}

func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	return nil
}

// Checked is what [Store.Check] read.
type Checked struct {
	// Payments is how many payments there are.
	Payments int
	// ByState is how many of them are in each state.
	ByState map[moneymovement.PaymentState]int
}

// maxProblems is how many problems a check finds before it ends.
const maxProblems = 100

// Check reads all of the store: the pages and indexes of the file, each row with its checksum and its record, the
// counts, and what payments count against caps. If anything is wrong, the error is *[Damaged], with up to 100 problems.
// Payments go on meanwhile. A million payments take a minute or two, and the log grows until the check has ended.
//
// A payment that needs a newer program is not damaged: it is counted, and its record is not read. Only a newer program
// knows what it counts against caps, so with such a payment nothing is compared there.
func (s *Store) Check(ctx context.Context) (Checked, error) {
	if err := s.checkOpen(ctx); err != nil {
		return Checked{}, err
	}
	// The order of an index is not that of the rows: without a large cache, most of the file is read for each index.
	db, err := s.connect("_query_only=1&_pragma=cache_size(-131072)", 1)
	if err != nil {
		return Checked{}, err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // all of it as it is at one time
	if err != nil {
		return Checked{}, s.readError(ctx, err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	problems, err := queryTexts(ctx, tx, "PRAGMA integrity_check("+strconv.Itoa(maxProblems)+")")
	if err != nil {
		return Checked{}, s.readError(ctx, err)
	}
	if len(problems) > 0 && (len(problems) > 1 || problems[0] != "ok") {
		return Checked{}, &Damaged{Path: s.path, Problems: problems}
	}
	checked, sums, problems, err := s.checkRows(ctx, tx)
	if err != nil {
		return Checked{}, s.readError(ctx, err)
	}
	if sums != nil {
		tallied, err := sums.problems(ctx, tx)
		if err != nil {
			return Checked{}, s.readError(ctx, err)
		}
		problems = append(problems, tallied...)
	}
	counted, err := queryTexts(ctx, tx,
		"SELECT state || ': ' || payments FROM counts WHERE payments <> 0 ORDER BY state")
	if err != nil {
		return Checked{}, s.readError(ctx, err)
	}
	found := map[string]bool{}
	for _, count := range counted {
		found[count] = true
	}
	want := map[string]bool{}
	for state, n := range checked.ByState {
		want[fmt.Sprintf("%s: %d", state, n)] = true
	}
	if !maps.Equal(found, want) {
		problems = append(problems, fmt.Sprintf("the counts %q do not agree with the rows", counted))
	}
	if len(problems) > 0 {
		return checked, &Damaged{Path: s.path, Problems: problems}
	}
	return checked, nil
}

// checkRows reads each row. sums is nil if only a newer program knows what the payments count.
func (s *Store) checkRows(
	ctx context.Context, tx *sql.Tx,
) (checked Checked, sums tallies, problems []string, err error) {
	checked.ByState, sums = map[moneymovement.PaymentState]int{}, tallies{}
	rows, err := tx.QueryContext(ctx, "SELECT "+columns+" FROM payments NOT INDEXED")
	if err != nil {
		return checked, nil, nil, err
	}
	defer rows.Close()
	newer := false
	for rows.Next() && len(problems) < maxProblems {
		row, err := s.scanned(rows.Scan)
		var damaged *Damaged
		switch {
		case errors.As(err, &damaged):
			problems = append(problems, damaged.Problems...)
		case err != nil:
			return checked, nil, nil, err
		default:
			record := row.record()
			if needsNewer(&record) {
				newer = true
				break
			}
			sums.count(&record)
			if record.Err() != nil {
				problems = append(problems, record.Err().Error())
			} else if record.State != row.state {
				problems = append(problems, fmt.Sprintf("the payment with the key %q is %s, and its record says %s",
					row.key, row.state, record.State))
			}
		}
		checked.Payments++
		checked.ByState[row.state]++
	}
	if newer {
		sums = nil
	}
	return checked, sums, problems, rows.Err()
}

func queryTexts(ctx context.Context, tx *sql.Tx, query string) (found []string, err error) {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		found = append(found, text)
	}
	return found, rows.Err()
}
