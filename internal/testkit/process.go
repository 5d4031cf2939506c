//go:build unix

package testkit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// Account is a user that is not root, and runs a program for a test that does run as root. Nil is the test's own user.
type Account struct{ user, group uint32 }

// UnprivilegedAccount returns the first of these users that the machine has, or nil if the test does not run as root.
func UnprivilegedAccount(names []string) (*Account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range names {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		id, errID := strconv.ParseUint(found.Uid, 10, 32)
		group, errGroup := strconv.ParseUint(found.Gid, 10, 32)
		if errID == nil && errGroup == nil && id != 0 {
			return &Account{user: uint32(id), group: uint32(group)}, nil
		}
	}
	return nil, fmt.Errorf("the test runs as root, this program must not, and there is no user of the names %v", names)
}

// Own gives a file or folder to the account.
func (a *Account) Own(path string) error {
	if a == nil {
		return nil
	}
	return os.Chown(path, int(a.user), int(a.group))
}

// Run makes a command run as the account.
func (a *Account) Run(command *exec.Cmd) {
	command.SysProcAttr = new(syscall.SysProcAttr)
	if a != nil {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: a.user, Gid: a.group}
	}
}

// Process is a program that was started. It is safe for concurrent use.
type Process struct {
	handle *os.Process
	ended  chan struct{}
	err    error
}

// StartProcess starts a program as an account. If the process of the test dies, the kernel sends the signal to the
// program, on systems that can do so.
func StartProcess(command *exec.Cmd, as *Account, signal os.Signal) (*Process, error) {
	as.Run(command)
	endWithParent(command.SysProcAttr, signal)
	p := &Process{ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux sends the signal when the thread ends that started the process. This thread waits for the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			p.err = command.Wait()
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	p.handle = command.Process
	return p, nil
}

// ID returns the number of the process.
func (p *Process) ID() int { return p.handle.Pid }

// Ended returns a channel that is closed when the program has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err waits until the program has ended, and returns how: nil, or an *exec.ExitError.
func (p *Process) Err() error {
	<-p.ended
	return p.err
}

// End sends the signal, and waits until the program has ended. If that takes longer than the duration, it kills the
// program, and returns an error.
func (p *Process) End(signal os.Signal, within time.Duration) error {
	if err := p.handle.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.ended:
		return nil
	case <-timer.C:
		return errors.Join(fmt.Errorf("it did not end within %s of %s", within, signal), p.Kill())
	}
}

// Kill ends the program and its children with SIGKILL, and returns when they are gone. PostgreSQL's children are in
// groups of their own, so that a signal to its group does not reach them. A stopped parent starts no child that the
// list misses.
func (p *Process) Kill() error {
	if err := p.handle.Signal(syscall.SIGSTOP); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	below, listed := Descendants(p.ID())
	if err := p.handle.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.ended
	var failed error
	for _, id := range below {
		if err := syscall.Kill(id, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			failed = errors.Join(failed, fmt.Errorf("kill %d: %w", id, err))
		}
	}
	return errors.Join(listed, failed, waitGone(below))
}

// killWithin is how long a killed process may take: a busy machine, or one that writes to a slow disk.
const killWithin = time.Minute

// waitGone waits until the processes have ended.
func waitGone(processes []int) error {
	timer := time.NewTimer(killWithin)
	defer timer.Stop()
	pause := time.NewTicker(time.Millisecond)
	defer pause.Stop()
	for _, id := range processes {
		for Alive(id) {
			select {
			case <-pause.C:
			case <-timer.C:
				return fmt.Errorf("process %d is there %s after SIGKILL", id, killWithin)
			}
		}
	}
	return nil
}

// quit is PostgreSQL's fast shutdown: it ends all connections first.
func (*postgres) quit() os.Signal { return syscall.SIGINT }

func (*redis) quit() os.Signal { return syscall.SIGTERM }
