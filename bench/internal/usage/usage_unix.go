//go:build unix

package usage

import (
	"os"
	"runtime"
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

// PeakMemory returns the greatest resident size of a process that has ended, in bytes.
func PeakMemory(ended *os.ProcessState) int64 {
	used, ok := ended.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin" || runtime.GOOS == "ios":
		return int64(used.Maxrss) //nolint:unconvert // it has 32 bits on some systems
	}
	return int64(used.Maxrss) * 1024 //nolint:unconvert // it has 32 bits on some systems
}
