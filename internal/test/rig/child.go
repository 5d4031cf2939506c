package rig

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

// childVariable names the program that a run of a test binary is.
const childVariable = "MONEYMOVEMENT_RIG_CHILD"

// Programs are functions of a test package that a test runs in a process of their own.
type Programs map[string]func() error

// Main runs the program that the environment names, or the tests. Call it from TestMain:
//
//	var programs = rig.Programs{"pay": pay}
//
//	func TestMain(m *testing.M) { programs.Main(m) }
func (p Programs) Main(m *testing.M) {
	name := os.Getenv(childVariable)
	if name == "" {
		m.Run()
		return
	}
	program, found := p[name]
	if !found {
		fmt.Fprintf(os.Stderr, "rig: no program %q in this test binary\n", name)
		os.Exit(2) //nolint:forbidigo // it is a program here
	}
	if err := program(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // it is a program here
	}
}

// Again is this test binary as one of its Programs. The environment has the variables given and nothing else.
func Again(t testing.TB, program string, environment ...string) Command {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	return Command{Path: binary, Env: append([]string{childVariable + "=" + program}, environment...)}
}

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

// Pauses returns durations between two bounds. The same seed returns the same ones.
func Pauses(seed uint64, least, most time.Duration) func() time.Duration {
	if least < 0 || most <= least {
		panic(fmt.Sprintf("rig: no durations between %s and %s", least, most))
	}
	source := rand.New(rand.NewPCG(seed, 0)) //gosec:disable G404 -- a test repeats it
	return func() time.Duration { return least + time.Duration(source.Int64N(int64(most-least))) }
}
