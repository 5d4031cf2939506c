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

// listed is a line of .ci/modules: a module's folder, and how it is worked on.
type listed struct{ folder, kind string }

func modules(t *testing.T) (all []listed) {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(root, ".ci/modules"))
	require.NoError(t, err)
	for line := range strings.Lines(string(list)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] != "#" {
			all = append(all, listed{fields[0], fields[1]})
		}
	}
	return all
}

// A module that nobody lists is built, linted and tested by nobody, for ./... ends where a module begins.
func TestEveryModuleIsListed(t *testing.T) {
	kinds := map[string]string{}
	for _, m := range modules(t) {
		kinds[m.folder] = m.kind
	}
	var found []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git" ||
			entry.Name() == "testdata") {
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
	together := map[string]bool{}
	for _, use := range regexp.MustCompile(`(?m)^\t\.(?:/(\S+))?$`).FindAllStringSubmatch(string(work), -1) {
		together[path.Clean(use[1])] = true
	}
	for folder, kind := range kinds {
		assert.Contains(t, []string{"released", "workspace", "alone", "manifest"}, kind, folder)
		assert.Equal(t, kind == "released" || kind == "workspace", together[folder], "%s is %s: go.work says otherwise",
			folder, kind)
	}
	assert.Len(t, together, len(slices.DeleteFunc(modules(t), func(m listed) bool { return !together[m.folder] })))
}
