package examples_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/tier"
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

// rehearsed are the programs whose own tests run them as their first line does, in process.
var rehearsed = []string{"bankpayout", "card", "crosschain", "escrow", "fleet", "invoice", "kms", "onboarding", "payin",
	"payments", "quickstart", "walletpayout"}

// The tests of the other programs run them on a host of the test. Here one command builds them.
func TestTheOtherExamplesBuild(t *testing.T) {
	tier.Long(t, "builds programs")
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", t.TempDir() + string(filepath.Separator)}
	found := commands(t)
	for _, name := range rehearsed {
		assert.Contains(t, found, name)
	}
	for name, line := range found {
		if strings.HasPrefix(line, "go run") && !slices.Contains(rehearsed, name) {
			args = append(args, "./"+name)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
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
