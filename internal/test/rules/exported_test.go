package rules_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/doc"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// shownPackages are those of the SDK that programs import.
var shownPackages = []string{
	".", "model", "dapi", "appapi", "refapi", "public", "errors", "signing", "recorded", "fleet", "payments",
}

// writtenByPrograms are types that programs write themselves, with the reason.
var writtenByPrograms = map[string]string{
	"dapi.Applicant":     "its Map method returns a value for KYBInformation.Applicant, which is a map",
	"dapi.SessionLocker": "a TokenStore can have its methods as well",
	"fleet.Memory":       "the Windows of tests",
}

// No exported type shows a type of another module that is not stable, so that we can leave that module unnoticed.
// A program cannot name a type of an internal package, and an alias of a plain type, such as a page size, says no more
// than the plain type.
func TestExportedTypesShowNoUnexportedOnes(t *testing.T) {
	e := typed(t)
	r := newReach(e)
	for _, object := range e.exported() {
		at := object.Pkg().Name() + "." + object.Name()
		if name, is := object.(*types.TypeName); is && name.IsAlias() {
			_, named := types.Unalias(name.Type()).(*types.Named)
			assert.True(t, named, "%s is an alias of %s", at, types.Unalias(name.Type()))
		}
		r.visit(at, object.Type())
	}
	require.Greater(t, len(r.seen), 500, "next to nothing was checked")
	decimals := false
	for name, at := range r.shown {
		of, path := e.moduleOf[name.Pkg().Path()], name.Pkg().Path()
		decimals = decimals || of == "github.com/shopspring/decimal"
		hidden := of == module && strings.Contains(path, "/internal/") && !unexported.MatchString(at)
		assert.False(t, hidden, "%s shows %s.%s", at, path, name.Name())
		assert.False(t, of != module && strings.HasPrefix(e.versions[of], "v0."), "%s shows %s.%s, of %s", at, path,
			name.Name(), e.versions[of])
	}
	assert.True(t, decimals, "the types of other modules are found")
}

// An exported type is there to be used: an exported function, method or field takes, returns or holds it, an error
// carries it, or it is one of the types that a union holds. A type that nothing leads to only fills the documentation.
func TestExportedTypesAreReachable(t *testing.T) {
	r := newReach(typed(t))
	var all []*types.TypeName
	for _, object := range r.exported() {
		name, isType := object.(*types.TypeName)
		if isType {
			all = append(all, name)
		}
		if _, isConst := object.(*types.Const); !isConst && (!isType || usedDirectly(object.Type())) {
			r.visit("", object.Type())
		}
	}
	r.unions(all)
	require.Greater(t, len(all), 300, "next to nothing was checked")
	for _, object := range all {
		name := object.Pkg().Name() + "." + object.Name()
		_, reached := r.shown[object]
		assert.True(t, reached || writtenByPrograms[name] != "",
			"no exported function, method or field leads to %s: unexport or remove it", name)
	}
}

// unexported finds an embedded field in a place. Programs see no more than the methods of its type.
var unexported = regexp.MustCompile(`\.[a-z]`)

// usedDirectly reports a type that programs name themselves: an error or an interface of errors, which errors.As finds,
// and a handler of HTTP requests, which a server takes.
func usedDirectly(of types.Type) bool {
	pointer := types.NewPointer(of)
	asError, _ := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	handles, _, _ := types.LookupFieldOrMethod(pointer, true, nil, "ServeHTTP")
	return types.Implements(pointer, asError) || types.Implements(of, asError) || handles != nil
}

// exports are the packages that programs import, with the types of what they export.
type exports struct {
	packages []*types.Package
	moduleOf map[string]string // of a package
	versions map[string]string // of a module
}

func (e *exports) exported() (objects []types.Object) {
	for _, pkg := range e.packages {
		for _, name := range pkg.Scope().Names() {
			if object := pkg.Scope().Lookup(name); object.Exported() {
				objects = append(objects, object)
			}
		}
	}
	return objects
}

// typed reads them by the export data that the compiler writes. All tests share it.
func typed(t *testing.T) *exports {
	t.Helper()
	testkit.Long(t, "starts the go command")
	e, err := imported()
	require.NoError(t, err)
	return e
}

var imported = sync.OnceValues(func() (*exports, error) {
	e, files := &exports{moduleOf: map[string]string{}, versions: map[string]string{}}, map[string]string{}
	const format = `{{.ImportPath}}|{{.Export}}|{{with .Module}}{{.Path}}|{{.Version}}{{else}}|{{end}}`
	lines, err := goList(shownPackages, "-export", "-f", format)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		fields := strings.Split(line, "|")
		files[fields[0]], e.moduleOf[fields[0]], e.versions[fields[2]] = fields[1], fields[2], fields[3]
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
	for _, name := range shownPackages {
		pkg, err := from.Import(strings.TrimSuffix(module+"/"+name, "/."))
		if err != nil {
			return nil, err
		}
		e.packages = append(e.packages, pkg)
	}
	return e, nil
})

