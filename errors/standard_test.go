package errors_test

import (
	stderrors "errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
)

// One import is enough: what the standard package exports, this one exports as well. A release of Go that adds a name
// fails here.
func TestTheStandardPackageIsExported(t *testing.T) {
	standard, err := build.Import("errors", "", build.FindOnly)
	require.NoError(t, err)
	own := exportedNames(t, ".")
	names := exportedNames(t, standard.Dir)
	require.Contains(t, names, "ErrUnsupported")
	require.Contains(t, names, "AsType")
	for name := range names {
		assert.Contains(t, own, name, "add errors.%s to failure.go", name)
	}
}

// And they are the same functions: errors of either package are found by the other.
func TestTheStandardFunctionsAreTheSame(t *testing.T) {
	assert.Equal(t, stderrors.ErrUnsupported, errors.ErrUnsupported)
	assert.ErrorIs(t, fmt.Errorf("a: %w", errors.ErrUnsupported), stderrors.ErrUnsupported)

	gone := &errors.Gone{}
	wrapped := fmt.Errorf("reading: %w", errors.Join(nil, io.EOF, gone))
	assert.True(t, errors.Is(wrapped, io.EOF))
	found, ok := errors.AsType[*errors.Gone](wrapped)
	assert.True(t, ok)
	assert.Same(t, gone, found)
	var as *errors.Gone
	assert.True(t, errors.As(wrapped, &as))
	assert.Same(t, gone, as)
	assert.EqualError(t, errors.Unwrap(wrapped), errors.Join(io.EOF, gone).Error())
	assert.EqualError(t, errors.New("text"), "text")
	assert.NoError(t, errors.Join(nil, nil))
}

// exportedNames are the names that a package exports, by its source.
func exportedNames(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range parsed.Decls {
			for _, name := range declared(declaration) {
				if name.IsExported() {
					names[name.Name] = true
				}
			}
		}
	}
	return names
}

// declared are the names of a declaration at the top of a file, without methods.
func declared(declaration ast.Decl) (names []*ast.Ident) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name)
			case *ast.ValueSpec:
				names = append(names, s.Names...)
			}
		}
	}
	return names
}
