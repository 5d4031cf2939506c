package rules_test

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const (
	maxColumns = 120
	tabColumns = 4
)

// Lines are at most 120 columns long, and the phrases of the list are not used, in all folders.
func TestPlainEnglish(t *testing.T) {
	found, files := unplain(t, os.DirFS(root))
	require.Greater(t, files, 100, "the walk found next to nothing")
	folders := slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(found[a]), len(found[b])), cmp.Compare(a, b))
	})
	for _, folder := range folders {
		t.Errorf("%d in %s:\n%s", len(found[folder]), folder, strings.Join(found[folder], "\n"))
	}
}

// unplain returns what is wrong by folder, and how many files it read.
func unplain(t *testing.T, tree fs.FS) (found map[string][]string, files int) {
	t.Helper()
	found = map[string][]string{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if skipped(entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		look := reader(name)
		if look == nil {
			return nil
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		files++
		for _, f := range look(name, content) {
			found[path.Dir(name)] = append(found[path.Dir(name)], fmt.Sprintf("%s:%d: %s", name, f.line, f.problem))
		}
		return nil
	})
	require.NoError(t, err)
	return found, files
}

// reader returns what looks at a file, or nil.
func reader(name string) func(name string, content []byte) []finding {
	switch {
	case path.Ext(name) == ".go":
		return unplainGo
	case path.Ext(name) == ".md":
		return unplainMarkdown
	case path.Dir(name) == ".ci" || name == "Makefile":
		return unplainScript
	}
	return nil
}

// finding is what is wrong at a line.
type finding struct {
	line    int
	problem string
}

// columns is how wide a line is on a screen.
func columns(line string) int {
	return utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
}

func tooLong(line string, number int) finding {
	return finding{number, fmt.Sprintf("%d columns, more than %d", columns(line), maxColumns)}
}

// passage is text that is read in one go: a paragraph, or a text of code.
type passage struct {
	text   string
	starts []int // where each of its lines starts in the text
	first  int   // the number of its first line
}

func (p *passage) add(line string, number int) {
	if len(p.starts) == 0 {
		p.first = number
	} else {
		p.text += " "
	}
	p.starts = append(p.starts, len(p.text))
	p.text += line
}

// unplainPhrases returns the phrases of the list that a passage uses.
func (p *passage) unplainPhrases() (found []finding) {
	for _, phrase := range phrases {
		for _, at := range phrase.find.FindAllStringIndex(p.text, -1) {
			if phrase.allows(p.text, at) {
				continue
			}
			line := p.first - 1
			for _, start := range p.starts {
				if start < at[1] {
					line++
				}
			}
			said := strings.Trim(p.text[at[0]:at[1]], ".!? ")
			found = append(found, finding{line, fmt.Sprintf("%q: better %s", said, phrase.better)})
		}
	}
	return found
}

func (p phrase) allows(text string, at []int) bool {
	return slices.ContainsFunc(p.allow, func(plain string) bool {
		around := strings.ToLower(text[max(0, at[0]-len(plain)):min(len(text), at[1]+len(plain))])
		return strings.Contains(around, plain)
	})
}

var (
	entry      = regexp.MustCompile(`^([-*]|\d+\.) `) // of a list
	codeSpan   = regexp.MustCompile("`[^`]*`")
	linkTarget = regexp.MustCompile(`\]\([^)]*\)|https?://\S+`)
)

// acceptedEdits is read by oasdiff, which wants each edit on a line.
const acceptedEdits = "internal/test/interop/breaking/accepted.md"

// unplainMarkdown leaves out code. A row of a table, a comment and the target of a link may be as long as they must.
func unplainMarkdown(name string, content []byte) (found []finding) {
	var paragraph passage
	end := func() {
		found = append(found, paragraph.unplainPhrases()...)
		paragraph = passage{}
	}
	number, code := 0, false
	for line := range bytes.Lines(content) {
		number++
		text := strings.TrimRight(string(line), "\r\n")
		bare := strings.TrimSpace(text)
		fence := strings.HasPrefix(bare, "```")
		if fence {
			code = !code
		}
		if code || fence || strings.HasPrefix(text, "    ") && len(paragraph.starts) == 0 {
			end()
			continue
		}
		row := strings.HasPrefix(bare, "|")
		oneLine := row || strings.HasPrefix(bare, "<!--") || name == acceptedEdits
		if !oneLine && columns(linkTarget.ReplaceAllString(text, "")) > maxColumns {
			found = append(found, tooLong(text, number))
		}
		if row || bare == "" || strings.HasPrefix(bare, "#") || entry.MatchString(bare) {
			end()
		}
		if !strings.HasPrefix(bare, "#") && bare != "" {
			paragraph.add(codeSpan.ReplaceAllString(strings.TrimLeft(bare, "*-|> "), "``"), number)
		}
	}
	end()
	return found
}

// unplainScript looks at comments, and at the help of a target.
func unplainScript(_ string, content []byte) (found []finding) {
	var paragraph passage
	end := func() {
		found = append(found, paragraph.unplainPhrases()...)
		paragraph = passage{}
	}
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimRight(line, "\n")
		comment, isComment := strings.CutPrefix(strings.TrimSpace(line), "#")
		_, help, isHelp := strings.Cut(line, ": ## ")
		if (isComment || isHelp) && columns(line) > maxColumns {
			found = append(found, tooLong(line, number))
		}
		if !isComment || comment == "" {
			end()
		}
		if isComment {
			paragraph.add(strings.TrimSpace(comment), number)
		}
		if isHelp {
			paragraph.add(help, number)
			end()
		}
	}
	end()
	return found
}

