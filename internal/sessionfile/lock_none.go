//go:build !windows && !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

package sessionfile

import (
	"os"
	"sync"
)

// fileLock separates the goroutines of one process, where the standard library has no lock between processes.
var fileLock sync.Mutex

type lockedFile struct{ *os.File }

// Close closes the file and releases the lock.
func (f lockedFile) Close() error {
	defer fileLock.Unlock()
	return f.File.Close()
}

// openLocked opens a file and takes the lock.
func openLocked(path string, flag int) (handle, error) {
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
