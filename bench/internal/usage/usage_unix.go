//go:build unix

package usage

import (
	"syscall"
	"time"
)

// CPU returns the time that this process has spent on all cores, in user mode and in the kernel.
func CPU() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
