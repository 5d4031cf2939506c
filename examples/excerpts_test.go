package examples_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
