package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// linking are the folders whose errors are on the page.
var linking = []string{
	".", "errors", "dapi", "fleet", "payments", "payments/postgres", "payments/sqlite", "refapi", "signing",
	"signing/wallet",
}

// Every link that the text of an error can have points at an entry of the page, and every error type links to its own.
func TestErrorTextsLinkToTheirEntries(t *testing.T) {
	source, err := os.ReadFile(errorPage)
	require.NoError(t, err)
	entries := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^### (.+)$`).FindAllStringSubmatch(string(source), -1) {
		entries[errorbase.Anchor(heading[1])] = true
	}
	for _, code := range errors.Codes() {
		refused := &errors.Refusal{Code: code}
		_, anchor, _ := strings.Cut(refused.Error(), errorbase.PageAddress+"#")
		assert.Equal(t, string(code), anchor)
		assert.True(t, entries[anchor], "%s has no entry", code)
	}
	types := 0
	for _, folder := range linking {
		files, err := filepath.Glob(filepath.Join("../../..", folder, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			require.NoError(t, err)
			for _, anchor := range namedAnchors(file) {
				assert.True(t, entries[anchor], "%s: no entry for #%s", name, anchor)
			}
			for typ, links := range errorTypes(file) {
				types++
				assert.True(t, links, "%s: the text of %s has no link: build it with errorbase.Text", name, typ)
				assert.True(t, entries[errorbase.Anchor(file.Name.Name+"."+typ)] || file.Name.Name == "errors",
					"%s: %s has no entry", name, typ)
			}
		}
	}
	assert.Greater(t, types, 80, "next to nothing was looked at")
}

// errorTypes returns the exported types of a file that have a method Error, and whether its text has a link.
func errorTypes(file *ast.File) map[string]bool {
	found := map[string]bool{}
	for _, declared := range file.Decls {
		method, ok := declared.(*ast.FuncDecl)
		if !ok || method.Recv == nil || method.Name.Name != "Error" {
			continue
		}
		of := method.Recv.List[0].Type
		if pointer, ok := of.(*ast.StarExpr); ok {
			of = pointer.X
		}
		name, ok := of.(*ast.Ident)
		if !ok || !name.IsExported() {
			continue
		}
		ast.Inspect(method.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if ok {
				from, _ := call.X.(*ast.Ident)
				links := from != nil && from.Name == "errorbase" || call.Sel.Name == "line"
				found[name.Name] = found[name.Name] || links
			}
			return true
		})
		found[name.Name] = found[name.Name] || false
	}
	return found
}

// namedAnchors returns the anchors that a file names by their entries: errorbase.Anchor("errors.InvalidInput").
func namedAnchors(file *ast.File) (anchors []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		called, ok := call.Fun.(*ast.SelectorExpr)
		literal, isLiteral := call.Args[0].(*ast.BasicLit)
		if ok && isLiteral && called.Sel.Name == "Anchor" {
			if entry, err := strconv.Unquote(literal.Value); err == nil {
				anchors = append(anchors, errorbase.Anchor(entry))
			}
		}
		return true
	})
	return anchors
}

// What does not link, or links to nothing, is found.
func TestATextWithoutALinkIsFound(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", `package dapi

func (e *Linked) Error() string { return errorbase.Text(e, "no") }
func (e *Lined) Error() string  { return e.line().String() }
func (*Bare) Error() string     { return "no" }
func (*hidden) Error() string   { return "no" }

var anchor = errorbase.Anchor("dapi.Linked")
`, 0)
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"Linked": true, "Lined": true, "Bare": false}, errorTypes(file))
	assert.Equal(t, []string{"dapilinked"}, namedAnchors(file))
}
