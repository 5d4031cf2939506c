package rules_test

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// userPages are those that name the exported API.
var userPages = []string{
	"README.md", "CHANGELOG.md", "docs/compatibility.md", "docs/glossary.md", "docs/calling-pay.md",
	"docs/production.md", "docs/deploys.md", "cmd/moneymove/README.md",
}

// flowPages have a page for each flow. They name the exported API as well.
const flowPages = "docs/flows/*.md"

var (
	packageName = regexp.MustCompile("`(moneymovement|dapi|appapi|refapi|public|model|errors|payments|signing|sandbox)" +
		"((?:\\.[A-Z]\\w*){1,2})[`(]")
	memberName = regexp.MustCompile("`([A-Z]\\w*\\.[A-Z]\\w*)[`(]")
	// oldNames are the first column of a table of CHANGELOG.md, whose second one has the new names.
	oldNames = regexp.MustCompile(`(?m)^ *\|[^|]*\|`)
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
		if page == "CHANGELOG.md" {
			content = oldNames.ReplaceAll(content, nil)
		}
		for _, name := range packageName.FindAllStringSubmatch(string(content), -1) {
			names++
			assert.True(t, declares(listed[name[1]], name[2][1:]), "%s names %s%s", page, name[1], name[2])
		}
		for _, name := range memberName.FindAllStringSubmatch(string(content), -1) {
			names++
			assert.True(t, declares(all, name[1]), "%s names %s", page, name[1])
		}
	}
	assert.Greater(t, names, 80, "next to nothing was checked")
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
	assert.Greater(t, named, 140, "next to nothing was checked")
	assert.Empty(t, found)
}

func TestMissingTargetIsFound(t *testing.T) {
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

// Each link from a page or a comment to this repository leads to a file that is there, and to a heading that the file
// has.
func TestTheLinksLeadSomewhere(t *testing.T) {
	found, links := deadLinks(t, os.DirFS(root))
	assert.Greater(t, links, 300, "next to nothing was checked")
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
			if links++; !linkExists(tree, name, link) {
				dead = append(dead, name+": "+strings.TrimPrefix(link, "/"))
			}
		}
	})
	return dead, links
}

// linkExists reports whether a link of a page leads to something.
func linkExists(tree fs.FS, from, link string) bool {
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

// meanPause is the part of its bound that a pause is on average: it is drawn from the upper half.
const meanPause = 0.75

// readsUntil is how many reads a wait with the default pauses makes of something that ends after a time, with pauses of
// average length: the first read is at once, and the last one comes after the end.
func readsUntil(end time.Duration) int {
	pace := transport.DefaultPace
	reads, at := 1, time.Duration(0)
	for pause := pace.Least; at < end; pause = min(pause*3/2, pace.Most) {
		at += time.Duration(float64(pause) * meanPause)
		reads++
	}
	return reads
}

// The numbers of the pages follow from the stated windows and the pauses of waits.
func TestPollingFiguresOnThePages(t *testing.T) {
	var page string
	for _, name := range []string{"docs/production.md", "docs/calling-pay.md"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		page += strings.Join(strings.Fields(string(content)), " ") // wherever a line ends
	}
	says := func(text string) {
		t.Helper()
		if !strings.Contains(page, text) { // which is too long to be shown
			t.Errorf("no page says: %s", text)
		}
	}
	for said, end := range map[string]time.Duration{
		"10 s": 10 * time.Second, "1 min": time.Minute, "10 min": 10 * time.Minute, "1 h": time.Hour,
	} {
		says(fmt.Sprintf("| %s | %d |", said, readsUntil(end)))
	}

	reads := moneymovement.StatedWindows()[moneymovement.WindowReads]
	forWaits := float64(reads.Calls-reads.Calls/10) * float64(time.Minute) / float64(reads.Span())
	says(fmt.Sprintf("Of the %d reads a minute, the SDK uses at most %.0f for waits", reads.Calls,
		math.Floor(forWaits)))
	for said, most := range map[string]time.Duration{
		"15 s (default)": transport.DefaultPace.Most, "30 s": 30 * time.Second, "1 min": time.Minute,
		"5 min": 5 * time.Minute,
	} {
		each := float64(time.Minute) / (float64(most) * meanPause)
		says(fmt.Sprintf("| %s | %.2f | %.0f |", said, each, math.Floor(forWaits/each)))
	}
	for said, waits := range map[string]float64{"each of 1,000 payouts every 2 minutes": 1_000,
		"each of 10,000 every 19 minutes": 10_000} {
		says(said)
		assert.Contains(t, said, fmt.Sprintf("every %.0f minutes", waits/forWaits))
	}

	writes := moneymovement.StatedWindows()[moneymovement.WindowWrites]
	payments := float64(writes.Calls) / 2 * float64(time.Minute) / float64(writes.Span())
	says(fmt.Sprintf("so about %.0f payments pass in a minute", math.Floor(payments)))
}
