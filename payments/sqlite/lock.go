package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// lockFile keeps a second process out. SQLite's own locks let several processes share a file, and its exclusive mode
// leaves one connection, behind which each reader would wait for the disk.
//
// The file stays beside a store. If it was made for a store that could not be opened, it is removed again, while it is
// locked. A process that had opened it before then has the lock of a file without a name, which nobody else sees: so
// a lock counts only if its file is at its path.
type lockFile struct {
	file *os.File
	made bool // by this process, for a store that is not open yet
}

var errLocked = errors.New("it is locked")

// lockFor locks a store.
func lockFor(path string) (*lockFile, error) {
	for range 100 { // each further time, another process has just removed the file
		l, err := openLock(path + ".lock")
		if err != nil {
			return nil, fmt.Errorf("sqlite: lock of the store: %w", err)
		}
		switch err := lock(l.file); {
		case errors.Is(err, errLocked):
			busy := &InUse{Path: path, Process: holder(l.file)}
			_ = l.file.Close()
			return nil, busy
		case err != nil:
			_ = l.file.Close()
			return nil, fmt.Errorf("sqlite: lock of the store: %w", err)
		}
		if !l.inPlace() {
			_ = l.file.Close()
			continue
		}
		// It says who holds it, for the message to a second process. If there is no room for that, the lock still
		// counts.
		if err := l.file.Truncate(0); err == nil {
			_, _ = l.file.WriteAt(strconv.AppendInt(nil, int64(os.Getpid()), 10), 0)
		}
		return l, nil
	}
	return nil, &InUse{Path: path}
}

// openLock opens a file that is locked next, and makes it if there is none.
func openLock(name string) (*lockFile, error) {
	_, err := os.Lstat(name) //gosec:disable G703 -- the caller names it
	made := errors.Is(err, fs.ErrNotExist)
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) //gosec:disable G703 -- as above
	return &lockFile{file, made}, err
}

// inPlace reports whether the file is still at its path.
func (l *lockFile) inPlace() bool {
	open, err := l.file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(l.file.Name()) //gosec:disable G703 -- the caller names it
	return err == nil && os.SameFile(open, now)
}

// holder returns the id of the process that has the lock, 0 if it is not known.
func holder(file io.Reader) int {
	text, err := io.ReadAll(io.LimitReader(file, 20))
	if err != nil {
		return 0
	}
	process, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return process
}

// release ends the lock.
func (l *lockFile) release() error {
	switch {
	case l == nil:
		return nil
	case l.made:
		return closeAndRemove(l.file)
	}
	return l.file.Close()
}
