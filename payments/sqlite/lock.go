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
// The file stays beside a store. If this process created it and the store cannot be opened, the file is removed before
// the lock ends. Another process may have opened the removed file already, and would lock a file that nobody else can
// find. So a lock is valid only if its file is still at its path.
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
		// The file has the id of this process, so that the error of a second process can name it. The lock is valid
		// even if the disk has no room for the id.
		if err := l.file.Truncate(0); err == nil {
			_, _ = l.file.WriteAt(strconv.AppendInt(nil, int64(os.Getpid()), 10), 0)
		}
		return l, nil
	}
	return nil, &InUse{Path: path}
}

// openLock opens the lock file. It creates the file if it does not exist.
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
