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

// goTool runs the go command of the release that built this program.
func goTool(ctx context.Context, environment []string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Env = append(os.Environ(), "GOTOOLCHAIN="+toolchain(), "GOWORK=off", "CGO_ENABLED=0")
	command.Env = append(command.Env, environment...)
	var printed, failed bytes.Buffer
	command.Stdout, command.Stderr = &printed, &failed
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(arguments, " "), err, failed.String())
	}
	return printed.String(), nil
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

// untilOutput starts a program, and returns the time until its first line of output, and its peak memory.
func untilOutput(ctx context.Context, binary string, arguments ...string) (first time.Duration, peak int64, err error) {
	command := exec.CommandContext(ctx, binary, arguments...)
	output, err := command.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	var failed bytes.Buffer
	command.Stderr = &failed
	started := time.Now()
	if err := command.Start(); err != nil {
		return 0, 0, err
	}
	_, readErr := bufio.NewReader(output).ReadString('\n')
	first = time.Since(started)
	if err := command.Wait(); err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, failed.String())
	}
	return first, usage.PeakMemory(command.ProcessState), readErr
}
