package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// annotation is how a test names its rules. A * at the end of a name stands for any ending. A long list takes several
// lines, each with its own "Rule:".
var annotation = regexp.MustCompile(`^// Rule: ([a-z0-9.*_-]+(?:, [a-z0-9.*_-]+)*)$`)

// ruleID is the form of a rule's id.
var ruleID = regexp.MustCompile(`^[a-z]+\.[a-z0-9_-]+$`)

// test is a test with the rules that it holds.
type test struct {
	File  string // from the module's folder
	Name  string // of the function, with a subtest's after a slash
	Rules []string
}

// readTests reads the annotations of all test files, in the order of the files.
func readTests(module fs.FS) ([]test, error) {
	var tests []test
	err := fs.WalkDir(module, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "testdata", "node_modules"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		found, err := readTestFile(name, source)
		tests = append(tests, found...)
		return err
	})
	return tests, err
}

func readTestFile(name string, source []byte) ([]test, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var tests []test
	for _, group := range file.Comments {
		for _, comment := range group.List {
			text, marked := comment.Text, strings.HasPrefix(comment.Text, "// Rule")
			if !marked {
				continue
			}
			at := files.Position(comment.Pos())
			named := annotation.FindStringSubmatch(text)
			function := testAround(file, comment)
			if named == nil || function == nil {
				return nil, fmt.Errorf("%s:%d: a test names rules as in %q", path.Base(name), at.Line,
					"// Rule: status.404, page.limit")
			}
			called := function.Name.Name
			if sub := subtestAt(files, function, at.Line); sub != "" {
				called += "/" + strings.ReplaceAll(sub, " ", "_")
			}
			tests = append(tests, test{File: name, Name: called, Rules: strings.Split(named[1], ", ")})
		}
	}
	return tests, nil
}

// testAround finds the test whose doc comment or body holds a comment.
func testAround(file *ast.File, comment *ast.Comment) *ast.FuncDecl {
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok || function.Recv != nil || !strings.HasPrefix(function.Name.Name, "Test") &&
			!strings.HasPrefix(function.Name.Name, "Fuzz") {
			continue
		}
		from := function.Pos()
		if function.Doc != nil {
			from = function.Doc.Pos()
		}
		if from <= comment.Pos() && comment.Pos() < function.End() {
			return function
		}
	}
	return nil
}

// subtestAt finds the name of the subtest beside or below a comment on this line. It is the argument of a t.Run, the
// key of a table's entry or the entry's first value.
func subtestAt(files *token.FileSet, function *ast.FuncDecl, line int) (name string) {
	ast.Inspect(function.Body, func(node ast.Node) bool {
		var named ast.Expr
		switch node := node.(type) {
		case *ast.KeyValueExpr:
			named = node.Key
		case *ast.CallExpr:
			if called, ok := node.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "Run" && len(node.Args) == 2 {
				named = node.Args[0]
			}
		case *ast.CompositeLit:
			if len(node.Elts) > 0 && node.Type == nil {
				named = node.Elts[0]
			}
		}
		literal, ok := named.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING || name != "" {
			return true
		}
		if starts := files.Position(node.Pos()).Line; starts == line || starts == line+1 {
			name, _ = strconv.Unquote(literal.Value)
		}
		return true
	})
	return name
}
