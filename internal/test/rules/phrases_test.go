package rules_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// phrase is an expression that a reader whose second language is English has to read twice, and better words for it.
type phrase struct {
	find   *regexp.Regexp
	better string
	allow  []string // what contains the phrase and is plain all the same
}

// phrases are looked for in Markdown, in comments and in texts of code, wherever a line ends.
var phrases = []phrase{
	{whole(`is none`), `"is empty", "is not set", "returns false for"`, []string{"there is none"}},
	{whole(`so is nothing`), `say what happens without a value`, nil},
	{whole(`(is|are|was|were) no [a-z]+`), `"is not a"`,
		[]string{"there is no", "there are no", "there was no", "there were no", "no longer", "no more", "no one"}},
	{whole(`(what|as|than) (it|they|he) (is|are) to be`), `"what it must be"`, nil},
	{whole(`(is|are) to be`), `"must be"`, nil},
	{whole(`whatever becomes of`), `"whether or not it succeeds"`, nil},
	{whole(`as if (it|they)? ?(was|were)? ?not given`), `refuse it with an error, or say "is ignored"`, nil},
	{whole(`makes? no sense`), `"is invalid"`, nil},
	{whole(`(is|are) told`), `"receives", "gets", "learns"`, nil},
	{whole(`tells`), `"reports", "says"`, []string{"tells apart"}},
	{whole(`com(e|es|ing) back as`), `"the call fails with", "is returned as"`, nil},
	{whole(`what needs one`), `say what needs it: "if you have to decide something"`, nil},
	{whole(`no error envelope`), `"a body that is not the service's JSON error"`, nil},
	{whole(`lest`), `"so as not to", or two sentences`, nil},
	{whole(`thereof`), `"of it"`, nil},
	{whole(`such as (it is|they are)`), `leave it out`, nil},
	{whole(`that which`), `"what", or name it`, nil},
	{whole(`(of|for) (the|a) (caller|program|user|reader)'s own`), `"your own"`, nil},
	{whole(`answer(s|ed) (the|a|an|its|their|whether|with|for|nil|true|false)`),
		`"returns"; of the service "responds with"`, nil},
	{start(`One that`), `name the subject`, nil},
	{start(`What is`), `name the subject`, nil},
	{start(`Of (a|an|the) \w+[.,;]`), `a whole sentence, or leave it out`, nil},
	{start(`(That|This) goes for`), `"the same holds for", or name the subject`, nil},
	{start(`Source:`), `leave it to stated.yaml and openapi/: users do not have it`, nil},
	{start(`[a-z]+[A-Z]\w*: `), `"is" instead of the colon`, []string{"payoutmethodsdisabled: "}},
	{regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`), `finish it, or write down the decision`, nil},
}

// whole finds an expression of whole words.
func whole(expression string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b` + expression + `\b`) }

// start finds an expression at the beginning of a sentence.
func start(expression string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[.!?] )` + expression)
}

// maxColumns is how wide a line of a page or of a script's comment may be. Of Go, golangci-lint says it.
const maxColumns = 120

// The phrases of the list are not used, and lines that can be broken are not wider than a screen.
func TestPlainEnglish(t *testing.T) {
	found, files := unplainPassages(t, os.DirFS(root))
	require.Greater(t, files, 100, "the walk found next to nothing")
	assert.Empty(t, found)
}

// unplainPassages returns what is wrong in a tree, and how many files it read.
func unplainPassages(t *testing.T, tree fs.FS) (found []string, files int) {
	t.Helper()
	files = eachFile(t, tree, func(name string, content []byte) {
		w := &words{}
		switch {
		case path.Ext(name) == ".md":
			w.ofMarkdown(name, string(content))
		case path.Dir(name) == ".ci" || name == "Makefile":
			w.ofScript(string(content))
		case path.Ext(name) == ".go" && (!strings.HasSuffix(name, "_test.go") || isExample(name)):
			w.ofGo(content)
		}
		w.end()
		for _, f := range w.found {
			found = append(found, name+":"+f)
		}
	})
	return found, files
}

// isExample reports a test that is documentation.
func isExample(name string) bool { return strings.HasPrefix(path.Base(name), "example") }

// words are read a passage at a time: a paragraph, or a text of code, wherever a line ends.
type words struct {
	found  []string
	text   string
	starts []int // where each of the passage's lines starts in the text
	first  int   // the number of its first line
}

func (w *words) add(line string, number int) {
	if len(w.starts) == 0 {
		w.first = number
	} else {
		w.text += " "
	}
	w.starts = append(w.starts, len(w.text))
	w.text += line
}

func (w *words) problem(line int, format string, args ...any) {
	w.found = append(w.found, fmt.Sprintf("%d: ", line)+fmt.Sprintf(format, args...))
}

// end finds the phrases of the list in the passage.
func (w *words) end() {
	for _, phrase := range phrases {
		for _, at := range phrase.find.FindAllStringIndex(w.text, -1) {
			plain := func(allowed string) bool {
				around := w.text[max(0, at[0]-len(allowed)):min(len(w.text), at[1]+len(allowed))]
				return strings.Contains(strings.ToLower(around), allowed)
			}
			if slices.ContainsFunc(phrase.allow, plain) {
				continue
			}
			line := w.first - 1
			for _, start := range w.starts {
				if start < at[1] {
					line++
				}
			}
			w.problem(line, "%q: better %s", strings.Trim(w.text[at[0]:at[1]], ".!? "), phrase.better)
		}
	}
	w.text, w.starts = "", nil
}

func (w *words) measure(line string, number int) {
	if columns := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t"); columns > maxColumns {
		w.problem(number, "%d columns, more than %d", columns, maxColumns)
	}
}

var (
	entry      = regexp.MustCompile(`^([-*]|\d+\.) `) // of a list
	codeSpan   = regexp.MustCompile("`[^`]*`")
	linkTarget = regexp.MustCompile(`\]\([^)]*\)|https?://\S+`)
)

