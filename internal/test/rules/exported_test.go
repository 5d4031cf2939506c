package rules_test

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/tier"
)

// shownPackages are those of the SDK that programs import.
var shownPackages = []string{
	".", "model", "dapi", "appapi", "refapi", "public", "errors", "signing", "recorded", "fleet", "payments",
}

// shownV0 are the modules of a version 0 whose types the SDK's exported ones may show. None: such a module may change
// at any release, and the SDK's own version could then not stay 1.
var shownV0 []string

// A type of a module that is not stable is not shown, so that leaving the module is no change for a user.
func TestNoExportedTypeShowsAV0Module(t *testing.T) {
	e := typed(t)
	shown := &shown{exports: e, modules: map[string][]string{}, seen: map[types.Type]bool{}}
	for _, pkg := range e.packages {
		for _, name := range pkg.Scope().Names() {
			if object := pkg.Scope().Lookup(name); object.Exported() {
				shown.look(pkg.Name()+"."+name, object.Type())
			}
		}
	}
	require.Greater(t, len(shown.seen), 500, "next to nothing was looked at")
	require.Contains(t, slices.Collect(maps.Keys(shown.modules)), "github.com/shopspring/decimal",
		"the types of other modules are found")
	for mod, places := range shown.modules {
		if strings.HasPrefix(shown.versions[mod], "v0.") && !slices.Contains(shownV0, mod) {
			assert.Empty(t, places, "%s %s is shown here", mod, shown.versions[mod])
		}
	}
}

// exports are the packages that programs import, with the types of what they export.
type exports struct {
	packages []*types.Package
	moduleOf map[string]string // of a package
	versions map[string]string // of a module
}

// typed reads them by the export data that the compiler writes. All tests share it.
func typed(t *testing.T) *exports {
	t.Helper()
	tier.Long(t, "starts the go command")
	e, err := imported()
	require.NoError(t, err)
	return e
}

var imported = sync.OnceValues(func() (*exports, error) {
	paths := make([]string, len(shownPackages))
	for i, name := range shownPackages {
		paths[i] = strings.TrimSuffix(module+"/"+name, "/.")
	}
	const format = `{{.ImportPath}}|{{.Export}}|{{with .Module}}{{.Path}}|{{.Version}}{{else}}|{{end}}`
	e, files := &exports{moduleOf: map[string]string{}, versions: map[string]string{}}, map[string]string{}
	err := goList(append([]string{"-export", "-f", format}, paths...), func(fields []string) {
		files[fields[0]], e.moduleOf[fields[0]], e.versions[fields[2]] = fields[1], fields[2], fields[3]
	})
	if err != nil {
		return nil, err
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
	for _, path := range paths {
		pkg, err := from.Import(path)
		if err != nil {
			return nil, err
		}
		e.packages = append(e.packages, pkg)
	}
	return e, nil
})

// shown is what of other modules the exported identifiers of the SDK show.
type shown struct {
	*exports

	modules map[string][]string // where a module's types are shown
	seen    map[types.Type]bool
}

// look notes the modules whose types a type shows. Of a type of the SDK it looks at what is exported, of any other at
// no more than its name and its arguments.
func (s *shown) look(at string, of types.Type) {
	of = types.Unalias(of)
	named, isNamed := of.(interface {
		Obj() *types.TypeName
		TypeArgs() *types.TypeList
	})
	if isNamed {
		for arg := range named.TypeArgs().Types() {
			s.look(at, arg)
		}
		pkg := named.Obj().Pkg()
		if pkg == nil {
			return
		}
		if mod := s.moduleOf[pkg.Path()]; mod != module {
			if mod != "" {
				s.modules[mod] = append(s.modules[mod], fmt.Sprintf("%s: %s.%s", at, pkg.Name(), named.Obj().Name()))
			}
			return
		}
	}
	if s.seen[of] {
		return
	}
	s.seen[of] = true
	if isNamed {
		methods := types.NewMethodSet(types.NewPointer(of))
		if types.IsInterface(of) {
			methods = types.NewMethodSet(of)
		}
		for method := range methods.Methods() {
			if method.Obj().Exported() {
				s.look(at+"."+method.Obj().Name(), method.Type())
			}
		}
	}
	switch u := of.Underlying().(type) {
	case *types.Struct:
		for field := range u.Fields() {
			if field.Exported() || field.Embedded() {
				s.look(at+"."+field.Name(), field.Type())
			}
		}
	case *types.Interface:
		for method := range u.Methods() {
			if method.Exported() {
				s.look(at+"."+method.Name(), method.Type())
			}
		}
		for embedded := range u.EmbeddedTypes() {
			s.look(at, embedded)
		}
	case *types.Signature:
		for _, parameters := range []*types.TypeParamList{u.TypeParams(), u.RecvTypeParams()} {
			for parameter := range parameters.TypeParams() {
				s.look(at, parameter.Constraint())
			}
		}
		for parameter := range u.Params().Variables() {
			s.look(at, parameter.Type())
		}
		for result := range u.Results().Variables() {
			s.look(at, result.Type())
		}
	case *types.Map:
		s.look(at, u.Key())
		s.look(at, u.Elem())
	case interface{ Elem() types.Type }: // a pointer, a slice, an array or a channel
		s.look(at, u.Elem())
	case *types.Union:
		for term := range u.Terms() {
			s.look(at, term.Type())
		}
	}
}
