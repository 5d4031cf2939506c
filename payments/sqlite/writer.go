package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"sync/atomic"

	lib "modernc.org/sqlite/lib"
)

// write is a change that waits for its transaction.
type write interface {
	// apply makes the change. refused means that it cannot be made, and that the others of the transaction go on.
	apply(ctx context.Context, w *writer) (refused, err error)
	// end is called when the transaction has ended, unless it was committed and the change was refused.
	end(committed bool)
}

// request is a write of a caller.
type request struct {
	write
	state  atomic.Int32
	result chan error // with room for one
}

// The states of a request. Whoever leaves waiting decides whether it is made.
const (
	waiting int32 = iota
	taken
	given // up by its caller
)

// batchSize is how many requests share a transaction at most.
const batchSize = 256

// writer is the one goroutine that writes. All that wait share a transaction, and so one sync of the disk.
type writer struct {
	store  *Store
	conn   *sql.Conn
	change int64            // the last position
	turns  map[string]int64 // the last turn that each account was given
	keep   int              // how many of them are remembered

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

// write waits for a change to be durable, or to be refused.
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
		r.state.CompareAndSwap(waiting, given)
		return ctx.Err()
	}
}

// run writes until the queue is closed.
func (w *writer) run() {
	for first := range w.store.queue {
		runtime.Gosched() // those who waited for the last transaction come back now
		w.transaction(w.waiting(first))
	}
}

// waiting returns all requests that wait, the first among them.
func (w *writer) waiting(first *request) (batch []*request) {
	for next := first; ; {
		if next.state.CompareAndSwap(waiting, taken) {
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
	made, err := w.apply(batch)
	if err != nil {
		err = w.store.failing(err)
		w.makeRoom(err)
	}
	for _, r := range made {
		r.end(err == nil)
		r.result <- err
	}
}

// apply returns the requests that wait for the result of the transaction: all if it failed, else those that were not
// refused, for the others have theirs.
func (w *writer) apply(batch []*request) (made []*request, err error) {
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
			return batch, w.undo(before, err)
		case refusal != nil:
			refused, refusals = append(refused, r), append(refusals, refusal)
		default:
			made = append(made, r)
		}
	}
	if _, err = w.commit.ExecContext(ctx); err != nil {
		return batch, w.undo(before, err)
	}
	if err := w.store.inPlace(); err != nil { // after the commit: what is confirmed was in the files
		return batch, err
	}
	for i, r := range refused {
		r.result <- refusals[i]
	}
	return made, nil
}

// undo rolls a transaction back because of an error, and returns what failed.
func (w *writer) undo(change int64, because error) error {
	w.change = change
	_, err := w.rollback.ExecContext(context.Background())
	if primary, _ := code(err); primary == lib.SQLITE_ERROR { // it has ended by itself
		return because
	}
	return errors.Join(because, err)
}

// makeRoom lets the next transactions use the log from its beginning, if the disk is full.
func (w *writer) makeRoom(err error) {
	var full *Full
	if errors.As(err, &full) { // what cannot be moved stays where it is
		_, _ = w.conn.ExecContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")
	}
}

// failing returns the error of a transaction. After some, nobody knows what the disk has kept: the store then writes
// nothing more, because a later transaction could be confirmed that stands on a lost one.
func (s *Store) failing(err error) error {
	found := typed(s.path, err)
	var damaged *Damaged
	var failed *Failed
	var removed *Removed
	if errors.As(found, &damaged) || errors.As(found, &failed) || errors.As(found, &removed) {
		s.failed.CompareAndSwap(nil, &found)
	}
	return found
}
