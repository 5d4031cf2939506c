package usage

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// PeakMemory returns the greatest resident size of a running process so far, in bytes. Only Linux reports it; elsewhere
// it returns 0. What a process reports when it has ended is no use here: it counts the memory of its parent, too.
func PeakMemory(process int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmHWM:" {
			kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
			return kilobytes * 1024
		}
	}
	return 0
}
