package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"

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
	change := &insertion{record: record, row: row}
	if err := s.write(ctx, change); err != nil {
		return payments.Record{}, false, err
	}
	if !change.inserted {
		return change.row.record(), false, nil
	}
	record = change.record
	record.Due, record.Position, record.Count = toTime(change.row.due), position(change.row.change), nil
	return record, true, nil
}

type insertion struct {
	record   payments.Record
	row      row
	inserted bool
}

func (i *insertion) apply(ctx context.Context, w *writer) (refused, err error) {
	row := &i.row
	var changes []payments.Tally
	differs := false // from what the caller has passed
	if !w.restoredFrom.IsZero() {
		i.record, _ = i.record.Restored(w.restoredFrom)
		differs = true
	}
	if i.record.Count != nil {
		var reached *payments.CapReached
		if changes, err = w.recount(ctx, &i.record, nil); errors.As(err, &reached) {
			i.record, differs, err = i.record.OverCap(reached), true, nil
		}
		if err != nil {
			return nil, err
		}
	}
	if differs {
		if *row, err = rowOf(&i.record); err != nil {
			return err, nil
		}
	}
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
		return nil, w.add(ctx, changes)
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
	if len(w.turns) > w.maxTurns {
		for account, last := range w.turns { // an account whose turns have passed is like a new one
			if last < now {
				delete(w.turns, account)
			}
		}
		w.maxTurns = max(2*len(w.turns), minTurns)
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
	change := &saving{store: s, row: row, record: &claimed.Record, lease: claimed.Lease, release: release}
	if err := s.write(ctx, change); err != nil {
		return "", err
	}
	return position(change.row.change), nil
}

type saving struct {
	store   *Store
	row     row
	record  *payments.Record
	lease   payments.Lease
	release bool
	begun   bool
}

func (c *saving) apply(ctx context.Context, w *writer) (refused, err error) {
	row := &c.row
	var changes []payments.Tally
	if c.record.Count != nil {
		if changes, refused, err = c.recount(ctx, w); refused != nil || err != nil {
			return refused, err
		}
	}
	account, ok := w.store.leases.beginWrite(row.key, c.lease, c.release)
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
	return nil, w.add(ctx, changes)
}

// recount returns the tallies to add. refused is a cap that would be passed.
func (c *saving) recount(ctx context.Context, w *writer) (changes []payments.Tally, refused, err error) {
	stored, err := w.store.scanned(w.load.QueryRowContext(ctx, c.row.key).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, &payments.LeaseLost{Key: c.row.key, Lease: c.lease}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	before := stored.record()
	changes, err = w.recount(ctx, c.record, before.Spending)
	if reached := (*payments.CapReached)(nil); errors.As(err, &reached) {
		return nil, reached, nil
	}
	return changes, nil, err
}

func (c *saving) end(committed bool) {
	if c.begun {
		c.store.leases.endWrite(c.row.key, c.lease, c.row.due, c.release, committed)
	}
}

// Postpone implements [payments.Store].
func (s *Store) Postpone(ctx context.Context, claimed payments.Claimed) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	due := toMicros(claimed.Due)
	if s.leases.releaseUnchanged(claimed.Key, claimed.Lease, due) {
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
	if _, ok := w.store.leases.beginWrite(p.key, p.lease, true); !ok {
		return &payments.LeaseLost{Key: p.key, Lease: p.lease}, nil
	}
	p.begun = true
	_, err = w.postpone.ExecContext(ctx, p.due, p.key)
	return nil, err
}

func (p *postponement) end(committed bool) {
	if p.begun {
		p.store.leases.endWrite(p.key, p.lease, p.due, true, committed)
	}
}

// write is a change that waits for its transaction.
type write interface {
	// apply makes the change. refused means that it cannot be made, and that the others of the transaction go on.
	apply(ctx context.Context, w *writer) (refused, err error)
	// end is called when the transaction has ended, unless it was committed and the change was refused. If it was
	// rolled back, the last change of the transaction is the first to end.
	end(committed bool)
}

// request is a write of a caller.
type request struct {
	write
	state  atomic.Int32
	result chan error // with room for one
}

// The states of a request. Its caller and the writer compete: the first to change requestWaiting decides.
const (
	requestWaiting int32 = iota
	requestTaken
	requestAbandoned // by its caller
)

// batchSize is how many requests share a transaction at most.
const batchSize = 256

// writer is the one goroutine that writes. All that wait share a transaction, and so one sync of the disk.
type writer struct {
	store    *Store
	conn     *sql.Conn
	change   int64            // the last position
	turns    map[string]int64 // the last turn of each account
	maxTurns int              // how many of them are remembered
	tallied  bool             // the file has tallies

	restoredFrom time.Time // zero if the store was not restored

	begin, commit, rollback, insert, save, postpone, load *sql.Stmt
	prepared                                              []*sql.Stmt
}

func (w *writer) prepare(ctx context.Context) error {
	for statement, text := range map[**sql.Stmt]string{
		&w.begin:    "BEGIN IMMEDIATE",
		&w.commit:   "COMMIT",
		&w.rollback: "ROLLBACK",
		&w.insert: "INSERT INTO payments (key, account, state, work, due, turn, change, data, sum) " +
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
		&w.save:     "UPDATE payments SET state = ?, work = ?, due = ?, change = ?, data = ?, sum = ? WHERE key = ?",
		&w.postpone: "UPDATE payments SET due = ? WHERE key = ?",
		&w.load:     "SELECT " + columns + " FROM payments WHERE key = ?",
	} {
		var err error
		if *statement, err = w.conn.PrepareContext(ctx, text); err != nil {
			return err
		}
		w.prepared = append(w.prepared, *statement)
	}
	return nil
}

// close closes the connection, which its statements would keep open.
func (w *writer) close() (err error) {
	for _, statement := range w.prepared {
		err = errors.Join(err, statement.Close())
	}
	return errors.Join(err, w.conn.Close())
}

// write makes a change, and waits until it is durable or refused.
func (s *Store) write(ctx context.Context, change write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{write: change, result: make(chan error, 1)}
	s.closing.RLock()
	if s.closed {
		s.closing.RUnlock()
		return &Closed{Path: s.path}
	}
	select {
	case s.queue <- r:
		s.closing.RUnlock()
	case <-ctx.Done():
		s.closing.RUnlock()
		return ctx.Err()
	}
	select {
	case err := <-r.result:
		return err
	case <-ctx.Done():
		r.state.CompareAndSwap(requestWaiting, requestAbandoned)
		return ctx.Err()
	}
}

// run writes until the queue is closed.
func (w *writer) run() {
	for first := range w.store.queue {
		runtime.Gosched() // those who waited for the last transaction come back now
		w.transaction(w.nextBatch(first))
	}
}

// nextBatch returns all requests that wait, the first among them.
func (w *writer) nextBatch(first *request) (batch []*request) {
	for next := first; ; {
		if next.state.CompareAndSwap(requestWaiting, requestTaken) {
			batch = append(batch, next)
		}
		if len(batch) == batchSize {
			return batch
		}
		select {
		case more, open := <-w.store.queue:
			if !open {
				return batch
			}
			next = more
		default:
			return batch
		}
	}
}

// transaction makes the changes of a batch durable, or none of them.
func (w *writer) transaction(batch []*request) {
	if len(batch) == 0 {
		return
	}
	if failed := w.store.failed.Load(); failed != nil {
		for _, r := range batch {
			r.result <- *failed
		}
		return
	}
	written, err := w.apply(batch)
	if err != nil {
		err = w.store.recordFailure(err)
		w.moveLog(err)
		slices.Reverse(written) // what a change brings back is as the changes before it have left it
	}
	for _, r := range written {
		r.end(err == nil)
		r.result <- err
	}
}

// apply makes the changes in one transaction. It returns the requests that wait for its result: all if it failed, and
// otherwise those that were not refused. The refused ones have their result.
func (w *writer) apply(batch []*request) (written []*request, err error) {
	ctx, before := context.Background(), w.change
	if _, err := w.begin.ExecContext(ctx); err != nil {
		return batch, err
	}
	var refused []*request
	var refusals []error
	for _, r := range batch {
		refusal, err := r.apply(ctx, w)
		switch {
		case err != nil:
			return batch, w.rollBack(before, err)
		case refusal != nil:
			refused, refusals = append(refused, r), append(refusals, refusal)
		default:
			written = append(written, r)
		}
	}
	if _, err = w.commit.ExecContext(ctx); err != nil {
		return batch, w.rollBack(before, err)
	}
	if err := w.store.checkInPlace(); err != nil { // after the commit: what is confirmed was in the files
		return batch, err
	}
	for i, r := range refused {
		r.result <- refusals[i]
	}
	return written, nil
}

// rollBack rolls a transaction back because of an error, and returns what failed.
func (w *writer) rollBack(change int64, cause error) error {
	w.change, w.tallied = change, false
	_, err := w.rollback.ExecContext(context.Background())
	if primary, _ := code(err); primary == lib.SQLITE_ERROR { // it has ended by itself
		return cause
	}
	return errors.Join(cause, err)
}

// moveLog lets the next transactions use the log from its beginning, if the disk is full.
func (w *writer) moveLog(err error) {
	var full *Full
	if errors.As(err, &full) { // what cannot be moved stays where it is
		_, _ = w.conn.ExecContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")
	}
}

// recordFailure returns the error of a transaction. After some errors, nobody knows what the disk has kept. The store
// then writes nothing more: a later transaction could be confirmed although one before it was lost.
func (s *Store) recordFailure(err error) error {
	failure := asTyped(s.path, err)
	var damaged *Damaged
	var failed *Failed
	var removed *Removed
	if errors.As(failure, &damaged) || errors.As(failure, &failed) || errors.As(failure, &removed) {
		s.failed.CompareAndSwap(nil, &failure)
	}
	return failure
}
