package rules_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// userPages are those that name the exported API.
var userPages = []string{
	"README.md", "CHANGELOG.md", "docs/compatibility.md", "docs/glossary.md", "docs/payments.md",
	"docs/production.md", "cmd/moneymove/README.md",
}

// flowPages have a page for each flow. They name the exported API as well.
const flowPages = "docs/flows/*.md"

var (
	packageName = regexp.MustCompile("`(moneymovement|dapi|appapi|refapi|public|model|errors|payments|signing|sandbox)" +
		"((?:\\.[A-Z]\\w*){1,2})[`(]")
	memberName = regexp.MustCompile("`([A-Z]\\w*\\.[A-Z]\\w*)[`(]")
)

// What the pages name is there, as internal/tools/api/*.txt lists it.
func TestThePagesNameWhatIsThere(t *testing.T) {
	listed := map[string][]string{} // lines of a package
	var all []string
	for _, lines := range apiOf(t) {
		name := packageOf(lines)
		listed[name] = append(listed[name], lines...)
		all = append(all, lines...)
	}
	flows, err := filepath.Glob(filepath.Join(root, flowPages))
	require.NoError(t, err)
	require.Greater(t, len(flows), 9)
	pages := append(slices.Clone(userPages), "docs/README.md")
	for _, page := range flows {
		pages = append(pages, "docs/flows/"+filepath.Base(page))
	}
	names := 0
	for _, page := range pages {
		content, err := os.ReadFile(filepath.Join(root, page))
		require.NoError(t, err)
		for _, name := range packageName.FindAllStringSubmatch(string(content), -1) {
			names++
			assert.True(t, declares(listed[name[1]], name[2][1:]), "%s names %s%s", page, name[1], name[2])
		}
		for _, name := range memberName.FindAllStringSubmatch(string(content), -1) {
			names++
			assert.True(t, declares(all, name[1]), "%s names %s", page, name[1])
		}
	}
	assert.Greater(t, names, 80, "next to nothing was looked at")
}

// apiOf returns the lines of internal/tools/api/*.txt, by the name of the file without its ending. `make api` compares
// them with the code.
func apiOf(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "internal/tools/api/*.txt"))
	require.NoError(t, err)
	require.Greater(t, len(files), 15, "next to nothing is listed")
	listed := map[string][]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		listed[strings.TrimSuffix(filepath.Base(file), ".txt")] = strings.Split(string(content), "\n")
	}
	return listed
}

// packageOf returns the name of the package that lines are of.
func packageOf(lines []string) string { return strings.Fields(lines[0])[1] }

// declares reports whether one of the lines is a declaration of the name, which may be that of a field or a method.
func declares(lines []string, name string) bool {
	of, member, isMember := strings.Cut(name, ".")
	declaration := regexp.MustCompile(`^(const|func|type|var) ` + of + `\b`)
	if isMember {
		declaration = regexp.MustCompile(`^(field ` + of + `\.|method \(\*?` + of + `\) )` + member + `\b`)
	}
	return slices.ContainsFunc(lines, declaration.MatchString)
}

var (
	// namedTargets finds what is after make, where a text has it as code or after a word that a verb does not follow.
	namedTargets = regexp.MustCompile("(?m)(?:[`\"'(;] ?|^(?:    |// ?\t)|\\b(?:by|every|for|in|of|runs?) )" +
		`make ([a-z][a-z-]*(?:(?: [a-z][a-z-]*)*` + "`)?)")
	fencedTargets = regexp.MustCompile(`(?m)^(?:\$ )?make ([a-z][a-z-]*)`)
	target        = regexp.MustCompile(`(?m)^([a-z][a-z-]*):(?: |$)`)
	// objects follow make in English. No target is called so.
	objects = []string{"a", "an", "clients", "it", "one", "sure", "the", "them"}
)

// What a page, a comment or a message says to make is a target of the Makefile.
func TestTheNamedTargetsAreThere(t *testing.T) {
	found, named := goneTargets(t, os.DirFS(root))
	assert.Greater(t, named, 140, "next to nothing was looked at")
	assert.Empty(t, found)
}

func TestAGoneTargetIsFound(t *testing.T) {
	const named, code = "ma" + "ke", "`ma" + "ke"
	page := code + " test` " + code + " a-b test` " + code + " test N=1`, then " + named + " it.\n\n    " + named +
		" test   # so\n\n```\n$ " + named + " test\n" + named + " a-b # so\n```\n" + named + " sure of " + code + "`.\n"
	source := "// run by " + named + " test (" + named + " a-b).\n//\n//\t" + named +
		" test\nvar s, t = \"long; " + named + " test runs it\", \"" + named + " a-b\", \"" + named + " it\"\n"
	tree := fstest.MapFS{"Makefile": {Data: []byte("A := 1\ntest: a ## run\na-b:\n\ttrue\n")},
		"a.md": {Data: []byte(page)}, "a/a.go": {Data: []byte(source)}, "CHANGELOG.md": {Data: []byte(code + " x`")}}
	found, names := goneTargets(t, tree)
	assert.Empty(t, found)
	assert.Equal(t, 12, names)

	tree["Makefile"].Data = []byte("test-b: a\n")
	found, _ = goneTargets(t, tree)
	assert.Len(t, found, 12)
	tree["Makefile"].Data = []byte("test:\n")
	found, _ = goneTargets(t, tree)
	assert.Equal(t, []string{"a/a.go: a-b", "a/a.go: a-b", "a.md: a-b", "a.md: a-b"}, found)
}

// goneTargets returns what files of a tree name and its Makefile does not have, and how much they name.
func goneTargets(t *testing.T, tree fs.FS) (gone []string, named int) {
	t.Helper()
	makefile, err := fs.ReadFile(tree, "Makefile")
	require.NoError(t, err)
	targets := map[string]bool{}
	for _, found := range target.FindAllSubmatch(makefile, -1) {
		targets[string(found[1])] = true
	}
	eachFile(t, tree, func(name string, content []byte) {
		if name == "CHANGELOG.md" { // which has those of older versions
			return
		}
		all := namedTargets.FindAllSubmatch(content, -1)
		if strings.HasSuffix(name, ".md") {
			for _, block := range codeBlock.FindAll(content, -1) {
				all = append(all, fencedTargets.FindAllSubmatch(block, -1)...)
			}
		}
		for _, found := range all {
			for _, of := range strings.Fields(strings.Trim(string(found[1]), "`")) {
				if slices.Contains(objects, of) {
					break
				}
				if named++; !targets[of] {
					gone = append(gone, name+": "+of)
				}
			}
		}
	})
	return gone, named
}
