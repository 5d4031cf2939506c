//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sessionfile

import (
	"errors"
	"os"
	"syscall"
)

// openLocked opens a file and locks it, exclusively if it is opened for writing. The lock ends with the file or the
// process.
func openLocked(path string, flag int) (handle, error) {
	file, err := openFile(path, flag)
	if err != nil {
		return nil, err
	}
	if err := lock(file, flag); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func lock(file *os.File, flag int) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() { // newest refuses it later
		return err
	}
	how := syscall.LOCK_EX
	if flag&os.O_RDWR == 0 {
		how = syscall.LOCK_SH
	}
	err = syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return errInUse
	}
	if err != nil {
		return os.NewSyscallError("flock", err)
	}
	// Another process may have removed the file, or put another one in its place, before the lock.
	if there, err := os.Stat(file.Name()); err != nil || !os.SameFile(there, info) {
		return errInUse
	}
	return nil
}
