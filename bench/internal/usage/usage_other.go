//go:build !unix

package usage

import "time"

// CPU returns 0: this system does not report it.
func CPU() time.Duration { return 0 }
