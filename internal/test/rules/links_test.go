package rules_test

import (
	"fmt"
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
	"github.com/stretchr/testify/require"
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

	linkOfComment = regexp.MustCompile(`(?m)^\s*//.*` + regexp.QuoteMeta(published) + `([\w./#-]*\w)`)
)

// published is where the files of this repository can be read.
const published = "https://" + module + "/blob/main/"

// deadLinks returns the links between the files of a tree that lead nowhere, and the number of all.
func deadLinks(t *testing.T, tree fs.FS) (dead []string, links int) {
	t.Helper()
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && skipped(entry.Name()) {
			return fs.SkipDir
		}
		found, err := linksOf(tree, name)
		if err != nil || entry.IsDir() {
			return err
		}
		links += len(found)
		for _, link := range found {
			if !leads(tree, name, link) {
				dead = append(dead, fmt.Sprintf("%s: %s", name, strings.TrimPrefix(link, "/")))
			}
		}
		return nil
	}))
	return dead, links
}

// linksOf returns the links of a page or of the comments of a Go file. One that begins with / starts at the root.
func linksOf(tree fs.FS, name string) (links []string, err error) {
	switch path.Ext(name) {
	case ".md":
		page, err := prose(tree, name)
		if err != nil {
			return nil, err
		}
		for _, found := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(page, ""), -1) {
			if !strings.Contains(found[1], ":") { // or else it is on a server
				links = append(links, found[1])
			}
		}
	case ".go":
		if strings.HasSuffix(name, "_test.go") {
			return nil, nil // it may have comments for other tests
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		for _, found := range linkOfComment.FindAllSubmatch(content, -1) {
			links = append(links, "/"+string(found[1]))
		}
	}
	return links, nil
}

// prose returns a page without its blocks of code.
func prose(tree fs.FS, name string) (string, error) {
	content, err := fs.ReadFile(tree, name)
	return codeBlock.ReplaceAllString(string(content), ""), err
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
	page, err := prose(tree, file)
	return err == nil && path.Ext(file) == ".md" && slices.Contains(anchors(page), anchor)
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
