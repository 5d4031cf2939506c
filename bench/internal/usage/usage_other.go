//go:build !unix

package usage

import (
	"os"
	"time"
)

// CPU returns 0: this system does not report it.
func CPU() time.Duration { return 0 }

// PeakMemory returns 0: this system does not report it.
func PeakMemory(*os.ProcessState) int64 { return 0 }
