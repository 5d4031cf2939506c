//go:build unix

package servers

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

// account is a user that is not root, and runs a server for a test that does run as root. Nil is the test's own user.
type account struct{ user, group uint32 }

// lowered returns the first of these users that the machine has, or nil if the test does not run as root.
func lowered(names []string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // as documented
	}
	for _, name := range names {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		id, errID := strconv.ParseUint(found.Uid, 10, 32)
		group, errGroup := strconv.ParseUint(found.Gid, 10, 32)
		if errID == nil && errGroup == nil && id != 0 {
			return &account{user: uint32(id), group: uint32(group)}, nil
		}
	}
	return nil, fmt.Errorf("the test runs as root, the server must not, and there is no user of the names %v", names)
}

// own gives a file or folder to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Chown(path, int(a.user), int(a.group))
}

// run makes a command run as the account.
func (a *account) run(command *exec.Cmd) {
	command.SysProcAttr = new(syscall.SysProcAttr)
	if a != nil {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: a.user, Gid: a.group}
	}
}

// process is a server's main process.
type process struct {
	id     int
	handle *os.Process
	ended  chan struct{} // closed when the process has ended
	err    error         // how it ended; read it after ended
}

// spawn starts a server. If the test's process dies, the server receives the signal.
func spawn(command *exec.Cmd, as *account, signal os.Signal) (*process, error) {
	as.run(command)
	endWithParent(command.SysProcAttr, signal)
	p := &process{ended: make(chan struct{})}
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
	p.id, p.handle = command.Process.Pid, command.Process
	return p, nil
}

// end sends the signal, and kills the process if it takes longer.
func (p *process) end(signal os.Signal, within time.Duration) error {
	if err := p.handle.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.ended:
		return nil
	case <-timer.C:
		return errors.Join(fmt.Errorf("it did not end within %s of %s", within, signal), p.kill())
	}
}

// kill ends the process and its children with SIGKILL. The children of PostgreSQL are in groups of their own, so that
// a signal to its group does not reach them. A stopped parent starts no child that the list misses.
func (p *process) kill() error {
	if err := p.handle.Signal(syscall.SIGSTOP); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	below, listed := descendants(p.id)
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
	return errors.Join(listed, failed, gone(below))
}

// gone waits until the processes have ended.
func gone(processes []int) error {
	timer := time.NewTimer(stopWithin)
	defer timer.Stop()
	pause := time.NewTicker(time.Millisecond)
	defer pause.Stop()
	for _, id := range processes {
		for alive(id) {
			select {
			case <-pause.C:
			case <-timer.C:
				return fmt.Errorf("process %d is there %s after SIGKILL", id, stopWithin)
			}
		}
	}
	return nil
}
