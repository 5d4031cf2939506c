package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"sync"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// Load implements [payments.Store].
func (s *Store) Load(ctx context.Context, key moneymovement.Key) (payments.Record, error) {
	found, err := s.load(ctx, key)
	if err != nil {
		return payments.Record{}, err
	}
	return found.record(), nil
}

func (s *Store) load(ctx context.Context, key moneymovement.Key) (row, error) {
	if err := s.checkOpen(ctx); err != nil {
		return row{}, err
	}
	rows, err := s.rows(ctx, "WHERE key = ?", key)
	if err != nil {
		return row{}, err
	}
	if len(rows) == 0 {
		return row{}, &payments.NotFound{Key: key}
	}
	return rows[0], nil
}

// List implements [payments.Store].
func (s *Store) List(ctx context.Context, list payments.List) ([]payments.Record, error) {
	if err := s.checkOpen(ctx); err != nil {
		return nil, err
	}
	if len(list.States) == 0 && !list.ByAccount {
		return records(s.rows(ctx, "WHERE key > ? ORDER BY key LIMIT ?", list.After, list.Limit))
	}
	states := slices.Compact(slices.Sorted(slices.Values(list.States)))
	if len(states) == 0 {
		summary, err := s.counts(ctx)
		if err != nil {
			return nil, err
		}
		for state := range summary {
			states = append(states, state)
		}
	}
	// The indexes have the rows of one state in the order of their keys. So each state is read on its own, up to the
	// limit.
	var selected []row
	for _, state := range states {
		var rows []row
		var err error
		if list.ByAccount {
			rows, err = s.rows(ctx, "WHERE account = ? AND state = ? AND key > ? ORDER BY key LIMIT ?",
				list.Account, state, list.After, list.Limit)
		} else {
			rows, err = s.rows(ctx, "WHERE state = ? AND key > ? ORDER BY key LIMIT ?", state, list.After, list.Limit)
		}
		if err != nil {
			return nil, err
		}
		selected = append(selected, rows...)
	}
	slices.SortFunc(selected, func(a, b row) int { return cmp.Compare(a.key, b.key) })
	return records(selected[:min(list.Limit, len(selected))], nil)
}

// records returns what is stored in rows.
func records(rows []row, err error) (records []payments.Record, _ error) {
	for i := range rows {
		records = append(records, rows[i].record())
	}
	return records, err
}

// rows returns the rows that a condition selects.
func (s *Store) rows(ctx context.Context, condition string, args ...any) (found []row, err error) {
	rows, err := s.readers.query(ctx, "SELECT "+columns+" FROM payments "+condition, args...)
	if err != nil {
		return nil, s.readError(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		row, err := s.scanned(rows.Scan)
		if err != nil {
			return nil, s.readError(ctx, err)
		}
		found = append(found, row)
	}
	return found, s.readError(ctx, rows.Err())
}

// Changes implements [payments.Store].
func (s *Store) Changes(ctx context.Context, after payments.Position, limit int) ([]payments.Record, error) {
	if err := s.checkOpen(ctx); err != nil {
		return nil, err
	}
	from := int64(0)
	if after != "" {
		var err error
		if from, err = strconv.ParseInt(string(after), 10, 64); err != nil || from < 0 {
			return nil, &payments.BadPosition{Position: after}
		}
	}
	return records(s.rows(ctx, "WHERE change > ? ORDER BY change LIMIT ?", from, limit))
}

// Summary implements [payments.Store].
func (s *Store) Summary(ctx context.Context) (payments.Summary, error) {
	if err := s.checkOpen(ctx); err != nil {
		return payments.Summary{}, err
	}
	counts, err := s.counts(ctx)
	if err != nil {
		return payments.Summary{}, err
	}
	summary := payments.Summary{ByState: counts}
	if from := s.restoredFrom.Load(); from != nil {
		summary.RestoredFrom = *from
	}
	for _, work := range []payments.Work{payments.WorkBegin, payments.WorkAgain, payments.WorkFollow} {
		err := s.each(ctx, allDue, []any{work}, func(_ moneymovement.Key, due int64) bool {
			if at := toTime(due); summary.OldestDue.IsZero() || at.Before(summary.OldestDue) {
				summary.OldestDue = at
			}
			return false // the first is the oldest
		})
		if err != nil {
			return payments.Summary{}, err
		}
	}
	return summary, nil
}

func (s *Store) counts(ctx context.Context) (map[moneymovement.PaymentState]int, error) {
	rows, err := s.readers.query(ctx, "SELECT state, payments FROM counts WHERE payments <> 0")
	if err != nil {
		return nil, s.readError(ctx, err)
	}
	defer rows.Close()
	counts := map[moneymovement.PaymentState]int{}
	for rows.Next() {
		var state moneymovement.PaymentState
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			return nil, s.readError(ctx, err)
		}
		counts[state] = n
	}
	return counts, s.readError(ctx, rows.Err())
}

// readers are the connections that read. They prepare each query once.
type readers struct {
	db       *sql.DB
	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

func (r *readers) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	statement, err := r.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

func (r *readers) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.prepared[text]; known != nil {
		return known, nil
	}
	statement, err := r.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if r.prepared == nil {
		r.prepared = map[string]*sql.Stmt{}
	}
	r.prepared[text] = statement
	return statement, nil
}

// close closes the connections, which their statements would keep open.
func (r *readers) close() (err error) {
	if r.db == nil {
		return nil
	}
	for _, statement := range r.prepared {
		err = errors.Join(err, statement.Close())
	}
	return errors.Join(err, r.db.Close())
}
