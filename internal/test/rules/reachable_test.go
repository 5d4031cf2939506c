package rules_test

import (
	"go/types"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An exported type is there to be used: an exported function, method or field takes, returns or holds it, an error
// carries it, or it is one of the types that a union holds. A type that nothing leads to only fills the documentation.
func TestExportedTypesAreReachable(t *testing.T) {
	origin := typed(t)
	r := &reach{origin: origin, types: map[*types.TypeName]bool{}, seen: map[types.Type]bool{}}
	var all []*types.TypeName
	for _, pkg := range origin.packages {
		for _, name := range pkg.Scope().Names() {
			switch object := pkg.Scope().Lookup(name).(type) {
			case *types.Func, *types.Var:
				if object.Exported() {
					r.visit(object.Type())
				}
			case *types.TypeName:
				if !object.Exported() {
					continue
				}
				all = append(all, object)
				if usedDirectly(object.Type()) {
					r.visit(object.Type())
				}
			}
		}
	}
	r.holders(all)
	require.Greater(t, len(all), 300, "next to nothing was looked at")

	var idle []string
	for _, object := range all {
		name := object.Pkg().Name() + "." + object.Name()
		if _, written := writtenByPrograms[name]; !r.types[object] && !written {
			idle = append(idle, name)
		}
	}
	slices.Sort(idle)
	assert.Empty(t, idle, "no exported function, method or field leads to these types: unexport or remove them")
}

// writtenByPrograms are types that programs write themselves, with the reason.
var writtenByPrograms = map[string]string{
	"dapi.Applicant":     "its Map method returns a value for KYBInformation.Applicant, which is a map",
	"dapi.SessionLocker": "a TokenStore can have its methods as well",
	"fleet.Memory":       "the Windows of tests",
}

// usedDirectly reports a type that programs name themselves: an error or an interface of errors, which errors.As finds,
// and a handler of HTTP requests, which a server takes.
func usedDirectly(of types.Type) bool {
	pointer := types.NewPointer(of)
	handles, _, _ := types.LookupFieldOrMethod(pointer, true, nil, "ServeHTTP")
	return types.Implements(pointer, errorInterface) || types.Implements(of, errorInterface) || handles != nil
}

var errorInterface = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// reach is what exported identifiers lead to.
type reach struct {
	origin *exports
	types  map[*types.TypeName]bool
	seen   map[types.Type]bool
}

// holders adds the types that an interface of the SDK with an unexported method, such as that of a union, stands for.
func (r *reach) holders(all []*types.TypeName) {
	for found := true; found; {
		found = false
		for _, object := range all {
			if r.types[object] || types.IsInterface(object.Type()) {
				continue
			}
			for reached := range r.types {
				sealed, isInterface := reached.Type().Underlying().(*types.Interface)
				if isInterface && r.sealed(reached, sealed) && types.Implements(object.Type(), sealed) {
					r.visit(object.Type())
					found = true
					break
				}
			}
		}
	}
}

func (r *reach) sealed(name *types.TypeName, of *types.Interface) bool {
	for method := range of.Methods() {
		if !method.Exported() {
			return r.own(name)
		}
	}
	return false
}

// own reports whether a type is the SDK's.
func (r *reach) own(name *types.TypeName) bool {
	return name.Pkg() != nil && r.origin.moduleOf[name.Pkg().Path()] == module
}

// visit notes a type and what its exported fields and methods lead to.
func (r *reach) visit(shown types.Type) {
	if r.seen[shown] {
		return
	}
	r.seen[shown] = true
	switch u := shown.(type) {
	case *types.Alias:
		r.types[u.Obj()] = true
		r.visit(types.Unalias(u))
	case *types.Named:
		r.named(u)
	case *types.TypeParam:
		r.visit(u.Constraint())
	case *types.Struct:
		for field := range u.Fields() {
			if field.Exported() || field.Embedded() {
				r.visit(field.Type())
			}
		}
	case *types.Interface:
		for method := range u.Methods() {
			if method.Exported() {
				r.visit(method.Type())
			}
		}
		for embedded := range u.EmbeddedTypes() {
			r.visit(embedded)
		}
	case *types.Union:
		for term := range u.Terms() {
			r.visit(term.Type())
		}
	case *types.Signature:
		for parameter := range u.TypeParams().TypeParams() {
			r.visit(parameter)
		}
		for parameter := range u.Params().Variables() {
			r.visit(parameter.Type())
		}
		for result := range u.Results().Variables() {
			r.visit(result.Type())
		}
	case *types.Map:
		r.visit(u.Key())
		r.visit(u.Elem())
	case interface{ Elem() types.Type }: // a pointer, a slice, an array or a channel
		r.visit(u.Elem())
	}
}

func (r *reach) named(named *types.Named) {
	for arg := range named.TypeArgs().Types() {
		r.visit(arg)
	}
	named = named.Origin()
	r.types[named.Obj()] = true
	if !r.own(named.Obj()) {
		return
	}
	r.visit(named.Underlying())
	methods := types.NewMethodSet(types.NewPointer(named))
	for method := range methods.Methods() {
		if method.Obj().Exported() {
			r.visit(method.Obj().Type())
		}
	}
}
