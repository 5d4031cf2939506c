//go:build !unix

package servers

import "os"

func (*postgres) quit() os.Signal { return os.Interrupt }

func (*redis) quit() os.Signal { return os.Interrupt }
