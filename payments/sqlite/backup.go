package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Backup writes a copy of the store, as it is at one time, to a new file. Payments go on meanwhile. The copy is
// complete or not there, and its owner alone can read it. If the file exists already, the error wraps fs.ErrExist. It
// also works after *[Removed], when the files of the store are gone.
//
// To go back to a copy, put it in the place of the store's file while no process has it open, and remove the store's
// -wal and -shm. It does not know what was paid since: call [payments.Processor.Reconcile] for that time before
// [payments.Processor.Resume], and submit the payments since then again, with the same keys, and with the time of their
// first submission as FirstUsed. Watch begins anew.
//
// If the copy is older than 6 days, the service may have forgotten the keys of its payments: then cancel each open
// payment whose payout the report shows as an unknown entry, before Resume. Otherwise it can be paid a second time.
func (s *Store) Backup(ctx context.Context, path string) error {
	if err := s.reading(ctx); err != nil {
		return err
	}
	path, err := realPath(path)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("sqlite: a backup needs a name of its own, and %s is there: %w", path, fs.ErrExist)
	}
	if err := makeFile(path + ".new"); err != nil {
		return err
	}
	if err := s.copyTo(ctx, path+".new"); err != nil {
		return errors.Join(err, os.Remove(path+".new"))
	}
	return moveInto(path+".new", path)
}

func (s *Store) copyTo(ctx context.Context, path string) error {
	const vacuum = "VACUUM INTO ?"
	switch err := s.trusted(ctx); {
	case errors.As(err, new(*Removed)): // the writer still has the files, and does nothing more
		if _, err := s.writer.conn.ExecContext(ctx, vacuum, path); err != nil {
			return s.read(ctx, err)
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
			return s.read(ctx, err)
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
		err = errors.Join(w.leave(), conn.Close())
	}
	if err = errors.Join(err, target.Close()); err != nil {
		return typed(path, err)
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
