package rules_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the folder of the repository.
const root = "../../.."

// listed is a line of .ci/modules: a module's folder, how it is worked on, and the first make target that runs its
// tests.
type listed struct{ folder, kind, tier string }

func modules() (all []listed, err error) {
	list, err := os.ReadFile(filepath.Join(root, ".ci/modules"))
	for line := range strings.Lines(string(list)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "#" {
			fields = append(fields, "", "")
			all = append(all, listed{fields[0], fields[1], strings.Join(fields[2:], "")})
		}
	}
	return all, err
}

// unsound returns what is wrong with a line.
func (l listed) unsound() string {
	switch {
	case !slices.Contains([]string{"released", "workspace", "alone"}, l.kind):
		return l.folder + " is of no known kind"
	case !slices.Contains([]string{"test", "check", "soak"}, l.tier):
		return l.folder + " has no tier: nothing runs its tests"
	}
	return ""
}

func TestALineWithoutATierIsFound(t *testing.T) {
	for problem, line := range map[string]listed{
		"": {"dapi", "released", "test"},
		"bench has no tier: nothing runs its tests":    {"bench", "alone", "-"},
		"sandbox has no tier: nothing runs its tests":  {"sandbox", "released", ""},
		"examples has no tier: nothing runs its tests": {"examples", "workspace", "now"},
		"rig is of no known kind":                      {"rig", "test", ""},
	} {
		assert.Equal(t, problem, line.unsound())
	}
}

// A module that nobody lists is built, linted and tested by nobody, for ./... ends where a module begins.
func TestEveryModuleIsListed(t *testing.T) {
	all, err := modules()
	require.NoError(t, err)
	kinds := map[string]string{}
	for _, m := range all {
		kinds[m.folder] = m.kind
		assert.Empty(t, m.unsound())
	}
	var found []string
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && skipped(entry.Name()) {
			return fs.SkipDir
		}
		if err == nil && entry.Name() == "go.mod" {
			found = append(found, path.Dir(name))
		}
		return err
	})
	require.NoError(t, err)
	assert.ElementsMatch(t, found, slices.Collect(maps.Keys(kinds)), ".ci/modules lists other modules than there are")

	work, err := os.ReadFile(filepath.Join(root, "go.work"))
	require.NoError(t, err)
	inWork := map[string]bool{}
	for _, use := range regexp.MustCompile(`(?m)^\t\.(?:/(\S+))?$`).FindAllStringSubmatch(string(work), -1) {
		inWork[path.Clean(use[1])] = true
	}
	for folder, kind := range kinds {
		assert.Equal(t, kind == "released" || kind == "workspace", inWork[folder], "%s is %s: go.work says otherwise",
			folder, kind)
	}
	assert.Len(t, inWork, len(slices.DeleteFunc(all, func(m listed) bool { return !inWork[m.folder] })))
}
