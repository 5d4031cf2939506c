package footprint

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/bench/internal/usage"
)

// Go runs the go command of the release that built this program, in this module.
func Go(ctx context.Context, arguments ...string) (string, error) {
	return GoWith(ctx, "", arguments...)
}

// GoWith is Go with one more variable of the environment.
func GoWith(ctx context.Context, variable string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Env = append(os.Environ(), "GOTOOLCHAIN="+toolchain(), "GOWORK=off", "CGO_ENABLED=0", variable)
	var printed, failed bytes.Buffer
	command.Stdout, command.Stderr = &printed, &failed
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s%s", strings.Join(arguments, " "), err, printed.String(), failed.String())
	}
	return printed.String(), nil
}

// Build builds a program of programs/, static and stripped.
func Build(ctx context.Context, name, binary string) error {
	_, err := Go(ctx, "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "./programs/"+name)
	return err
}

// toolchain returns the release that built this program, "local" for one without a number.
func toolchain() string {
	version, _, _ := strings.Cut(runtime.Version(), " ") // there may be experiments behind it
	if !strings.HasPrefix(version, "go1.") {
		return "local"
	}
	return version
}

// countLines counts the lines that begin with a text.
func countLines(text, begin string) (count int) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, begin) {
			count++
		}
	}
	return count
}

// Usage is what a process has used.
type Usage struct {
	First  time.Duration // until its first line of output
	CPU    time.Duration // until its end
	Memory int64         // greatest resident size in bytes, 0 where the system does not report it
}

// Run runs a program to its end. The program prints a line when it has its first response, and ends with its input.
func Run(ctx context.Context, binary string, arguments ...string) (used Usage, err error) {
	command := exec.CommandContext(ctx, binary, arguments...)
	output, err := command.StdoutPipe()
	if err != nil {
		return used, err
	}
	input, err := command.StdinPipe()
	if err != nil {
		return used, err
	}
	var failed bytes.Buffer
	command.Stderr = &failed
	started := time.Now()
	if err := command.Start(); err != nil {
		return used, err
	}
	_, readErr := bufio.NewReader(output).ReadString('\n')
	used.First = time.Since(started)
	used.Memory = usage.PeakMemory(command.Process.Pid)
	_ = input.Close() // the program waits for it
	if err := command.Wait(); err != nil {
		return used, fmt.Errorf("%w: %s", err, failed.String())
	}
	used.CPU = command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	return used, readErr
}