// acceptedEdits is read by oasdiff, which wants each edit on a line.
const acceptedEdits = "internal/test/interop/breaking/accepted.md"

// ofMarkdown leaves out code. A row of a table, a comment and the target of a link may be as long as they must.
func (w *words) ofMarkdown(name, content string) {
	number, code := 0, false
	for text := range strings.Lines(content) {
		number++
		text = strings.TrimRight(text, "\r\n")
		bare := strings.TrimSpace(text)
		fence, row, title := strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "|"), strings.HasPrefix(bare, "#")
		if fence {
			code = !code
		}
		if code || fence || strings.HasPrefix(text, "    ") && len(w.starts) == 0 {
			w.end()
			continue
		}
		if !row && !strings.HasPrefix(bare, "<!--") && name != acceptedEdits {
			w.measure(linkTarget.ReplaceAllString(text, ""), number)
		}
		if row || title || bare == "" || entry.MatchString(bare) {
			w.end()
		}
		if !title && bare != "" {
			w.add(codeSpan.ReplaceAllString(strings.TrimLeft(bare, "*-|> "), "``"), number)
		}
	}
}

// ofScript reads comments, and at the help of a target.
func (w *words) ofScript(content string) {
	number := 0
	for line := range strings.Lines(content) {
		number++
		line = strings.TrimRight(line, "\n")
		comment, isComment := strings.CutPrefix(strings.TrimSpace(line), "#")
		_, help, isHelp := strings.Cut(line, ": ## ")
		if isComment || isHelp {
			w.measure(line, number)
		}
		if !isComment || comment == "" {
			w.end()
		}
		if isHelp {
			comment = help
		}
		if isComment || isHelp {
			w.add(strings.TrimSpace(comment), number)
		}
	}
}

// ofGo reads comments and texts.
func (w *words) ofGo(content []byte) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		w.problem(1, "%v", err)
		return
	}
	for _, group := range file.Comments {
		w.ofComment(group, files)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		expression, _ := n.(ast.Expr)
		text := textOf(expression)
		if text != "" {
			w.add(text, files.Position(n.Pos()).Line)
			w.end()
		}
		return text == ""
	})
}

// textOf is a literal text, or a sum that begins with one. What is not literal in it is written as %v.
func textOf(expression ast.Expr) (text string) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ = strconv.Unquote(e.Value)
		}
	case *ast.BinaryExpr:
		if text = textOf(e.X); text != "" && e.Op == token.ADD {
			text += cmp.Or(textOf(e.Y), "%v")
		}
	}
	return text
}

var (
	directive = regexp.MustCompile(`^//(go:|nolint|line |export )`)
	output    = regexp.MustCompile(`^ ?(Unordered output|Output):`)
)

// ofComment leaves out directives, code, and what an example prints.
func (w *words) ofComment(group *ast.CommentGroup, files *token.FileSet) {
	defer w.end()
	for _, comment := range group.List {
		number := files.Position(comment.Pos()).Line - 1
		for line := range strings.SplitSeq(comment.Text, "\n") {
			number++
			text := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(line, "//"), "/*"), "*/")
			bare := strings.TrimSpace(text)
			if output.MatchString(text) {
				return
			}
			isWords := bare != "" && !directive.MatchString(line) && !strings.HasPrefix(text, "\t")
			if !isWords || strings.HasPrefix(bare, "- ") {
				w.end()
			}
			if isWords {
				w.add(strings.TrimPrefix(bare, "- "), number)
			}
		}
	}
}

