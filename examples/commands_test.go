package examples_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// command matches the command at the end of an example's first line. The test leaves out the arguments after it, which
// are optional.
var command = regexp.MustCompile(`^// .+: (go (?:run|test) \./examples/([a-z]+))(?: [-[].+)?$`)

// commands returns the command of each example, by its folder.
func commands(t *testing.T) map[string]string {
	t.Helper()
	folders, err := os.ReadDir(".")
	require.NoError(t, err)
	found := map[string]string{}
	for _, folder := range folders {
		if !folder.IsDir() || folder.Name() == "internal" {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder.Name(), "go.mod")); err == nil {
			continue // a module of its own, which its README says how to run
		}
		sources, err := filepath.Glob(filepath.Join(folder.Name(), "*.go"))
		require.NoError(t, err)
		for _, source := range sources {
			if says := command.FindStringSubmatch(firstLine(t, source)); says != nil && says[2] == folder.Name() {
				found[folder.Name()] = says[1]
			}
		}
		assert.Contains(t, found, folder.Name(), "no file begins with the command that runs it")
	}
	return found
}

func firstLine(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Scan()
	return scanner.Text()
}

// needsServers is an example that needs PostgreSQL and Redis. Its own test runs it where they are.
const needsServers = "fleet"

func TestEachExampleRunsByItsFirstLine(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the time to build and run every program, which -short does not give; make test runs it")
	}
	found := commands(t)
	programs := build(t, found)
	delete(found, needsServers)
	for name, line := range found {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			// a slow machine needs time, and a program that hangs must end before the test
			if end, limited := t.Deadline(); limited {
				var cancel context.CancelFunc
				ctx, cancel = context.WithDeadline(ctx, end.Add(-5*time.Second))
				defer cancel()
			}
			folder := t.TempDir()
			program := exec.CommandContext(ctx, "go", strings.Fields(line)[1:]...)
			program.Dir = ".."
			// it runs in a folder of its own, because some programs save files
			if binary, built := programs[name]; built {
				program = exec.CommandContext(ctx, binary)
				program.Dir = folder
			}
			program.Env = append(os.Environ(), "MONEYMOVEMENT_BASE_URL=", "TMPDIR="+folder)
			out, err := program.CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.NotEmpty(t, out)
		})
	}
}

// build builds the programs, and returns their paths by folder. One command for all of them, without debug information,
// takes half the time.
func build(t *testing.T, commands map[string]string) map[string]string {
	t.Helper()
	folder := t.TempDir() + string(filepath.Separator)
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", folder}
	programs := map[string]string{}
	for name, line := range commands {
		if strings.HasPrefix(line, "go run") {
			args = append(args, "./"+name)
			programs[name] = folder + name
			if runtime.GOOS == "windows" {
				programs[name] += ".exe"
			}
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return programs
}

func TestTheReadmeListsEachExample(t *testing.T) {
	content, err := os.ReadFile("README.md")
	require.NoError(t, err)
	found := commands(t)
	for name, line := range found {
		assert.Contains(t, string(content), "`"+line+"`", "%s is not listed", name)
	}
	listed := regexp.MustCompile("`go (?:run|test) \\./examples/([a-z]+)`").FindAllStringSubmatch(string(content), -1)
	for _, row := range listed {
		assert.Contains(t, found, row[1], "is listed and not there")
	}
}
