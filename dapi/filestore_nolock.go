//go:build !windows && !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

package dapi

import (
	"os"
	"sync"
)

// turn keeps the goroutines of one process apart, where the standard library has no lock for processes.
var fileLock sync.Mutex

type lockedFile struct{ *os.File }

// Close ends the fileLock.
func (f lockedFile) Close() error {
	defer fileLock.Unlock()
	return f.File.Close()
}

// openLocked opens a file in the caller's fileLock.
func openLocked(path string, flag int) (sessionFile, error) {
	if !fileLock.TryLock() {
		return nil, errInUse
	}
	file, err := openFile(path, flag)
	if err != nil {
		fileLock.Unlock()
		return nil, err
	}
	return lockedFile{file}, nil
}
