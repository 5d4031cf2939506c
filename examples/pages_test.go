package examples_test

import (
	"bufio"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// setupPage has what comes before every other page: it installs the command, starts a host, and sets variables.
// flowPages are the others, one for each flow.
const (
	setupPage = "../docs/README.md"
	flowPages = "../docs/flows/*.md"
)

// firstSteps is the page for those who know no Go. It has a setup of its own.
const firstSteps = "../docs/without-go.md"

// exampleCommand begins a block with commands that run examples.
const exampleCommand = "go run ./examples/"

// block is a block of code of a page.
type block struct {
	language, text string
	above          string // the paragraph before it
	line           int
}

// blocks returns the blocks of code of a page.
func blocks(page string) (found []block) {
	var paragraph []string
	ended := false
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		language, opens := strings.CutPrefix(lines[i], "```")
		if !opens {
			if lines[i] == "" {
				ended = true
				continue
			}
			if ended {
				paragraph, ended = nil, false
			}
			paragraph = append(paragraph, lines[i])
			continue
		}
		b := block{language: language, above: strings.Join(paragraph, "\n"), line: i + 1}
		for i++; i < len(lines) && lines[i] != "```"; i++ {
			b.text += lines[i] + "\n"
		}
		ended = true
		found = append(found, b)
	}
	return found
}

// sourceLink is a link from a page to Go code, relative to the page.
var sourceLink = regexp.MustCompile(`\]\(((?:\.\./)+[a-z/_]+\.go)\)`)

// guide is the page whose Go code is compiled as it is: see TestTheCodeOfTheGuideWorks.
const guide = "../docs/calling-pay.md"

// Go code of a page is an excerpt of a program, or of an example beside a package, which the paragraph above links to.
// So it is compiled, and runs in a test there.
func TestGoCodeOfThePagesIsAnExcerpt(t *testing.T) {
	for _, pattern := range []string{flowPages, "../docs/*.md"} {
		names, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range names {
			content, err := os.ReadFile(name)
			require.NoError(t, err)
			for _, b := range blocks(string(content)) {
				if b.language == "go" && name != guide {
					checkExcerpt(t, name, b)
				}
			}
		}
	}
}

// What a shell or Python reads on a flow page is run against a running host. No other code is on a page.
func TestEachBlockOfTheFlowPagesRuns(t *testing.T) {
	testkit.Long(t, "builds the command, and runs what pages show")
	names, err := filepath.Glob(flowPages)
	require.NoError(t, err)
	require.Greater(t, len(names), 9)
	tools := newToolbox(t)
	examples := commands(t)
	for _, name := range append(names, setupPage) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".md"), func(t *testing.T) {
			content, err := os.ReadFile(name)
			require.NoError(t, err)
			var script []block
			for _, b := range blocks(string(content)) {
				switch {
				case b.language == "go":
				case b.language == "sh" && strings.HasPrefix(b.text, exampleCommand):
					checkRuns(t, b, examples)
				default:
					script = append(script, b)
				}
			}
			tools.run(t, name, script)
		})
	}
}

// A reader follows one page after another, in the order of docs/README.md, on one host.
func TestTheFlowPagesRunOneAfterAnother(t *testing.T) {
	testkit.Long(t, "builds the command, and runs what pages show")
	setup, err := os.ReadFile(setupPage)
	require.NoError(t, err)
	names, err := filepath.Glob(flowPages)
	require.NoError(t, err)
	followed := map[string]bool{}
	var script []block
	for _, link := range regexp.MustCompile(`\]\((flows/[a-z-]+\.md)\)`).FindAllStringSubmatch(string(setup), -1) {
		if followed[link[1]] {
			continue
		}
		followed[link[1]] = true
		content, err := os.ReadFile("../docs/" + link[1])
		require.NoError(t, err)
		for _, b := range blocks(string(content)) {
			if b.language != "go" && !strings.HasPrefix(b.text, exampleCommand) {
				script = append(script, b)
			}
		}
	}
	assert.Len(t, followed, len(names), "%s leads to each page", setupPage)
	newToolbox(t).run(t, flowPages, script)
}

