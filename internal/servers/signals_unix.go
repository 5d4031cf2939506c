//go:build unix

package servers

import (
	"os"
	"syscall"
)

// quit is PostgreSQL's fast shutdown: it ends all connections first.
func (*postgres) quit() os.Signal { return syscall.SIGINT }

func (*redis) quit() os.Signal { return syscall.SIGTERM }
