package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// supported are the releases of Go in the Makefile, without "go".
func supported(t *testing.T) []string {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	line := regexp.MustCompile(`(?m)^RELEASES +:= (.+)$`).FindSubmatch(makefile)
	require.NotNil(t, line, "the Makefile names no releases")
	return strings.Fields(strings.ReplaceAll(string(line[1]), "go", ""))
}

// The workflow runs all checks on the releases of the Makefile, may write nothing, and runs no action that can change
// without a commit here.
func TestTheWorkflowRunsTheChecks(t *testing.T) {
	type step struct {
		Uses, Run string
	}
	var workflow struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Permissions map[string]string
			Strategy    struct{ Matrix map[string][]string }
			Steps       []step
		}
	}
	content, err := os.ReadFile(filepath.Join(root, ".github/workflows/ci.yml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(content, &workflow))
	assert.Equal(t, map[string]string{"contents": "read"}, workflow.Permissions)
	require.Len(t, workflow.Jobs, 1)
	job := workflow.Jobs["check"]
	assert.Empty(t, job.Permissions)
	assert.Equal(t, map[string][]string{"go": supported(t)}, job.Strategy.Matrix, "the Makefile has other releases")
	require.NotEmpty(t, job.Steps)
	for _, s := range job.Steps {
		if s.Uses != "" {
			assert.Regexp(t, `^[\w-]+/[\w-]+@[0-9a-f]{40}$`, s.Uses, "pinned to a commit")
		}
	}
	assert.Equal(t, "bash .ci/run -one-release", job.Steps[len(job.Steps)-1].Run)
}

// The pages name the releases that the checks run on.
func TestThePagesNameTheReleases(t *testing.T) {
	for _, page := range []string{"README.md", "docs/compatibility.md", "doc.go"} {
		content, err := os.ReadFile(filepath.Join(root, page))
		require.NoError(t, err)
		for _, release := range supported(t) {
			assert.Contains(t, string(content), release[:strings.LastIndex(release, ".")], page)
		}
	}
}
