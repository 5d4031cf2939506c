package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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
