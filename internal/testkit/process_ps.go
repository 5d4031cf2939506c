//go:build unix && !linux

package testkit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// endWithParent does nothing: only Linux has it. A server outlives a test that is killed.
func endWithParent(*syscall.SysProcAttr, os.Signal) {}

// Descendants returns the children of a process, their children and so on.
func Descendants(of int) ([]int, error) {
	list, err := exec.CommandContext(context.Background(), "ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	children := map[int][]int{}
	for line := range strings.Lines(string(list)) {
		var id, parent int
		if _, err := fmt.Sscan(line, &id, &parent); err != nil {
			return nil, fmt.Errorf("ps: %q: %w", line, err)
		}
		children[parent] = append(children[parent], id)
	}
	found := children[of]
	for next := 0; next < len(found); next++ {
		found = append(found, children[found[next]]...)
	}
	return found, nil
}

// Alive reports whether a process is there.
func Alive(id int) bool { return syscall.Kill(id, 0) == nil }

// lockFolder does nothing here: a server outlives a test that is killed, and so its folder stays.
func lockFolder(string) (*os.File, error) { return nil, nil }

func removeAbandoned(string) {}
