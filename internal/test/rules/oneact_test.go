package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oneAct is an act that has one guarded implementation. A second one is written without the guard, sooner or later.
type oneAct struct {
	what  string   // to do instead
	homes []string // the folders where the act is allowed
	in    string   // the folder where the rule holds
	found func(*ast.File) []ast.Node
}

var oneActs = []oneAct{
	{"sign with signing.SignChallenge or signing.SignApproval, which read the bytes first", []string{
		"signing/", "internal/tools/codegen/bundle/"}, "", signatures}, // the examples' key is nobody's
	{"put names into SQL with package sqlname, which checks them", []string{
		"payments/postgres/internal/sqlname/", "examples/"}, "", schemaNames},
	{"write through internal/app, which cleans what a terminal would obey", []string{"cmd/moneymove/internal/app/"},
		"cmd/", terminals},
	{"send through internal/transport, which guards what it sends and what comes", []string{
		"cmd/moneymove/internal/control/"}, "cmd/", clients}, // whose host is this machine
	{"write words for a shell with internal/shell, which a real shell has read", []string{"internal/shell/"}, "",
		shellQuotes},
}

// signatures finds the calls and the values of a method Sign that takes a message. A method called Sign may pass the
// message on: it is a signer itself. Package signing may get a value, to make a key of it. Sign of a number takes
// nothing, and that of a checked approval only a context.
func signatures(file *ast.File) (found []ast.Node) {
	harmless := map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return n.Recv == nil || n.Name.Name != "Sign"
		case *ast.CallExpr:
			harmless[n.Fun] = len(n.Args) < 2
			if called, is := n.Fun.(*ast.SelectorExpr); is && isNamed(called.X, "signing") {
				for _, argument := range n.Args {
					harmless[argument] = true
				}
			}
		case *ast.SelectorExpr:
			if n.Sel.Name == "Sign" && !harmless[n] {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

func isNamed(x ast.Expr, name string) bool {
	identifier, is := x.(*ast.Ident)
	return is && identifier.Name == name
}

// terminals finds the streams of the process, and what prints on them.
func terminals(file *ast.File) (found []ast.Node) {
	ast.Inspect(file, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is && (isNamed(s.X, "os") && strings.HasPrefix(s.Sel.Name, "Std") ||
			isNamed(s.X, "fmt") && strings.HasPrefix(s.Sel.Name, "Print")) {
			found = append(found, n)
		}
		return true
	})
	return found
}

// shellQuotes finds a text that ends and begins quotes of a shell, as only the code that puts words into them needs.
func shellQuotes(file *ast.File) (found []ast.Node) {
	ast.Inspect(file, func(n ast.Node) bool {
		literal, is := n.(*ast.BasicLit)
		if !is || literal.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(literal.Value); err == nil && text == `'\''` {
			found = append(found, n)
		}
		return true
	})
	return found
}

// clients finds what sends requests past the SDK.
func clients(file *ast.File) (found []ast.Node) {
	ast.Inspect(file, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is && isNamed(s.X, "http") && slices.Contains([]string{"Client", "Transport",
			"DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"}, s.Sel.Name) {
			found = append(found, n)
		}
		return true
	})
	return found
}

// schemaNames finds what quotes a name for SQL, or puts one in its place.
func schemaNames(file *ast.File) (found []ast.Node) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if isNamed(n.X, "pgx") && n.Sel.Name == "Identifier" {
				found = append(found, n)
			}
		case *ast.BasicLit:
			if n.Value == `"{schema}"` {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

// repeatedActs returns where the programs of a tree do one of the acts outside its home. Tests may.
func repeatedActs(t *testing.T, tree fs.FS) (found []string, files int) {
	t.Helper()
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && skipped(entry.Name()) {
			return fs.SkipDir
		}
		if entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, content, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, act := range oneActs {
			isHome := func(home string) bool { return strings.HasPrefix(name, home) }
			if !strings.HasPrefix(name, act.in) || slices.ContainsFunc(act.homes, isHome) {
				continue
			}
			for _, node := range act.found(file) {
				found = append(found, set.Position(node.Pos()).String()+": "+act.what)
			}
		}
		return nil
	}))
	return found, files
}

func TestAGuardedActIsWrittenOnce(t *testing.T) {
	found, files := repeatedActs(t, os.DirFS(root))
	require.Greater(t, files, 500, "the walk found next to nothing")
	assert.Empty(t, found)
}

func TestASecondImplementationIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		file, body string
		found      int
	}{
		"a signature":              {"a/a.go", "key.Sign(ctx, payload)", 1},
		"of a key of the standard": {"a/a.go", "key.Sign(rand.Reader, digest, nil)", 1},
		"through a value":          {"a/a.go", "f := key.Sign; f(ctx, payload)", 1},
		"a key of a value":         {"a/a.go", "signing.NewRemoteKey(public, vault.Sign)", 0},
		"in the package":           {"signing/a.go", "key.Sign(ctx, payload)", 0},
		"in a test":                {"a/a_test.go", "key.Sign(ctx, payload)", 0},
		"of a number":              {"a/a.go", "n.Sign()", 0},
		"of a checked approval":    {"a/a.go", "checked.Sign(ctx)", 0},
		"a signer's own":           {"a/a.go", "}\nfunc (s signer) Sign(ctx C, m []byte) { s.inner.Sign(ctx, m)", 0},
		"a function of that name":  {"a/a.go", "}\nfunc Sign(ctx C, m []byte) { key.Sign(ctx, m)", 1},
		"a quoted name":            {"a/a.go", "pgx.Identifier{name}.Sanitize()", 1},
		"a place of a name":        {"a/a.go", `strings.ReplaceAll(text, "{schema}", name)`, 1},
		"a print":                  {"cmd/a.go", "fmt.Println(id)", 1},
		"the stream":               {"cmd/a.go", "fmt.Fprintln(os.Stderr, id)", 1},
		"of another program":       {"a/a.go", "fmt.Println(id)", 0},
		"quotes of a shell":        {"a/a.go", "strings.ReplaceAll(word, \"'\", `'\\''`)", 1},
		"another client":           {"cmd/a.go", "(&http.Client{}).Do(request)", 1},
		"the client of the SDK":    {"cmd/a.go", "transport.NewBare().RoundTrip(request)", 0},
		"a statement":              {"a/a.go", `named.In("SELECT 1 FROM {schema}.a")`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			content := "package a\n\nfunc a() {\n" + c.body + "\n}\n"
			found, files := repeatedActs(t, fstest.MapFS{c.file: {Data: []byte(content)}})
			assert.Len(t, found, c.found)
			assert.Equal(t, strings.HasSuffix(c.file, "_test.go"), files == 0)
		})
	}
}
