package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// changePosition is the position of a change among all changes.
type changePosition struct {
	era    int32
	tx     string
	change int64
}

func (p changePosition) position() payments.Position {
	return payments.Position(fmt.Sprintf("%d.%s.%d", p.era, p.tx, p.change))
}

func parsePosition(position payments.Position) (changePosition, error) {
	if position == "" {
		return changePosition{tx: "0"}, nil
	}
	bad := &payments.BadPosition{Position: position}
	parts := strings.Split(string(position), ".")
	if len(parts) != 3 {
		return changePosition{}, bad
	}
	era, eraErr := strconv.ParseUint(parts[0], 10, 31)
	tx, txErr := strconv.ParseUint(parts[1], 10, 64)
	change, changeErr := strconv.ParseUint(parts[2], 10, 63)
	if eraErr != nil || txErr != nil || changeErr != nil {
		return changePosition{}, bad
	}
	//gosec:disable G115 -- they were read as that short
	return changePosition{era: int32(era), tx: strconv.FormatUint(tx, 10), change: int64(change)}, nil
}

// scanRecord reads the columns of a row.
func scanRecord(row pgx.CollectableRow) (payments.Record, error) {
	return scan(row)
}

// scan reads the columns of a row, and then those of more.
func scan(row pgx.CollectableRow, more ...any) (payments.Record, error) {
	var at changePosition
	var key string
	var due *time.Time
	var text []byte
	if err := row.Scan(append([]any{&key, &due, &text, &at.era, &at.tx, &at.change}, more...)...); err != nil {
		return payments.Record{}, err
	}
	record := payments.Decode(moneymovement.Key(key), text)
	record.Due, record.Position = time.Time{}, at.position()
	if due != nil {
		record.Due = due.UTC()
	}
	return record, nil
}

// List implements [payments.Store].
func (s *Store) List(ctx context.Context, list payments.List) ([]payments.Record, error) {
	states := []string{}
	for _, state := range list.States {
		states = append(states, string(state))
	}
	slices.Sort(states)
	states = slices.Compact(states)
	text, args := s.text.list, []any{string(list.After), max(list.Limit, 0)}
	switch {
	case list.ByAccount:
		text, args = s.text.listAccount, append(args, states, string(list.Account))
	case len(states) > 0:
		text, args = s.text.listStates, append(args, states)
	}
	return s.query(ctx, text, args...)
}

// Changes implements [payments.Store]. A transaction that is open holds back the changes of those that began to write
// after it.
func (s *Store) Changes(ctx context.Context, after payments.Position, limit int) ([]payments.Record, error) {
	at, err := parsePosition(after)
	if err != nil {
		return nil, err
	}
	return s.query(ctx, s.text.changes, at.era, at.tx, at.change, max(limit, 0))
}

func (s *Store) query(ctx context.Context, text string, args ...any) (records []payments.Record, err error) {
	err = s.retryConflicts(ctx, func() error {
		rows, err := s.pool.Query(ctx, text, args...)
		if err != nil {
			return err
		}
		records, err = pgx.CollectRows(rows, scanRecord)
		return err
	})
	return records, err
}

// Summary implements [payments.Store].
func (s *Store) Summary(ctx context.Context) (summary payments.Summary, err error) {
	err = s.retryConflicts(ctx, func() error {
		summary = payments.Summary{ByState: map[moneymovement.PaymentState]int{}}
		var batch pgx.Batch
		batch.Queue(s.text.counts).Query(func(rows pgx.Rows) error {
			var state string
			var count int
			_, err := pgx.ForEachRow(rows, []any{&state, &count}, func() error {
				summary.ByState[moneymovement.PaymentState(state)] = count
				return nil
			})
			return err
		})
		batch.Queue(s.text.oldest).QueryRow(func(row pgx.Row) error {
			var due *time.Time
			err := row.Scan(&due)
			if due != nil {
				summary.OldestDue = due.UTC()
			}
			return err
		})
		batch.Queue(s.text.restoredFrom).QueryRow(func(row pgx.Row) error {
			var since *time.Time
			err := row.Scan(&since)
			if since != nil {
				summary.RestoredFrom = since.UTC()
			}
			return err
		})
		return send(ctx, s.pool, &batch)
	})
	return summary, err
}
