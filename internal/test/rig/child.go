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

	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// childVariable is set in a process that runs the program of a test.
const childVariable = "MONEYMOVEMENT_RIG_CHILD"

// Main runs the tests, or the program in a process that StartChild has started. Call it from TestMain.
func Main(m *testing.M, program func() error) {
	if os.Getenv(childVariable) == "" {
		m.Run()
		return
	}
	if err := program(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // it is a program here
	}
}

// Child is a process that a test runs. It is safe for concurrent use.
type Child struct {
	t       testing.TB
	process *testkit.Process
	output  string
	mu      sync.Mutex // of Kill
}

// StartChild starts a test binary as the program of its Main. An empty name is the binary that runs. The environment
// has the variables given and nothing else. The child is killed when the test ends. If the test fails, the child's
// output is in its log. With -short the test is skipped.
func StartChild(t testing.TB, binary string, environment ...string) *Child {
	t.Helper()
	testkit.Long(t, "starts processes")
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("rig: start a child: %v", err)
		}
	}
	var err error
	if binary == "" {
		binary, err = os.Executable()
		fail(err)
	}
	c := &Child{t: t, output: filepath.Join(t.TempDir(), "output")}
	// A file, and not a pipe: it does not matter who holds it open when the child is dead.
	output, err := os.Create(c.output)
	fail(err)
	defer output.Close()
	command := exec.CommandContext(context.Background(), binary)
	command.Env = append([]string{childVariable + "=1"}, environment...)
	command.Stdout, command.Stderr = output, output
	c.process, err = testkit.StartProcess(command, nil, syscall.SIGKILL)
	fail(err)
	t.Cleanup(func() {
		c.Kill()
		if t.Failed() {
			t.Logf("The output of a child:\n%s", c.Output())
		}
	})
	return c
}

// Kill ends the child and its children with SIGKILL, and returns when they are gone. It does nothing to a child that
// has ended.
func (c *Child) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.process.Ended():
	default:
		if err := c.process.Kill(); err != nil {
			c.t.Errorf("rig: kill a child: %v", err)
		}
	}
}

// Interrupt asks the child to end with SIGTERM, and kills it if that takes longer than the duration. That is an error.
func (c *Child) Interrupt(within time.Duration) error { return c.process.End(syscall.SIGTERM, within) }

// ExitCode returns the exit code of a child that has ended and was not killed.
func (c *Child) ExitCode() int {
	<-c.process.Ended()
	if ended, ok := errors.AsType[*exec.ExitError](c.process.Err()); ok {
		return ended.ExitCode()
	}
	return 0
}

// Output returns what the child has written to its output and its errors until now.
func (c *Child) Output() string {
	text, err := os.ReadFile(c.output)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// RandomPauses returns durations between two bounds. The same seed returns the same ones.
func RandomPauses(seed uint64, least, most time.Duration) func() time.Duration {
	source := rand.New(rand.NewPCG(seed, 0)) //gosec:disable G404 -- a test repeats it
	return func() time.Duration { return least + time.Duration(source.Int64N(int64(most-least))) }
}
