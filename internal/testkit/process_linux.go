package testkit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endWithParent makes the kernel send the signal when the test's process dies, also by SIGKILL.
func endWithParent(attributes *syscall.SysProcAttr, signal os.Signal) {
	if number, ok := signal.(syscall.Signal); ok {
		attributes.Pdeathsig = number
	}
}

// Descendants returns the children of a process, their children and so on. A process that ends meanwhile is left out.
func Descendants(of int) ([]int, error) {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, path := range all {
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return nil, err
		}
		if _, parent, err := status(id); err == nil {
			children[parent] = append(children[parent], id)
		} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
			return nil, err
		}
	}
	found := children[of]
	for next := 0; next < len(found); next++ {
		found = append(found, children[found[next]]...)
	}
	return found, nil
}

// Alive reports whether a process runs. A process that has ended may be listed until its parent asks for it.
func Alive(id int) bool {
	state, _, err := status(id)
	return err == nil && state != "Z" && state != "X"
}

// status returns the state and the parent of a process. In the file they follow the program's name in parentheses,
// which may have spaces and parentheses in it.
func status(id int) (state string, parent int, err error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(id), "stat"))
	if err != nil {
		return "", 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 2 {
		return "", 0, errors.New("/proc: a line of another form: " + string(text))
	}
	parent, err = strconv.Atoi(fields[1])
	return fields[0], parent, err
}

// abandonedAfter keeps removeAbandoned from a folder that is so new that its test has not locked it yet.
const abandonedAfter = time.Minute

// lockFolder locks a folder for as long as the test's process lives. The caller keeps the file open.
func lockFolder(folder string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(descriptor(lock), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// removeAbandoned removes the folders of tests that were killed, and so could not remove them.
func removeAbandoned(pattern string) {
	folders, err := filepath.Glob(filepath.Join(os.TempDir(), pattern))
	if err != nil {
		return
	}
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil || time.Since(info.ModTime()) < abandonedAfter {
			continue
		}
		if lock, err := lockFolder(folder); err == nil { // no process has it
			_ = errors.Join(os.RemoveAll(folder), lock.Close()) // the next call removes what stays
		}
	}
}

func descriptor(file *os.File) int { return int(file.Fd()) } //gosec:disable G115 -- a small number
