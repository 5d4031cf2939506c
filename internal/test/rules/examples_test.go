package rules_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// surfaces are the packages with clients, and how many services each has at least: fewer means that the search is
// broken.
var surfaces = map[string]int{"dapi": 10, "appapi": 10, "refapi": 7, "public": 2}

// A reader looks for an example beside a service before reading its methods.
func TestEachServiceHasAnExample(t *testing.T) {
	for surface, least := range surfaces {
		t.Run(surface, func(t *testing.T) {
			code, tests := sources(t, filepath.Join(root, surface))
			found := services(code)
			require.GreaterOrEqual(t, len(found), least, "services of the clients: %v", found)
			assert.Empty(t, withoutExample(found, tests),
				"write an example in example_test.go, such as func ExampleService_Method")
		})
	}
}

// A package's documentation begins with its services, one line each.
func TestThePackageDocsListEachService(t *testing.T) {
	for surface := range surfaces {
		text, err := os.ReadFile(filepath.Join(root, surface, "doc.go"))
		require.NoError(t, err)
		code, _ := sources(t, filepath.Join(root, surface))
		for _, service := range services(code) {
			assert.Contains(t, string(text), "//   - ["+service+"]: ", "%s/doc.go", surface)
		}
	}
}

func TestAServiceWithoutAnExampleIsFound(t *testing.T) {
	code := parsed(t, "client.go", `package surface
		type Client struct { Things, Others *Things; Unplayed *Unplayed; unseen *Unseen; Price *Price }
		type Things struct { low int }
		func (*Things) Get() {}
		type Unplayed struct { low int }
		func (*Unplayed) Get() {}
		type Unseen struct { low int }
		func (*Unseen) Get() {}
		type Price struct { Amount int }
		func (*Price) String() string { return "" }`)
	tests := parsed(t, "example_test.go", `package surface_test
		func ExampleThings_Get() {}
		func TestUnplayed_Get() {}`)
	found := services([]*ast.File{code})
	assert.Equal(t, []string{"Things", "Unplayed"}, found)
	assert.Equal(t, []string{"Unplayed"}, withoutExample(found, []*ast.File{tests}))
}

// services returns the types that a client has as exported fields and that have methods: *Payouts, and not *Quote,
// which has exported fields of its own.
func services(code []*ast.File) (names []string) {
	fields, methods := map[string]*ast.StructType{}, map[string]bool{}
	for _, file := range code {
		for _, declared := range file.Decls {
			switch declared := declared.(type) {
			case *ast.GenDecl:
				for _, spec := range declared.Specs {
					if named, ok := spec.(*ast.TypeSpec); ok && named.Name.IsExported() {
						if of, isStruct := named.Type.(*ast.StructType); isStruct {
							fields[named.Name.Name] = of
						}
					}
				}
			case *ast.FuncDecl:
				if declared.Recv != nil && declared.Name.IsExported() {
					methods[pointedAt(declared.Recv.List[0].Type)] = true
				}
			}
		}
	}
	for _, client := range fields {
		for _, field := range client.Fields.List {
			service := pointedAt(field.Type)
			if of := fields[service]; of != nil && methods[service] && shows(field) &&
				!slices.ContainsFunc(of.Fields.List, shows) {
				names = append(names, service)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// pointedAt returns the name of the type that a pointer points at, or "" for another type.
func pointedAt(expression ast.Expr) string {
	if pointer, ok := expression.(*ast.StarExpr); ok {
		if named, ok := pointer.X.(*ast.Ident); ok {
			return named.Name
		}
	}
	return ""
}

func shows(field *ast.Field) bool { return slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) }

// withoutExample returns the services that have no example.
func withoutExample(services []string, tests []*ast.File) (lacking []string) {
	shown := map[string]bool{}
	for _, example := range doc.Examples(tests...) {
		service, _, _ := strings.Cut(example.Name, "_")
		shown[service] = true
	}
	for _, service := range services {
		if !shown[service] {
			lacking = append(lacking, service)
		}
	}
	return lacking
}

// sources parses the Go files of a folder.
func sources(t *testing.T, folder string) (code, tests []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		if strings.HasSuffix(name, "_test.go") {
			tests = append(tests, parsed(t, name, string(text)))
		} else {
			code = append(code, parsed(t, name, string(text)))
		}
	}
	return code, tests
}

func parsed(t *testing.T, name, text string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
	require.NoError(t, err)
	return file
}
