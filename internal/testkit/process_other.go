//go:build !unix

package testkit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Account is a user other than the test's own, which this system does not have.
type Account struct{}

// errSystem is what each function returns here.
var errSystem = fmt.Errorf("%w: tests start and kill programs on Unix systems only, and this is %s",
	errors.ErrUnsupported, runtime.GOOS)

// UnprivilegedAccount returns an error on this system.
func UnprivilegedAccount([]string) (*Account, error) { return nil, errSystem }

// Own does nothing on this system.
func (*Account) Own(string) error { return nil }

// Run does nothing on this system.
func (*Account) Run(*exec.Cmd) {}

// Process is never made on this system.
type Process struct{}

// StartProcess returns an error on this system.
func StartProcess(*exec.Cmd, *Account, os.Signal) (*Process, error) { return nil, errSystem }

// ID returns 0 on this system.
func (*Process) ID() int { return 0 }

// Ended returns nil on this system.
func (*Process) Ended() <-chan struct{} { return nil }

// Err returns an error on this system.
func (*Process) Err() error { return errSystem }

// End returns an error on this system.
func (*Process) End(os.Signal, time.Duration) error { return errSystem }

// Kill returns an error on this system.
func (*Process) Kill() error { return errSystem }

func (*postgres) quit() os.Signal { return os.Interrupt }

func (*redis) quit() os.Signal { return os.Interrupt }

// lockFolder does nothing here: a server outlives a test that is killed, and so its folder stays.
func lockFolder(string) (*os.File, error) { return nil, nil }

func removeAbandoned(string) {}