// A reader who knows no Go sees at the top of a page that it is for them too.
func TestEachFlowPageBeginsWithItsWays(t *testing.T) {
	names, err := filepath.Glob(flowPages)
	require.NoError(t, err)
	for _, name := range names {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		if strings.Contains(string(content), "\n## In Go\n") {
			assert.Regexp(t, `\A# .*\n\n\[In Go\]\(#in-go\) · \[From a shell\]\(#from-a-shell.*\)\n`, string(content),
				name)
		}
	}
}

// A page leads from nothing to a payment by curl, and to one whose response is lost.
func TestFirstStepsWithoutGoMakeAPayment(t *testing.T) {
	testkit.Long(t, "builds the command, and runs what pages show")
	content, err := os.ReadFile(firstSteps)
	require.NoError(t, err)
	printed := newToolbox(t).run(t, firstSteps, blocks(string(content)))
	require.Len(t, printed, 2, "paying by curl, and with a fault")
	assert.Contains(t, printed[0], `"status":"funding"`)
	assert.True(t, strings.HasSuffix(printed[0], "\n"), "the prompt of the shell begins a line of its own")
	assert.Contains(t, printed[1], `"state":"paid"`)
	assert.Equal(t, 1, strings.Count(printed[1], `"fault":"drop_after_commit"`), printed[1])
}

// checkExcerpt fails the test unless the source that the paragraph above a block links to has its code.
func checkExcerpt(t *testing.T, page string, b block) {
	t.Helper()
	formatted, err := format.Source([]byte(b.text))
	if assert.NoError(t, err, "%s:%d", page, b.line) {
		assert.Equal(t, string(formatted), b.text, "%s:%d: as gofmt has it", page, b.line)
	}
	link := sourceLink.FindStringSubmatch(b.above)
	require.NotNil(t, link, "%s:%d: link to the source above the code:\n%s", page, b.line, b.above)
	source, err := os.ReadFile(filepath.Join(filepath.Dir(page), filepath.FromSlash(link[1])))
	require.NoError(t, err)
	said, err := unnarrated(source)
	require.NoError(t, err)
	assert.True(t, isExcerpt(b.text, said), "%s:%d: %s, without what it prints, does not have this:\n%s", page, b.line,
		link[1], b.text)
}

// checkRuns fails the test unless each line of a block is the command of an example, which another test runs.
func checkRuns(t *testing.T, b block, examples map[string]string) {
	t.Helper()
	for line := range strings.Lines(b.text) {
		command, _, _ := strings.Cut(line, " #")
		command = strings.TrimSpace(command)
		assert.Equal(t, examples[filepath.Base(command)], command, "line %d", b.line)
	}
}

func TestBlocksOfAPage(t *testing.T) {
	assert.Equal(t, []block{
		{"go", "a()\n", "Above,\nand more.", 5}, {"", "\n", "Above,\nand more.", 9}, {"sh", "", "Near.", 13},
	}, blocks("Before.\n\nAbove,\nand more.\n```go\na()\n```\n\n```\n\n```\nNear.\n```sh\n```\n"))
}

// command matches the command at the end of an example's first line. Its arguments are optional.
var command = regexp.MustCompile(`^// .+: (go run \./examples/([a-z]+)|` +
	`GOWORK=off go -C examples/([a-z]+) run \.)(?: -.+)?$`)

// commands returns the command of each example, by its folder. Its own test runs it as its command does.
func commands(t *testing.T) map[string]string {
	t.Helper()
	programs, err := filepath.Glob("*/main.go")
	require.NoError(t, err)
	found := map[string]string{}
	for _, path := range programs {
		file, err := os.Open(path)
		require.NoError(t, err)
		lines := bufio.NewScanner(file)
		lines.Scan()
		says := command.FindStringSubmatch(lines.Text())
		require.NoError(t, file.Close())
		require.NotNil(t, says, "%s does not begin with the command that runs it", path)
		assert.Equal(t, filepath.Dir(path), says[2]+says[3])
		found[says[2]+says[3]] = says[1]
	}
	return found
}

func TestTheReadmeListsEachExample(t *testing.T) {
	content, err := os.ReadFile("README.md")
	require.NoError(t, err)
	found := commands(t)
	for name, line := range found {
		assert.Contains(t, string(content), "`"+line+"`", "%s is not listed", name)
	}
	for _, row := range regexp.MustCompile("`go (?:run|test) \\./examples/([a-z]+)`").FindAllStringSubmatch(
		string(content), -1) {
		assert.Contains(t, found, row[1], "is listed and not there")
	}
}

