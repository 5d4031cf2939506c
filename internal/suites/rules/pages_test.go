package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// userPages are those that name the exported API.
var userPages = []string{
	"README.md", "CHANGELOG.md", "docs/compatibility.md", "docs/glossary.md", "docs/payments.md",
	"docs/production.md", "docs/releases.md",
}

// flowPages have a page for each flow. They name the exported API as well.
const flowPages = "docs/flows/*.md"

var (
	packageName = regexp.MustCompile("`(moneymovement|dapi|appapi|refapi|public|model|errors|payments|signing|sandbox)" +
		"((?:\\.[A-Z]\\w*){1,2})[`(]")
	memberName = regexp.MustCompile("`([A-Z]\\w*\\.[A-Z]\\w*)[`(]")
)

// What the pages name is there, as api/*.txt lists it.
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

// declares reports whether one of the lines is a declaration of the name, which may be that of a field or a method.
func declares(lines []string, name string) bool {
	of, member, isMember := strings.Cut(name, ".")
	declaration := regexp.MustCompile(`^(const|func|type|var) ` + of + `\b`)
	if isMember {
		declaration = regexp.MustCompile(`^(field ` + of + `\.|method \(\*?` + of + `\) )` + member + `\b`)
	}
	return slices.ContainsFunc(lines, declaration.MatchString)
}
