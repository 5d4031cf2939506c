package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// lockFile keeps a second process out. SQLite's own locks let several processes share a file, and its exclusive mode
// leaves one connection, behind which each reader would wait for the disk. The file stays when the lock ends: a process
// that removed it could remove the lock of the next one.
type lockFile struct{ file *os.File }

var errLocked = errors.New("it is locked")

// lockFor locks a store.
func lockFor(path string) (*lockFile, error) {
	file, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600) //gosec:disable G703 -- the caller names it
	if err != nil {
		return nil, fmt.Errorf("sqlite: lock of the store: %w", err)
	}
	if err := lock(file); err != nil {
		defer file.Close()
		if errors.Is(err, errLocked) {
			return nil, &InUse{Path: path, Process: holder(file)}
		}
		return nil, fmt.Errorf("sqlite: lock of the store: %w", err)
	}
	// It says who holds it, for the message to a second process. If there is no room for that, the lock still counts.
	if err := file.Truncate(0); err == nil {
		_, _ = file.WriteAt(strconv.AppendInt(nil, int64(os.Getpid()), 10), 0)
	}
	return &lockFile{file}, nil
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
	if l == nil {
		return nil
	}
	return l.file.Close()
}