func TestUnplainEnglishIsFound(t *testing.T) {
	const (
		wide   = "123 columns, more than 120"
		of     = `"thereof": better "of it"`
		marked = `"TODO": better finish it, or write down the decision`
	)
	prose := strings.Repeat("word ", 24) + "end"
	tests := map[string]struct {
		name, content string
		want          []string
	}{
		"plain Go":            {"a/a.go", "// Package a returns what is there.\npackage a\n", nil},
		"plain Markdown":      {"a/a.md", "# Of a kind\n\nThere is none. `tells` is code, it tells apart b and c.\n", nil},
		"other kinds of file": {"a/a.svg", "thereof", nil},
		"test data":           {"a/testdata/a.md", "thereof", nil},
		"not Go at all":       {"a/a.go", "pack age\n", []string{"1: 1:1: expected 'package', found pack"}},

		"wide Markdown":   {"a/a.md", prose + "\n", []string{"1: " + wide}},
		"a row":           {"a/a.md", "| " + prose + " |\n", nil},
		"a link's target": {"a/a.md", "See [" + prose[:80] + "](docs/" + prose[:80] + ".md).\n", nil},
		"a link's long words": {"a/a.md", "[" + prose[3:] + "](docs/a.md)\n",
			[]string{"1: 121 columns, more than 120"}},
		"a comment":              {"a/a.md", "<!-- " + prose + " -->\n", nil},
		"a block of code":        {"a/a.md", "```sh\n" + prose + " thereof\n```\n\n    " + prose + " thereof\n", nil},
		"words of Markdown":      {"a/a.md", "It is\nhalf\nthereof.\n", []string{"3: " + of}},
		"words of a row":         {"a/a.md", "| a | thereof |\n|---|---|\n", []string{"1: " + of}},
		"words of a list":        {"a/a.md", "- It is none\n* of the two.\n1. of a list, thereof.\n", []string{"3: " + of, `1: "is none": better "is empty", "is not set", "returns false for"`}},
		"work put off on a page": {"a/a.md", "The TODO is here.\n", []string{"1: " + marked}},

		"over the end of a line": {"a/a.go", "package a\n\n// It is so, B answers\n// whether it is.\nfunc B() {}\n",
			[]string{`4: "answers whether": better "returns"; of the service "responds with"`}},
		"not over the end of a paragraph": {"a/a.go", "package a\n\n// B answers\n//\n// a yes or a no\nfunc B() {}\n",
			nil},
		"not in code of a comment": {"a/a.go", "package a\n\n// As in:\n//\n//\t// thereof\nfunc B() {}\n", nil},
		"a directive":              {"a/a.go", "package a\n\n//go:generate thereof\n", nil},
		"a list": {"a/a.go",
			"package a\n\n// Either:\n//   - a;\n//   - b, thereof.\nfunc B() {}\n", []string{"5: " + of}},
		"a field": {"a/a.go", "package a\n\ntype b struct {\n\tc int // Half thereof.\n}\n",
			[]string{"4: " + of}},
		"an error's text": {"a/a.go", "package a\n\nvar _ = b(\"half thereof\")\n",
			[]string{"3: " + of}},
		"a text in parts": {"a/a.go", "package a\n\nvar _ = \"c makes \" +\n\t\"no sense\" + d + \", thereof\"\n",
			[]string{`3: "makes no sense": better "is invalid"`, "3: " + of}},
		"generated words":     {"a/a.gen.go", "package a\n\n// B is thereof.\nvar B int\n", []string{"3: " + of}},
		"words of a test":     {"a/a_test.go", "package a\n\n// It is thereof.\nvar _ = \"tells\"\n", nil},
		"words of an example": {"a/example_b_test.go", "package a\n\n// It is thereof.\n", []string{"3: " + of}},
		"what an example prints": {"a/example_test.go", "package a\n\nfunc a() {\n\t// Output:\n\t// thereof\n}\n",
			nil},
		"a script": {".ci/a", "#!/bin/sh\n# Half\n# thereof.\ntells\n# " + prose[2:] + "\n",
			[]string{"3: " + of, "5: " + wide}},
		"the Makefile": {"Makefile", "a: ## half thereof\n\t" + prose + "\n", []string{"1: " + of}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, _ := unplainPassages(t, fstest.MapFS{test.name: {Data: []byte(test.content)}})
			for i, want := range test.want {
				test.want[i] = test.name + ":" + want
			}
			assert.ElementsMatch(t, test.want, found)
		})
	}
}

// Every phrase is found in a sentence that uses it, and is not in its own exceptions.
func TestEveryPhraseIsFound(t *testing.T) {
	problems := func(text string) []string {
		var w words
		w.add(text, 1)
		w.end()
		return w.found
	}
	seen := map[string]bool{}
	for _, p := range phrases {
		assert.False(t, seen[p.find.String()], "twice: %s", p.find)
		seen[p.find.String()] = true
		for _, plain := range p.allow {
			assert.Empty(t, problems("It "+plain+" here."), plain)
		}
	}
	for _, said := range []string{
		"A nil pointer to a destination is none, and so is nothing", "Options that make no sense are as if not given",
		"What needs one comes back as its type", "an answer that is no error envelope", "say what it is to be",
		"whatever becomes of it", "it is told at once", "it tells you", "lest it fail", "half thereof",
		"the list, such as it is", "take that which fits", "of the caller's own", "for a program's own",
		"X answers the", "X answers a", "X answers its", "Answers whether", "One that is first",
		"What is over the window", "Of the signer.", "That goes for reads, too", "it is to be kept",
		"Source: it", "// FIXME: it", "it is no address",
	} {
		assert.NotEmpty(t, problems(said), said)
	}
}
