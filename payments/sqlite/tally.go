package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/payments"
)

// version2 has what payments count against caps. A file becomes version 2 with the first payment that counts: a program
// that knows only version 1 would not count its payments, and cannot open the file then. at is in seconds since 1970.
var version2 = []string{
	`CREATE TABLE tallies (
	asset TEXT NOT NULL, payee TEXT NOT NULL, at INTEGER NOT NULL, amount TEXT NOT NULL, PRIMARY KEY (asset, payee, at)
) STRICT, WITHOUT ROWID`,
}

// recount returns the tallies to add with a record, or the error for a caller whose record would pass a cap. before is
// the Spending of the stored record.
func (w *writer) recount(ctx context.Context, record *payments.Record, before *payments.Spending) (
	changes []payments.Tally, err error,
) {
	if !w.tallied { // this is the first payment that counts, or the last transaction was rolled back
		if err := migrateIn(ctx, w.conn, migrations, tallied); err != nil {
			return nil, err
		}
		w.tallied = true
	}
	return record.Recount(before, func(of payments.Cap) (decimal.Decimal, error) { return w.sum(ctx, of) })
}

// sum returns what is counted within a cap.
func (w *writer) sum(ctx context.Context, of payments.Cap) (sum decimal.Decimal, err error) {
	rows, err := w.conn.QueryContext(ctx, "SELECT amount FROM tallies "+
		"WHERE asset = ? AND payee = ? AND at >= ? AND at < ?", of.Asset, of.Payee, of.From.Unix(), of.Until.Unix())
	if err != nil {
		return sum, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return sum, err
		}
		amount, err := w.amount(text)
		if err != nil {
			return sum, err
		}
		sum = sum.Add(amount)
	}
	return sum, rows.Err()
}

// amount reads the amount of a tally.
func (w *writer) amount(text string) (decimal.Decimal, error) {
	amount, err := decimal.NewFromString(text)
	if err != nil {
		err = &Damaged{Path: w.store.path, Problems: []string{fmt.Sprintf("a tally has the amount %.80q", text)}}
	}
	return amount, err
}

// add adds tallies.
func (w *writer) add(ctx context.Context, changes []payments.Tally) error {
	for _, change := range changes {
		var text string
		err := w.conn.QueryRowContext(ctx, "SELECT amount FROM tallies WHERE asset = ? AND payee = ? AND at = ?",
			change.Asset, change.Payee, change.At.Unix()).Scan(&text)
		switch {
		case err == sql.ErrNoRows: //nolint:errorlint // Scan returns it as it is
			text = "0"
		case err != nil:
			return err
		}
		amount, err := w.amount(text)
		if err != nil {
			return err
		}
		if _, err = w.conn.ExecContext(ctx, "INSERT OR REPLACE INTO tallies VALUES (?, ?, ?, ?)", change.Asset,
			change.Payee, change.At.Unix(), amount.Add(change.Amount).String()); err != nil {
			return err
		}
	}
	return nil
}

// tallies adds up what payments count, to compare it with the table.
type tallies map[string]decimal.Decimal

func (t tallies) count(record *payments.Record) {
	if record.Spending == nil {
		return
	}
	counted := payments.Record{Spending: record.Spending, Count: new(payments.Count)}
	changes, _ := counted.Recount(nil, nil) // without a cap, it needs no sums
	for _, change := range changes {
		name := tallyName(change.Asset, change.Payee, change.At.Unix())
		t[name] = t[name].Add(change.Amount)
	}
}

func tallyName(asset, payee string, at int64) string {
	return fmt.Sprintf("of %q to %q at %s", asset, payee, time.Unix(at, 0).UTC().Format(time.RFC3339))
}

// problems returns how the table differs from the records.
func (t tallies) problems(ctx context.Context, tx *sql.Tx) (problems []string, err error) {
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return nil, err
	}
	if version&^restoredFlag >= tallied {
		rows, err := tx.QueryContext(ctx, "SELECT asset, payee, at, amount FROM tallies")
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var asset, payee, text string
			var at int64
			if err := rows.Scan(&asset, &payee, &at, &text); err != nil {
				return nil, err
			}
			name := tallyName(asset, payee, at)
			amount, err := decimal.NewFromString(text)
			if err != nil || !amount.Equal(t[name]) {
				problems = append(problems, fmt.Sprintf("the tally %s is %.80q, and its payments count %s", name, text,
					t[name]))
			}
			delete(t, name)
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	for name, amount := range t {
		if !amount.IsZero() {
			problems = append(problems, fmt.Sprintf("there is no tally %s, and its payments count %s", name, amount))
		}
	}
	return problems, nil
}
