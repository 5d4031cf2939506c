//go:build !unix

package servers

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// account is a user other than the test's own, which this system does not need.
type account struct{}

// lowered refuses: this package starts servers on Unix systems only.
func lowered([]string) (*account, error) {
	return nil, &missingError{"a Unix system to start servers on (this is " + runtime.GOOS + ") was",
		"postgresql or redis-server there"}
}

func (*account) own(string) error { return nil }

func (*account) run(*exec.Cmd) {}

// process is never made on this system.
type process struct {
	id    int
	ended chan struct{}
	err   error
}

func spawn(*exec.Cmd, *account, os.Signal) (*process, error) { return nil, errors.ErrUnsupported }

func (*process) end(os.Signal, time.Duration) error { return errors.ErrUnsupported }

func (*process) kill() error { return errors.ErrUnsupported }
