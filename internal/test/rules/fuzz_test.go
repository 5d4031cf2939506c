package rules_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shortFuzz are the targets that the long run leaves out, each with the reason.
var shortFuzz = map[string]string{
	"internal/transport FuzzPathParam":            "what callers send, not what comes in",
	"cmd/moneymove/contract/report FuzzRedacted":  "what the suite writes, not what comes in",
	"payments FuzzRecord":                         "what this module stored, not what comes in",
	"internal/shell FuzzAShellReadsTheWords":      "two shells for each input",
	"payments/sqlite FuzzLog":                     "what SQLite wrote, not what comes in",
	"sandbox/internal/gate FuzzReadable":          "the whole description of the host for each input",
	"sandbox/internal/platform FuzzCreateContact": "a whole platform for each input",
	"sandbox/internal/platform FuzzCursor":        "a whole platform for each input; FuzzPosition reaches the cursor",
}

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// What reads bytes of others is fuzzed at length, and what was found that way is tried again by every `go test`.
func TestFuzzTargets(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, ".ci/fuzz"))
	require.NoError(t, err)
	found := 0
	err = filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(name))
		for _, match := range fuzzTarget.FindAllStringSubmatch(string(content), -1) {
			found++
			place := path.Clean(filepath.ToSlash(folder)) + " " + match[1]
			_, short := shortFuzz[place]
			long := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(place) + `( |$)`).Match(script)
			assert.NotEqual(t, short, long, "%s: .ci/fuzz names it, or there is a reason not to", place)
			if long {
				corpus, err := filepath.Glob(filepath.Join(filepath.Dir(name), "testdata/fuzz", match[1], "*"))
				assert.NoError(t, err)
				assert.NotEmpty(t, corpus, "%s has no corpus", place)
			}
		}
		return err
	})
	require.NoError(t, err)
	assert.Greater(t, found, len(shortFuzz), "the walk found next to nothing")
}
