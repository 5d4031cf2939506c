package sqlite

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// Insert implements [payments.Store].
func (s *Store) Insert(ctx context.Context, record payments.Record) (payments.Record, bool, error) {
	row, err := rowOf(&record)
	if err != nil {
		return payments.Record{}, false, err
	}
	change := &insertion{row: row}
	if err := s.write(ctx, change); err != nil {
		return payments.Record{}, false, err
	}
	if !change.inserted {
		return change.row.record(), false, nil
	}
	record.Due, record.Position = toTime(row.due), position(change.row.change)
	return record, true, nil
}

type insertion struct {
	row      row
	inserted bool
}

func (i *insertion) apply(ctx context.Context, w *writer) (refused, err error) {
	row := &i.row
	done, err := w.insert.ExecContext(ctx, row.key, row.account, row.state, row.work, row.due, w.turn(row.account),
		w.change+1, row.text, row.checksum())
	if err != nil {
		return nil, err
	}
	inserted, err := done.RowsAffected()
	if err != nil {
		return nil, err
	}
	if i.inserted = inserted == 1; i.inserted {
		w.change++
		row.change = w.change
		return nil, nil
	}
	*row, err = w.store.scanned(w.load.QueryRowContext(ctx, row.key).Scan)
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
func (s *Store) Save(ctx context.Context, claimed payments.Claimed, release bool) (payments.Position, error) {
	row, err := rowOf(&claimed.Record)
	if err != nil {
		return "", err
	}
	change := &saving{store: s, row: row, lease: claimed.Lease, release: release}
	if err := s.write(ctx, change); err != nil {
		return "", err
	}
	return position(change.row.change), nil
}

type saving struct {
	store   *Store
	row     row
	lease   payments.Lease
	release bool
	begun   bool
}

func (c *saving) apply(ctx context.Context, w *writer) (refused, err error) {
	row := &c.row
	account, ok := w.store.leases.begin(row.key, c.lease, c.release)
	if !ok {
		return &payments.LeaseLost{Key: row.key, Lease: c.lease}, nil
	}
	c.begun, row.account = true, account
	if _, err = w.save.ExecContext(ctx, row.state, row.work, row.due, w.change+1, row.text, row.checksum(),
		row.key); err != nil {
		return nil, err
	}
	w.change++
	row.change = w.change
	return nil, nil
}

func (c *saving) end(committed bool) {
	if c.begun {
		c.store.leases.end(c.row.key, c.lease, c.row.due, c.release, committed)
	}
}

// Postpone implements [payments.Store].
func (s *Store) Postpone(ctx context.Context, claimed payments.Claimed) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	due := toMicros(claimed.Due)
	if s.leases.unmoved(claimed.Key, claimed.Lease, due) {
		return nil
	}
	return s.write(ctx, &postponement{store: s, key: claimed.Key, lease: claimed.Lease, due: due})
}

type postponement struct {
	store *Store
	key   moneymovement.Key
	lease payments.Lease
	due   int64
	begun bool
}

func (p *postponement) apply(ctx context.Context, w *writer) (refused, err error) {
	if _, ok := w.store.leases.begin(p.key, p.lease, true); !ok {
		return &payments.LeaseLost{Key: p.key, Lease: p.lease}, nil
	}
	p.begun = true
	_, err = w.postpone.ExecContext(ctx, p.due, p.key)
	return nil, err
}

func (p *postponement) end(committed bool) {
	if p.begun {
		p.store.leases.end(p.key, p.lease, p.due, true, committed)
	}
}