// elision stands in an excerpt for lines of the source that are left out.
const elision = "// ..."

// isExcerpt reports whether a source has these lines one after another, at any indentation. Empty lines do not count.
func isExcerpt(excerpt, source string) bool {
	want, have := filled(excerpt), filled(source)
	if len(want) == 0 || strings.TrimSpace(want[0]) == elision {
		return false
	}
	for start, line := range have {
		indent, matches := strings.CutSuffix(line, want[0])
		if matches && strings.Trim(indent, "\t") == "" && follows(want[1:], have[start+1:], indent) {
			return true
		}
	}
	return false
}

// follows reports whether these lines come next.
func follows(want, have []string, indent string) bool {
	elided := false
	for _, line := range want {
		if strings.TrimSpace(line) == elision {
			elided = true
			continue
		}
		at := slices.Index(have, indent+line)
		if at < 0 || at > 0 && !elided {
			return false
		}
		have, elided = have[at+1:], false
	}
	return true
}

func filled(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// narration are the methods by which the examples print what they do.
var narration = []string{"Step", "Detail", "Quote"}

// unnarrated returns the source of an example without what only an example needs: what it prints, the options by which
// it shows its waits, and the name of the run that makes its keys new at each start.
func unnarrated(source []byte) (string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.ParseComments)
	if err != nil {
		return "", err
	}
	text := string(source)
	type span struct{ from, to int }
	var cuts []span
	cut := func(from, to token.Pos) {
		cuts = append(cuts, span{files.Position(from).Offset, files.Position(to).Offset})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ExprStmt:
			if call, ok := n.X.(*ast.CallExpr); ok && slices.Contains(narration, methodOf(call)) {
				cut(n.Pos(), n.End())
				return false
			}
		case *ast.CallExpr:
			last := len(n.Args) - 1
			if methodOf(n) == "DeriveKey" && last > 0 && nameOf(n.Args[0]) == "Name" {
				cut(n.Args[0].Pos(), n.Args[1].Pos())
			}
			if last < 1 || !n.Ellipsis.IsValid() {
				return true
			}
			if spread, ok := n.Args[last].(*ast.CallExpr); ok && slices.Contains([]string{"Waiting", "Options"},
				methodOf(spread)) {
				cut(n.Args[last-1].End(), n.Ellipsis+token.Pos(len("...")))
			}
		}
		return true
	})
	slices.SortFunc(cuts, func(a, b span) int { return b.from - a.from })
	for _, c := range cuts {
		text = text[:c.from] + text[c.to:]
	}
	return text, nil
}

// methodOf returns the name of the method or function that is called through a selector.
func methodOf(call *ast.CallExpr) string { return nameOf(call.Fun) }

// nameOf returns Name of x.Name, or "".
func nameOf(expression ast.Expr) string {
	if selector, ok := expression.(*ast.SelectorExpr); ok {
		return selector.Sel.Name
	}
	return ""
}

func TestExcerpts(t *testing.T) {
	source, err := unnarrated([]byte(`package a

func f() {
	if true {
		x, err := wait(ctx, p.Waiting()...)
		p.Step("%d of %d",
			1, 2)

		return pay(x, m.DeriveKey(p.Name, "a"), err)
	}
	done()
}
`))
	require.NoError(t, err)
	for excerpt, is := range map[string]bool{
		"x, err := wait(ctx)\nreturn pay(x, m.DeriveKey(\"a\"), err)\n": true,
		"if true {\n\tx, err := wait(ctx)\n\t// ...\n}\ndone()\n":       true,
		"if true {\n\t// ...\n}\n\n// ...\n}\n":                         false, // the last one is less indented
		"x, err := wait(ctx)\ndone()\n":                                 false,
		"x, err := wait(ctx)\n// ...\nmissing()\n":                      false,
		"x, err := wait(ctx, p.Waiting()...)\n":                         false,
		"// ...\ndone()\n":                                              false,
		"":                                                              false,
		"return pay(x, m.DeriveKey(\"a\"), err)\nx, err := wait(ctx)\n": false,
	} {
		assert.Equal(t, is, isExcerpt(excerpt, source), "%s", excerpt)
	}
}
