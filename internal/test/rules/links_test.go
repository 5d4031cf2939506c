package rules_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
)

// Each link from a page or a comment to this repository leads to a file that is there, and to a heading that the file
// has.
func TestTheLinksLeadSomewhere(t *testing.T) {
	found, links := deadLinks(t, os.DirFS(root))
	assert.Greater(t, links, 300, "next to nothing was looked at")
	assert.Empty(t, found)
}

func TestADeadLinkIsFound(t *testing.T) {
	page := "# A `b` c_d, e!\n\n## Twice\n## Twice\n\n" +
		"[1](#a-b-c_d-e) [2](docs/b.md#twice-1) ![3](docs/p.svg) [4](docs)\n" +
		"[5](https://example.com/#x) `[6](gone.md)` [7](http://127.0.0.1:1)\n```go\nx[\"a\"](gone)\n# No heading\n```\n"
	other := "# B\n\n[a page](../a.md#twice)\n## Twice\n## Twice\n"
	code := "// See " + published + "docs/b.md. And:\n//\n// [x]: " + published + "docs/b.md#twice-1\n" +
		"var s = \"" + published + "gone.md\"\n"
	tree := fstest.MapFS{"a.md": {Data: []byte(page)}, "docs/b.md": {Data: []byte(other)}, "docs/p.svg": {},
		"x/doc.go": {Data: []byte(code)}}
	found, links := deadLinks(t, tree)
	assert.Empty(t, found)
	assert.Equal(t, 7, links)

	tree["a.md"].Data = []byte(page + "[1](#no-heading) [2](docs/b.md#c) [3](docs/p.png) [4](docs/p.svg#b)\n")
	tree["x/doc.go"].Data = []byte(code + "\t// " + published + "docs/c.md.\n")
	found, _ = deadLinks(t, tree)
	assert.Equal(t, []string{"a.md: #no-heading", "a.md: docs/b.md#c", "a.md: docs/p.png", "a.md: docs/p.svg#b",
		"x/doc.go: docs/c.md"}, found)
}

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	heading   = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	noAnchor  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

	linkOfComment = regexp.MustCompile(`(?m)^\s*//.*` + regexp.QuoteMeta(published[:len(published)-1]) + `(/[\w./#-]*\w)`)
)

// published is where the files of this repository can be read.
const published = "https://" + module + "/blob/main/"

// deadLinks returns the links between the files of a tree that lead nowhere, and the number of all. A link that begins
// with / starts at the root.
func deadLinks(t *testing.T, tree fs.FS) (dead []string, links int) {
	t.Helper()
	eachFile(t, tree, func(name string, content []byte) {
		var found [][]string
		switch text := codeBlock.ReplaceAllString(string(content), ""); {
		case path.Ext(name) == ".md":
			found = link.FindAllStringSubmatch(codeSpan.ReplaceAllString(text, ""), -1)
		case path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go"): // which may have comments for other tests
			found = linkOfComment.FindAllStringSubmatch(text, -1)
		}
		for _, match := range found {
			link := match[1]
			if strings.Contains(link, ":") { // it is on a server
				continue
			}
			if links++; !leads(tree, name, link) {
				dead = append(dead, name+": "+strings.TrimPrefix(link, "/"))
			}
		}
	})
	return dead, links
}

// leads reports whether a link of a page leads to something.
func leads(tree fs.FS, from, link string) bool {
	target, anchor, hasAnchor := strings.Cut(link, "#")
	file := from
	switch fromRoot, ok := strings.CutPrefix(target, "/"); {
	case ok:
		file = fromRoot
	case target != "":
		file = path.Join(path.Dir(from), target)
	}
	if _, err := fs.Stat(tree, file); err != nil {
		return false
	}
	if !hasAnchor {
		return true
	}
	page, err := fs.ReadFile(tree, file)
	return err == nil && path.Ext(file) == ".md" &&
		slices.Contains(anchors(codeBlock.ReplaceAllString(string(page), "")), anchor)
}

// anchors returns the anchors that the headings of a page have on GitHub.
func anchors(page string) (names []string) {
	seen := map[string]int{}
	for _, found := range heading.FindAllStringSubmatch(page, -1) {
		name := strings.ReplaceAll(strings.ToLower(noAnchor.ReplaceAllString(found[1], "")), " ", "-")
		times := seen[name]
		seen[name]++
		if times > 0 {
			name += "-" + strconv.Itoa(times)
		}
		names = append(names, name)
	}
	return names
}
