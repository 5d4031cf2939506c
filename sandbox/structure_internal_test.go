package sandbox

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noImports leaves other packages out: what they have is none of this package's.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("left out") }

// Files that use or declare fields and methods of Host are above host.go. host.go and all other files use no
// declarations of those files.
func TestFilesDependInOneDirection(t *testing.T) {
	set := token.NewFileSet()
	var files []*ast.File
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, file)
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := config.Check("sandbox", set, files, info)
	fileOf := func(at token.Pos) string { return set.Position(at).Filename }

	host := pkg.Scope().Lookup("Host").Type().(*types.Named)
	ofHost := map[types.Object]bool{}
	for field := range host.Underlying().(*types.Struct).Fields() {
		ofHost[field] = true
	}
	above := map[string]bool{}
	for method := range host.Methods() {
		ofHost[method] = true
		above[fileOf(method.Pos())] = true
	}
	for name, object := range info.Uses {
		if ofHost[object] {
			above[fileOf(name.Pos())] = true
		}
	}
	delete(above, "host.go")
	assert.True(t, above["faults.go"] && above["control.go"] && above["control_calls.go"] && above["observe.go"], "%v",
		above)

	for name, object := range info.Uses {
		if object.Pkg() == pkg && above[fileOf(object.Pos())] && !above[fileOf(name.Pos())] {
			assert.Fail(t, "a file uses what stands above host.go", "%s: %s of %s", set.Position(name.Pos()), name.Name,
				fileOf(object.Pos()))
		}
	}
}

// control.yaml and the routes that the host serves are the same.
func TestControlsMatchTheirDescription(t *testing.T) {
	document, err := controlDescription()
	require.NoError(t, err)
	require.NoError(t, document.Validate(t.Context()))
	var described []string
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			described = append(described, controlRoute{method, path}.String())
			assert.NotEmpty(t, operation.Summary, path)
			assert.Len(t, operation.Tags, 1, path)
		}
	}
	var served []string
	for route := range maps.Keys(control{New()}.routes()) {
		served = append(served, route.String())
	}
	slices.Sort(described)
	slices.Sort(served)
	assert.Equal(t, described, served)
}
