//go:build !windows && !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

package dapi

import (
	"os"
	"sync"
)

// turn keeps the goroutines of one process apart, where the standard library has no lock for processes.
var turn sync.Mutex

type lockedFile struct{ *os.File }

// Close ends the turn.
func (f lockedFile) Close() error {
	defer turn.Unlock()
	return f.File.Close()
}

// openLocked opens a file in the caller's turn.
func openLocked(path string, flag int) (sessionFile, error) {
	if !turn.TryLock() {
		return nil, errInUse
	}
	file, err := openFile(path, flag)
	if err != nil {
		turn.Unlock()
		return nil, err
	}
	return lockedFile{file}, nil
}
