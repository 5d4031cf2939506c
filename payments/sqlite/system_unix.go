//go:build darwin || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// lock locks a file until it is closed or the process ends.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return os.NewSyscallError("flock", err)
}

// closeAndRemove ends a lock, and removes its file. The lock ends last: until then, nobody else can have it.
func closeAndRemove(file *os.File) error {
	return errors.Join(os.Remove(file.Name()), file.Close())
}

// checkFile refuses a file that SQLite cannot keep safe.
func checkFile(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("sqlite: %s is not a regular file: use another path", path)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("sqlite: other users can write to %s: run chmod 600 on it", path)
	}
	// A log has the name of its file: under another name, the newest payments would be missing.
	if status, ok := info.Sys().(*syscall.Stat_t); ok && status.Nlink > 1 {
		return fmt.Errorf("sqlite: %s has %d names, which are hard links: keep one", path, status.Nlink)
	}
	return nil
}

// syncFolder makes the names of a folder's files durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // a file system that has no such sync
		return fmt.Errorf("sqlite: %w", err)
	}
	return nil
}
