package rules_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// instruction is one of a Containerfile, on one line.
type instruction struct{ name, says string }

// stages reads a Containerfile: its stages, each of which begins with FROM.
func stages(t *testing.T, content string) (all [][]instruction) {
	t.Helper()
	content = regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(content, "")
	content = regexp.MustCompile(`\\\n\s*`).ReplaceAllString(content, "")
	for line := range strings.Lines(content) {
		name, says, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" {
			continue
		}
		if name == "FROM" {
			all = append(all, nil)
		}
		require.NotEmpty(t, all, "%s before the first FROM", name)
		all[len(all)-1] = append(all[len(all)-1], instruction{name, strings.TrimSpace(says)})
	}
	return all
}

// of returns what the instructions of one name say.
func of(stage []instruction, name string) (says []string) {
	for _, i := range stage {
		if i.name == name {
			says = append(says, i.says)
		}
	}
	return says
}

func wordsOf(t *testing.T, list string) (words []string) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(list), &words), "a list in JSON needs no shell: %s", list)
	return words
}

// The image is built with the release of Go, the version and the flags of the archives, and has nothing to run but the
// command, as a user without rights.
func TestTheContainerfileBuildsWhatAReleaseBuilds(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "Containerfile"))
	require.NoError(t, err)
	both := stages(t, string(content))
	require.Len(t, both, 2)
	build, image := both[0], both[1]

	assert.Equal(t, []string{"golang:" + supported(t)[0] + " AS build"}, of(build, "FROM"))
	assert.Equal(t, []string{"VERSION=v" + moneymovement.Version}, of(build, "ARG"))
	script, err := os.ReadFile(filepath.Join(root, ".ci/release"))
	require.NoError(t, err)
	told := regexp.MustCompile(`(?m)^# +(CGO_ENABLED=0 go install .*@)VERSION$`).FindSubmatch(script)
	require.NotNil(t, told, ".ci/release does not say how to build the same")
	assert.Equal(t, string(told[1])+"$VERSION", of(build, "RUN")[0])
	flags := regexp.MustCompile(`install( -.*) \S+@$`).FindSubmatch(told[1])
	require.NotNil(t, flags)
	assert.Contains(t, string(script), `"$go" install`+string(flags[1])+` "$module`, "the script builds in another way")

	assert.Equal(t, []string{"scratch"}, of(image, "FROM"))
	assert.Empty(t, of(image, "RUN"), "there is no shell")
	for _, says := range of(image, "COPY") {
		assert.Regexp(t, `^--from=build (--chown=65532:65532 )?/image/[a-z]+/ /$`, says)
	}
	assert.Equal(t, []string{"65532:65532"}, of(image, "USER"), "a number: an engine need not know the name")
	assert.Equal(t, []string{"/data"}, of(image, "VOLUME"))
	require.Len(t, of(image, "ENTRYPOINT"), 1)
	entry := wordsOf(t, of(image, "ENTRYPOINT")[0])
	require.Len(t, entry, 1)
	assert.Equal(t, "moneymove", path.Base(entry[0]))
	require.Len(t, of(image, "CMD"), 1)
	assert.Equal(t, []string{"sandbox", "-addr", "0.0.0.0:8080"}, wordsOf(t, of(image, "CMD")[0]))
	assert.Equal(t, []string{"8080"}, of(image, "EXPOSE"))
}