// goList runs `go list -deps` on folders, without cgo, which the modules promise to build without.
func goList(folders []string, args ...string) (lines []string, err error) {
	args = append([]string{"list", "-buildvcs=false", "-deps"}, args...)
	for _, folder := range folders {
		args = append(args, "./"+folder)
	}
	list := exec.CommandContext(context.Background(), "go", args...)
	list.Dir = filepath.FromSlash(root)
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr strings.Builder
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, &stderr)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), nil
}

// reach is what exported identifiers lead to.
type reach struct {
	*exports

	shown map[*types.TypeName]string // the first place of each
	seen  map[types.Type]bool
}

func newReach(e *exports) *reach {
	return &reach{exports: e, shown: map[*types.TypeName]string{}, seen: map[types.Type]bool{}}
}

func (r *reach) own(name *types.TypeName) bool {
	return name.Pkg() != nil && r.moduleOf[name.Pkg().Path()] == module
}

// unions adds the types that an interface of the SDK with an unexported method, such as that of a union, stands for.
func (r *reach) unions(all []*types.TypeName) {
	stands := func(object *types.TypeName) bool {
		for reached, at := range r.shown {
			sealed, is := reached.Type().Underlying().(*types.Interface)
			hides := func(method *types.Func) bool { return !method.Exported() }
			if is && r.own(reached) && slices.ContainsFunc(slices.Collect(sealed.Methods()), hides) &&
				types.Implements(object.Type(), sealed) {
				r.visit(at, object.Type())
				return true
			}
		}
		return false
	}
	for found := true; found; {
		found = false
		for _, object := range all {
			_, known := r.shown[object]
			found = !known && !types.IsInterface(object.Type()) && stands(object) || found
		}
	}
}

// visit notes a type and what its exported fields and methods lead to. Of a type of another module it notes no more
// than the name and the arguments.
func (r *reach) visit(at string, of types.Type) {
	if u, is := of.(interface{ Obj() *types.TypeName }); is && u.Obj().Pkg() != nil { // or else it is error or any
		if place, known := r.shown[u.Obj()]; !known || unexported.MatchString(place) {
			r.shown[u.Obj()] = at
		}
	}
	if r.seen[of] {
		return
	}
	r.seen[of] = true
	switch u := of.(type) {
	case *types.Alias:
		r.visit(at, types.Unalias(u))
	case *types.Named:
		r.named(at, u)
	case *types.TypeParam:
		r.visit(at, u.Constraint())
	case *types.Struct:
		for field := range u.Fields() {
			if field.Exported() || field.Embedded() {
				r.visit(at+"."+field.Name(), field.Type())
			}
		}
	case *types.Interface:
		for method := range u.Methods() {
			if method.Exported() {
				r.visit(at+"."+method.Name(), method.Type())
			}
		}
		for embedded := range u.EmbeddedTypes() {
			r.visit(at, embedded)
		}
	case *types.Union:
		for term := range u.Terms() {
			r.visit(at, term.Type())
		}
	case *types.Signature:
		for parameter := range u.TypeParams().TypeParams() {
			r.visit(at, parameter)
		}
		for _, tuple := range []*types.Tuple{u.Params(), u.Results()} {
			for variable := range tuple.Variables() {
				r.visit(at, variable.Type())
			}
		}
	case *types.Map:
		r.visit(at, u.Key())
		r.visit(at, u.Elem())
	case interface{ Elem() types.Type }: // a pointer, a slice, an array or a channel
		r.visit(at, u.Elem())
	}
}

func (r *reach) named(at string, named *types.Named) {
	for arg := range named.TypeArgs().Types() {
		r.visit(at, arg)
	}
	named = named.Origin()
	if !r.own(named.Obj()) || strings.Contains(named.Obj().Pkg().Path(), "/internal/") {
		return
	}
	r.visit(at, named.Underlying())
	methods := types.NewMethodSet(types.NewPointer(named))
	for method := range methods.Methods() {
		if method.Obj().Exported() {
			r.visit(at+"."+method.Obj().Name(), method.Obj().Type())
		}
	}
}

// surfaces are the packages with clients, and how many services each has at least: fewer means that the search is
// broken.
var surfaces = map[string]int{"dapi": 10, "appapi": 10, "refapi": 7, "public": 2}

// A reader searches an example beside a service before she reads its methods.
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
