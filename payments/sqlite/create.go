package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// create makes the file of a new store beside its place, and puts it there when it is whole: a file that was begun and
// not finished would look like damage.
func (s *Store) create(ctx context.Context) error {
	if s.settings.mustExist {
		return fmt.Errorf("sqlite: %s must exist: check the path and that its disk is mounted, or open it without "+
			"MustExist at the first start: %w", s.path, fs.ErrNotExist)
	}
	if info, err := os.Stat(s.path + "-wal"); err == nil && info.Size() > 0 {
		return &Damaged{Path: s.path, Problems: []string{"the file is missing, and its log is there"}}
	}
	if err := makeStore(ctx, s.path+".new", s.settings); err != nil {
		return err
	}
	return moveInto(s.path+".new", s.path)
}

// makeStore makes a file with the newest schema, synced to the disk, and in the place of what an earlier try has left.
func makeStore(ctx context.Context, path string, settings settings) error {
	if err := makeFile(path); err != nil {
		return err
	}
	fresh := &Store{path: path, settings: settings}
	db, err := fresh.connect("_journal_mode=WAL", 1)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return typed(path, err)
	}
	defer conn.Close()
	if err := migrate(ctx, conn, path, settings.migrations); err != nil {
		return err
	}
	if err := checkpoint(ctx, conn); err != nil {
		return typed(path, err)
	}
	return nil
}

// makeFile makes an empty file that its owner alone can read. SQLite gives its other files the same mode.
func makeFile(path string) error {
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("sqlite: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	return file.Close()
}

// moveInto gives a file its name, also after a loss of power.
func moveInto(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	return syncFolder(filepath.Dir(to))
}
