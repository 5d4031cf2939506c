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
	"go.yaml.in/yaml/v3"

	moneymovement "github.com/moneymovement/moneymovement-go"
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

// workflow is what the rules read of a file of .github/workflows.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Permissions map[string]string
		Minutes     int `yaml:"timeout-minutes"`
		Strategy    struct{ Matrix map[string][]string }
		Steps       []struct{ Uses, Run string }
	}
}

// The workflows run the tiers of the Makefile on its releases, may write nothing, and run no action that can change
// without a commit here.
func TestTheWorkflowsRunTheTiers(t *testing.T) {
	read := func(name string) (w workflow) {
		content, err := os.ReadFile(filepath.Join(root, ".github/workflows", name))
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(content, &w))
		assert.Equal(t, map[string]string{"contents": "read"}, w.Permissions)
		for _, job := range w.Jobs {
			assert.Empty(t, job.Permissions)
			assert.Positive(t, job.Minutes)
			require.NotEmpty(t, job.Steps)
			for _, s := range job.Steps {
				if s.Uses != "" {
					assert.Regexp(t, `^[\w-]+/[\w-]+@[0-9a-f]{40}$`, s.Uses, "pinned to a commit")
				}
			}
		}
		return w
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	listed := func(line string) []string {
		found := regexp.MustCompile(`(?m)^` + line + `((?: +[a-z-]+| \\\n\t[a-z-]+)+)`).FindSubmatch(makefile)
		require.NotNil(t, found, line)
		return strings.Fields(strings.ReplaceAll(string(found[1]), "\\", ""))
	}

	ci := read("ci.yml")
	require.Len(t, ci.Jobs, 2)
	assert.Equal(t, map[string][]string{"go": supported(t)}, ci.Jobs["test"].Strategy.Matrix)
	assert.Equal(t, map[string][]string{"part": append(listed("check:"), "fuzz")}, ci.Jobs["check"].Strategy.Matrix)
	for _, job := range ci.Jobs {
		assert.Equal(t, 15, job.Minutes)
	}
	soak := read("soak.yml")
	require.Len(t, soak.Jobs, 1)
	assert.Equal(t, map[string][]string{"part": listed("SOAKS :=")}, soak.Jobs["soak"].Strategy.Matrix)
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

// image is the last stage of the Containerfile: nothing to run but the command, as a user without rights, whose number
// an engine need not know by a name.
const image = `
COPY --from=build /image/system/ /
COPY --from=build --chown=65532:65532 /image/own/ /
ENV HOME=/home/moneymove
USER 65532:65532
WORKDIR /home/moneymove
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/moneymove"]
CMD ["sandbox", "-addr", "0.0.0.0:8080"]
`

// The image is built with the release of Go, the version and the flags of the archives.
func TestTheContainerfileBuildsWhatAReleaseBuilds(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "Containerfile"))
	require.NoError(t, err)
	stages := strings.Split(regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(content), ""), "\nFROM scratch")
	require.Len(t, stages, 2)
	assert.Equal(t, image, stages[1])

	script, err := os.ReadFile(filepath.Join(root, ".ci/release"))
	require.NoError(t, err)
	build := regexp.MustCompile(`(?m)^# +(CGO_ENABLED=0 go install( -.*) \S+@)VERSION$`).FindSubmatch(script)
	require.NotNil(t, build, ".ci/release does not say how to build the same")
	assert.Contains(t, string(script), `"$go" install`+string(build[2])+` "$module`, "the script builds in another way")
	begin := "FROM golang:" + supported(t)[0] + " AS build\nARG VERSION=v" + moneymovement.Version + "\nRUN " +
		string(build[1]) + "$VERSION\n"
	assert.True(t, strings.HasPrefix(stages[0], begin), "the first stage begins with %s", begin)
}

// shortFuzz are the targets that the long run leaves out, each with the reason.
var shortFuzz = map[string]string{
	"internal/transport FuzzPathParam":            "what callers send, not what comes in",
	"cmd/moneymove/contract/report FuzzRedacted":  "what the suite writes, not what comes in",
	"payments FuzzRecord":                         "what this module stored, not what comes in",
	"internal/shell FuzzShellReadsQuotedWords":    "two shells for each input",
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
