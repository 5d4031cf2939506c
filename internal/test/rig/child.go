package rig

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/servers/process"
	"github.com/moneymovement/moneymovement-go/internal/tier"
)

// Command is a program that a test runs as a child.
type Command struct {
	Path string
	Args []string
	Env  []string // the whole environment, such as {"PATH=/bin"}
	Dir  string   // empty is the test's folder
}

// Child is a process that a test runs. It is safe for concurrent use.
type Child struct {
	t       testing.TB
	command *exec.Cmd
	output  string

	mu      sync.Mutex
	process *process.Process // nil before Start
	killed  bool
}

// New prepares a child, so that a trap can name it before it starts. It is killed when the test ends. If the test
// fails, the child's output is in its log. With -short the test is skipped.
func (c Command) New(t testing.TB) *Child {
	t.Helper()
	tier.Long(t, "starts processes")
	child := &Child{t: t, command: exec.CommandContext(context.Background(), c.Path, c.Args...),
		output: filepath.Join(t.TempDir(), "output")}
	child.command.Env, child.command.Dir = c.Env, c.Dir
	t.Cleanup(func() {
		child.Kill()
		if t.Failed() {
			t.Logf("The output of %s:\n%s", c.Path, child.Output())
		}
	})
	return child
}

// Start starts the child.
func (c *Child) Start() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	// A file, and not a pipe: it does not matter who holds it open when the child is dead.
	output, err := os.Create(c.output)
	if err != nil {
		c.t.Fatalf("rig: %v", err)
	}
	defer output.Close()
	c.command.Stdout, c.command.Stderr = output, output
	if c.process, err = process.Start(c.command, nil, syscall.SIGKILL); err != nil {
		c.t.Fatalf("rig: start %s: %v", c.command.Path, err)
	}
}

// Kill ends the child and its children with SIGKILL, and returns when they are gone. It does nothing to a child that
// has ended, or did not start.
func (c *Child) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return
	}
	select {
	case <-c.process.Ended():
	default:
		c.killed = true
		if err := c.process.Kill(); err != nil {
			c.t.Errorf("rig: kill %s: %v", c.command.Path, err)
		}
	}
}

// KillAfter kills the child after a duration, unless it ends before. It returns at once.
func (c *Child) KillAfter(d time.Duration) {
	timer := time.AfterFunc(d, c.Kill)
	c.t.Cleanup(func() { timer.Stop() })
}

// Interrupt asks the child to end with SIGTERM, and kills it if that takes longer than the duration. That is an error.
func (c *Child) Interrupt(within time.Duration) error {
	started, err := c.started()
	if err != nil {
		return err
	}
	return started.End(syscall.SIGTERM, within)
}

// Exit says how a child ended.
type Exit struct {
	Killed bool // by Kill
	Code   int  // of a child that was not killed
	Output string
}

// Wait waits until the child has ended. If the context ends first, it returns the context's error and leaves the child
// alone.
func (c *Child) Wait(ctx context.Context) (Exit, error) {
	started, err := c.started()
	if err != nil {
		return Exit{}, err
	}
	select {
	case <-started.Ended():
	case <-ctx.Done():
		return Exit{}, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	exit := Exit{Killed: c.killed, Output: c.Output()}
	if ended, ok := errors.AsType[*exec.ExitError](started.Err()); ok {
		exit.Code = ended.ExitCode()
	}
	return exit, nil
}

// Output returns what the child has written to its output and its errors until now.
func (c *Child) Output() string {
	text, err := os.ReadFile(c.output)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (c *Child) started() (*process.Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return nil, errors.New("rig: the child has not started")
	}
	return c.process, nil
}