// unplainGo looks at the lines of code that is written by hand, and at the words of what is not a test. An example is
// documentation.
func unplainGo(name string, content []byte) (found []finding) {
	if !generated.Match(content) {
		found = longLines(content, strings.HasPrefix(path.Base(name), "example"))
	}
	if strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(path.Base(name), "example") {
		return found
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return append(found, finding{1, err.Error()})
	}
	for _, group := range file.Comments {
		found = append(found, unplainComment(group, files)...)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if name, doc := documented(n); strings.HasPrefix(doc.Text(), name+": ") {
			problem := fmt.Sprintf("%q: better \"%s is\"", name+":", name)
			found = append(found, finding{files.Position(doc.Pos()).Line, problem})
		}
		expression, isExpression := n.(ast.Expr)
		text, isText := textOf(expression)
		if !isExpression || !isText {
			return true
		}
		var p passage
		p.add(text, files.Position(n.Pos()).Line)
		found = append(found, p.unplainPhrases()...)
		return false
	})
	return found
}

// documented returns the name that a node declares, and its comment. The name is empty for other nodes.
func documented(n ast.Node) (name string, doc *ast.CommentGroup) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Name.Name, n.Doc
	case *ast.TypeSpec:
		return n.Name.Name, n.Doc
	case *ast.ValueSpec:
		return n.Names[0].Name, n.Doc
	case *ast.GenDecl:
		if len(n.Specs) == 1 {
			if name, doc = documented(n.Specs[0]); doc == nil {
				return name, n.Doc
			}
		}
	}
	return "", nil
}

// textOf is a literal text, or a sum that begins with one. What is not literal in it is written as %v.
func textOf(expression ast.Expr) (string, bool) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, leftIsText := textOf(e.X)
		right, rightIsText := textOf(e.Y)
		if e.Op != token.ADD || !leftIsText {
			return "", false
		}
		if !rightIsText {
			right = "%v"
		}
		return left + right, true
	}
	return "", false
}

var (
	directive = regexp.MustCompile(`^//(go:|nolint|line |export )`)
	address   = regexp.MustCompile(`[a-z]+://[^\s"` + "`" + `]+`)
	output    = regexp.MustCompile(`^ ?(Unordered output|Output):`)
)

// unplainComment leaves out directives, code, and what an example prints.
func unplainComment(group *ast.CommentGroup, files *token.FileSet) (found []finding) {
	var paragraph passage
	end := func() {
		found = append(found, paragraph.unplainPhrases()...)
		paragraph = passage{}
	}
	for _, comment := range group.List {
		number := files.Position(comment.Pos()).Line - 1
		for line := range strings.SplitSeq(comment.Text, "\n") {
			number++
			text := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(line, "//"), "/*"), "*/")
			bare := strings.TrimSpace(text)
			if output.MatchString(text) {
				end()
				return found
			}
			if strings.HasPrefix(bare, "Source:") {
				const problem = "Source: is for stated.yaml and openapi/, users do not have it"
				found = append(found, finding{number, problem})
			}
			words := bare != "" && !directive.MatchString(line) && !strings.HasPrefix(text, "\t")
			if !words || strings.HasPrefix(bare, "- ") {
				end()
			}
			if words {
				paragraph.add(strings.TrimPrefix(bare, "- "), number)
			}
		}
	}
	end()
	return found
}

// longLines finds the lines over the limit. It does not count what nobody can break: directives, a linter's exceptions,
// addresses, texts over several lines, texts without a space, and the expected output of an example, which go test
// compares line by line.
func longLines(content []byte, isExample bool) (found []finding) {
	unbroken := unbreakable(content)
	number, printed := 0, false
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimRight(line, "\n")
		comment, isComment := strings.CutPrefix(strings.TrimSpace(line), "//")
		printed = isExample && isComment && (printed || output.MatchString(comment))
		if printed || directive.MatchString(line) {
			continue
		}
		breakable, _, _ := strings.Cut(line, " //nolint:")
		breakable = address.ReplaceAllString(breakable, "")
		if columns(breakable)-unbroken[number] > maxColumns {
			found = append(found, tooLong(line, number))
		}
	}
	return found
}

// unbreakable is how many columns of each line are a literal text that cannot be broken.
func unbreakable(content []byte) map[int]int {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(content))
	s.Init(file, content, nil, 0)
	found := map[int]int{}
	for {
		at, kind, literal := s.Scan()
		switch {
		case kind == token.EOF:
			return found
		case kind != token.STRING:
		case strings.Contains(literal, "\n"):
			for i := range strings.Count(literal, "\n") + 1 {
				found[file.Line(at)+i] += maxColumns * maxColumns
			}
		case !strings.Contains(literal, " "):
			found[file.Line(at)] += utf8.RuneCountInString(literal)
		}
	}
}
