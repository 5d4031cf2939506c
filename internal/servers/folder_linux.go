package servers

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// abandonedAfter keeps sweep from a folder that is so new that its test has not locked it yet.
const abandonedAfter = time.Minute

// hold locks a folder for as long as the test's process lives. The caller keeps the file open.
func hold(folder string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(descriptor(lock), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// sweep removes the folders of tests that were killed, and so could not remove them.
func sweep(pattern string) {
	folders, err := filepath.Glob(filepath.Join(os.TempDir(), pattern))
	if err != nil {
		return
	}
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil || time.Since(info.ModTime()) < abandonedAfter {
			continue
		}
		if lock, err := hold(folder); err == nil { // no process has it
			_ = errors.Join(os.RemoveAll(folder), lock.Close()) // what stays is left to the next sweep
		}
	}
}

func descriptor(file *os.File) int { return int(file.Fd()) } //gosec:disable G115 -- a small number
