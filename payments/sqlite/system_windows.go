package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// lock locks a file until it is closed or the process ends. It locks a byte far behind the end, so that others can read
// what the file says.
func lock(file *os.File) error {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(file.Fd()), how, 0, 1, 0, &windows.Overlapped{Offset: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return os.NewSyscallError("LockFileEx", err)
}

// closeAndRemove ends a lock, and removes its file. Windows removes no file that is open: if another process has opened
// it meanwhile, it stays.
func closeAndRemove(file *os.File) error {
	err := file.Close()
	_ = os.Remove(file.Name())
	return err
}

// checkFile refuses a file that SQLite cannot keep safe. The folder decides who can read and write its files.
func checkFile(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("sqlite: %s is not a regular file: use another path", path)
	}
	return nil
}

// syncFolder does nothing: Windows writes the names of files itself.
func syncFolder(string) error { return nil }
