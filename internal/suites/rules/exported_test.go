package rules_test

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	shown := exported(t)
	require.Greater(t, len(shown.seen), 500, "next to nothing was looked at")
	require.Contains(t, slices.Collect(maps.Keys(shown.modules)), "github.com/shopspring/decimal",
		"the types of other modules are found")
	for mod, places := range shown.modules {
		if strings.HasPrefix(shown.versions[mod], "v0.") && !slices.Contains(shownV0, mod) {
			assert.Empty(t, places, "%s %s is shown here", mod, shown.versions[mod])
		}
	}
}

// exports is what of other modules the exported identifiers of the SDK show.
type exports struct {
	moduleOf map[string]string   // of a package
	versions map[string]string   // of a module
	modules  map[string][]string // where a module's types are shown
	seen     map[types.Type]bool
}

func newExports() *exports {
	return &exports{moduleOf: map[string]string{}, versions: map[string]string{}, modules: map[string][]string{},
		seen: map[types.Type]bool{}}
}

// exported looks at all of them.
func exported(t *testing.T) *exports {
	t.Helper()
	e := newExports()
	for _, pkg := range e.imported(t, shownPackages) {
		for _, name := range pkg.Scope().Names() {
			if object := pkg.Scope().Lookup(name); object.Exported() {
				e.look(pkg.Name()+"."+name, object.Type())
			}
		}
	}
	return e
}

// imported reads packages, by the export data that the compiler writes, and notes the modules of what they import.
func (e *exports) imported(t *testing.T, names []string) (packages []*types.Package) {
	t.Helper()
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = strings.TrimSuffix(module+"/"+name, "/.")
	}
	const format = `{{.ImportPath}}|{{.Export}}|{{with .Module}}{{.Path}}|{{.Version}}{{else}}|{{end}}`
	list := exec.CommandContext(t.Context(), "go",
		append([]string{"list", "-buildvcs=false", "-deps", "-export", "-f", format}, paths...)...)
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	require.NoError(t, err)

	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		require.Len(t, fields, 4, line)
		files[fields[0]], e.moduleOf[fields[0]], e.versions[fields[2]] = fields[1], fields[2], fields[3]
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
	for _, path := range paths {
		pkg, err := from.Import(path)
		require.NoError(t, err)
		packages = append(packages, pkg)
	}
	return packages
}

// look notes the modules whose types a type shows. Of a type of the SDK it looks at what is exported, of any other at
// no more than its name and its arguments.
func (e *exports) look(at string, shown types.Type) {
	shown = types.Unalias(shown)
	named, isNamed := shown.(interface {
		Obj() *types.TypeName
		TypeArgs() *types.TypeList
	})
	if isNamed {
		for arg := range named.TypeArgs().Types() {
			e.look(at, arg)
		}
		pkg := named.Obj().Pkg()
		if pkg == nil {
			return
		}
		if mod := e.moduleOf[pkg.Path()]; mod != module {
			if mod != "" {
				e.modules[mod] = append(e.modules[mod], fmt.Sprintf("%s: %s.%s", at, pkg.Name(), named.Obj().Name()))
			}
			return
		}
	}
	if e.seen[shown] {
		return
	}
	e.seen[shown] = true
	if isNamed {
		methods := types.NewMethodSet(types.NewPointer(shown))
		if types.IsInterface(shown) {
			methods = types.NewMethodSet(shown)
		}
		for method := range methods.Methods() {
			if method.Obj().Exported() {
				e.look(at+"."+method.Obj().Name(), method.Type())
			}
		}
	}
	switch u := shown.Underlying().(type) {
	case *types.Struct:
		for field := range u.Fields() {
			if field.Exported() || field.Embedded() {
				e.look(at+"."+field.Name(), field.Type())
			}
		}
	case *types.Interface:
		for method := range u.Methods() {
			if method.Exported() {
				e.look(at+"."+method.Name(), method.Type())
			}
		}
		for embedded := range u.EmbeddedTypes() {
			e.look(at, embedded)
		}
	case *types.Signature:
		for _, parameters := range []*types.TypeParamList{u.TypeParams(), u.RecvTypeParams()} {
			for parameter := range parameters.TypeParams() {
				e.look(at, parameter.Constraint())
			}
		}
		for parameter := range u.Params().Variables() {
			e.look(at, parameter.Type())
		}
		for result := range u.Results().Variables() {
			e.look(at, result.Type())
		}
	case *types.Map:
		e.look(at, u.Key())
		e.look(at, u.Elem())
	case interface{ Elem() types.Type }: // a pointer, a slice, an array or a channel
		e.look(at, u.Elem())
	case *types.Union:
		for term := range u.Terms() {
			e.look(at, term.Type())
		}
	}
}
