package sqlite

import (
	"context"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// Insert implements [payments.Store].
func (s *Store) Insert(ctx context.Context, row payments.Row) (payments.Row, bool, error) {
	change := &insertion{row: owned(row)}
	if err := s.write(ctx, change); err != nil {
		return payments.Row{}, false, err
	}
	return change.row, change.inserted, nil
}

type insertion struct {
	row      payments.Row
	inserted bool
}

func (i *insertion) apply(ctx context.Context, w *writer) (refused, err error) {
	row := &i.row
	row.Lease = payments.Lease{}
	due := toMicros(row.Due)
	row.Due = toTime(due)
	done, err := w.insert.ExecContext(ctx, row.Key, row.Account, row.State, row.Work, due, w.turn(row.Account),
		w.change+1, row.Data, checksum(*row))
	if err != nil {
		return nil, err
	}
	inserted, err := done.RowsAffected()
	if err != nil {
		return nil, err
	}
	if i.inserted = inserted == 1; i.inserted {
		w.change++
		row.Position = position(w.change)
		return nil, nil
	}
	*row, err = w.store.scanned(w.load.QueryRowContext(ctx, row.Key).Scan)
	return nil, err
}

func (*insertion) end(bool) {}

// turn returns the turn of a new row: after the account's last one, and not before the turn that is claimed now.
func (w *writer) turn(account dapi.ClientID) int64 {
	now := w.store.turn.Load()
	turn := max(w.turns[string(account)]+1, now)
	w.turns[string(account)] = turn
	if len(w.turns) > w.keep {
		for account, last := range w.turns { // an account whose turns have passed is like a new one
			if last < now {
				delete(w.turns, account)
			}
		}
		w.keep = max(2*len(w.turns), minTurns)
	}
	return turn
}

// minTurns is how many accounts are remembered before any is forgotten.
const minTurns = 1024

// Save implements [payments.Store].
func (s *Store) Save(ctx context.Context, row payments.Row, release bool) (payments.Position, error) {
	change := &saving{store: s, row: owned(row), release: release}
	if err := s.write(ctx, change); err != nil {
		return "", err
	}
	return change.row.Position, nil
}

type saving struct {
	store   *Store
	row     payments.Row
	release bool
	begun   bool
}

func (c *saving) apply(ctx context.Context, w *writer) (refused, err error) {
	row := &c.row
	account, ok := w.store.leases.begin(*row, c.release)
	if !ok {
		return &payments.LeaseLost{Key: row.Key, Lease: row.Lease}, nil
	}
	c.begun, row.Account = true, account
	if _, err = w.save.ExecContext(ctx, row.State, row.Work, toMicros(row.Due), w.change+1, row.Data, checksum(*row),
		row.Key); err != nil {
		return nil, err
	}
	w.change++
	row.Position = position(w.change)
	return nil, nil
}

func (c *saving) end(committed bool) {
	if c.begun {
		c.store.leases.end(c.row, c.release, committed)
	}
}

// Postpone implements [payments.Store].
func (s *Store) Postpone(ctx context.Context, row payments.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.leases.unmoved(row) {
		return nil
	}
	return s.write(ctx, &postponement{store: s, row: row})
}

type postponement struct {
	store *Store
	row   payments.Row
	begun bool
}

func (p *postponement) apply(ctx context.Context, w *writer) (refused, err error) {
	if _, ok := w.store.leases.begin(p.row, true); !ok {
		return &payments.LeaseLost{Key: p.row.Key, Lease: p.row.Lease}, nil
	}
	p.begun = true
	_, err = w.postpone.ExecContext(ctx, toMicros(p.row.Due), p.row.Key)
	return nil, err
}

func (p *postponement) end(committed bool) {
	if p.begun {
		p.store.leases.end(p.row, true, committed)
	}
}
