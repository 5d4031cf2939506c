package rules_test

import (
	"go/ast"
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

// errorPage explains every error of the SDK.
const errorPage = root + "/docs/errors.md"

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
		code, _ := sources(t, filepath.Join(root, folder))
		for _, file := range code {
			linked, anchors := errorsIn(file)
			for _, anchor := range anchors {
				assert.True(t, entries[anchor], "%s: no entry for #%s", folder, anchor)
			}
			for typ, links := range linked {
				types++
				assert.True(t, links, "%s: the text of %s has no link: build it with errorbase.Text", folder, typ)
				assert.True(t, entries[errorbase.Anchor(file.Name.Name+"."+typ)] || folder == "errors",
					"%s: %s has no entry", folder, typ)
			}
		}
	}
	assert.Greater(t, types, 80, "next to nothing was checked")
}

// errorsIn returns the exported types of a file that have a method Error, with whether its text has a link, and the
// anchors that the file names by their entries: errorbase.Anchor("errors.InvalidInput").
func errorsIn(file *ast.File) (linked map[string]bool, anchors []string) {
	linked = map[string]bool{}
	for _, declared := range file.Decls {
		method, _ := declared.(*ast.FuncDecl)
		links := false
		ast.Inspect(declared, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				from, _ := n.X.(*ast.Ident)
				links = links || from != nil && from.Name == "errorbase" || n.Sel.Name == "line"
			case *ast.CallExpr:
				called, _ := n.Fun.(*ast.SelectorExpr)
				if called != nil && called.Sel.Name == "Anchor" && len(n.Args) == 1 {
					if entry, is := n.Args[0].(*ast.BasicLit); is {
						name, _ := strconv.Unquote(entry.Value)
						anchors = append(anchors, errorbase.Anchor(name))
					}
				}
			}
			return true
		})
		if method != nil && method.Recv != nil && method.Name.Name == "Error" {
			of := method.Recv.List[0].Type
			if pointer, is := of.(*ast.StarExpr); is {
				of = pointer.X
			}
			if name, is := of.(*ast.Ident); is && name.IsExported() {
				linked[name.Name] = links
			}
		}
	}
	return linked, anchors
}

// What does not link, or links to nothing, is found.
func TestATextWithoutALinkIsFound(t *testing.T) {
	linked, anchors := errorsIn(parsed(t, "a.go", `package dapi

func (e *Linked) Error() string { return errorbase.Text(e, "no") }
func (e *Lined) Error() string  { return e.line().String() }
func (Bare) Error() string      { return "no" }
func (*hidden) Error() string   { return "no" }

var anchor = errorbase.Anchor("dapi.Linked")
`))
	assert.Equal(t, map[string]bool{"Linked": true, "Lined": true, "Bare": false}, linked)
	assert.Equal(t, []string{"dapilinked"}, anchors)
}

// Every exported error type and error value of the SDK has an entry on the page, where its slug or its Go name stands.
func TestEveryErrorStandsOnThePage(t *testing.T) {
	source, err := os.ReadFile(errorPage)
	require.NoError(t, err)
	var found []string
	for name, lines := range apiOf(t) {
		if name != "sandbox.bolt" { // a file of the host, not a call
			found = append(found, errorsOf(lines)...)
		}
	}
	require.Greater(t, len(found), 90, "next to nothing was checked")
	assert.Subset(t, found, []string{"errors.QuoteExpired", "errors.Unrecognized", "dapi.PriceRefused",
		"wallet.TypedDataRefused", "signing.ErrNoKey"}, "types that have Error by embedding, and values, are found")
	for _, name := range found {
		entry := regexp.MustCompile("- (\\*\\*Go type\\*\\*: )?`\\*?" + regexp.QuoteMeta(name) + "`")
		assert.True(t, entry.Match(source),
			"%s is not on the page: add it to internal/tools/codegen/errorcatalogue/page.yaml, and run go generate "+
				"./errors", name)
	}
}

var (
	errorMethod = regexp.MustCompile(`^method \(\*?(\w+)\) Error\(\) string$`)
	errorValue  = regexp.MustCompile(`^var (\w+) (\S+)$`)
)

// errorsOf returns the names that the lines of a package have for errors: types, and variables such as ErrNoKey. An
// interface is not an error itself.
func errorsOf(lines []string) (names []string) {
	interfaces, kinds := map[string]bool{}, map[string]bool{"error": true}
	of := packageOf(lines) + "."
	for _, line := range lines {
		if name, is := strings.CutSuffix(strings.TrimPrefix(line, "type "), " interface"); is {
			interfaces[name] = true
		}
		if method := errorMethod.FindStringSubmatch(line); method != nil {
			kinds[method[1]], kinds["*"+method[1]] = true, true
			if !interfaces[method[1]] {
				names = append(names, of+method[1])
			}
		}
	}
	for _, line := range lines {
		value := errorValue.FindStringSubmatch(line)
		if value != nil && kinds[value[2]] && value[1] != "ErrUnsupported" { // the standard package's own
			names = append(names, of+value[1])
		}
	}
	return names
}
