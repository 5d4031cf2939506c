package main

import (
	"bytes"
	"fmt"
	"go/types"
	"strings"
)

// writer writes the API of a package. Each line has its full name, so that a difference can be read by itself.
type writer struct {
	bytes.Buffer

	pkg *types.Package
}

// textOf lists what a package exports, in alphabetical order: constants with their values, variables, functions, and
// types with their fields and methods.
func textOf(pkg *types.Package) []byte {
	w := &writer{pkg: pkg}
	fmt.Fprintf(w, "package %s // import %q\n\n", pkg.Name(), pkg.Path())
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		switch object := scope.Lookup(name).(type) {
		case *types.Const:
			if object.Exported() {
				fmt.Fprintf(w, "const %s %s = %s\n", name, w.name(object.Type()), object.Val().ExactString())
			}
		case *types.Var:
			if object.Exported() {
				fmt.Fprintf(w, "var %s %s\n", name, w.name(object.Type()))
			}
		case *types.Func:
			if object.Exported() {
				fmt.Fprintf(w, "func %s%s\n", name, w.signature(object.Type()))
			}
		case *types.TypeName:
			if object.Exported() {
				w.declared(object)
			}
		}
	}
	return w.Bytes()
}

// name writes a type. A type of another package has its package's name in front.
func (w *writer) name(t types.Type) string { return types.TypeString(t, w.qualifier) }

func (w *writer) qualifier(other *types.Package) string {
	if other == w.pkg {
		return ""
	}
	return other.Name()
}

// signature writes the parameters and results of a function.
func (w *writer) signature(function types.Type) string {
	return strings.TrimPrefix(w.name(function), "func")
}

// declared writes a type. For an alias of a type that programs cannot import, it writes the parts of that type.
func (w *writer) declared(object *types.TypeName) {
	of := object.Name()
	if object.IsAlias() {
		target := types.Unalias(object.Type())
		fmt.Fprintf(w, "type %s = %s\n", of, w.name(target))
		if named, is := target.(*types.Named); is && w.hidden(named) {
			w.members(of, named)
		}
		return
	}
	if named, is := object.Type().(*types.Named); is {
		w.members(w.name(named), named)
	}
}

// hidden reports a type without its own reference page.
func (w *writer) hidden(named *types.Named) bool {
	object := named.Obj()
	return object.Pkg() != nil && (internal(object.Pkg().Path()) || !object.Exported())
}

func (w *writer) members(of string, named *types.Named) {
	kind := w.name(named.Underlying())
	shape, isStruct := named.Underlying().(*types.Struct)
	if isStruct {
		kind = "struct"
	}
	_, isInterface := named.Underlying().(*types.Interface)
	if isInterface {
		kind = "interface"
	}
	parameters := ""
	if named.TypeParams().Len() > 0 {
		parameters = " // " + constraints(w, named.TypeParams())
	}
	fmt.Fprintf(w, "type %s %s%s\n", of, kind, parameters)
	if isStruct {
		w.fields(of, shape)
	}
	w.methods(of, named, isInterface)
}

func constraints(w *writer, parameters *types.TypeParamList) string {
	var all []string
	for parameter := range parameters.TypeParams() {
		all = append(all, parameter.String()+" "+w.name(parameter.Constraint()))
	}
	return strings.Join(all, ", ")
}

// fields writes the exported fields, and those of an embedded type that is hidden.
func (w *writer) fields(of string, shape *types.Struct) {
	for field := range shape.Fields() {
		if field.Exported() {
			embedded := ""
			if field.Embedded() {
				embedded = " // embedded"
			}
			fmt.Fprintf(w, "field %s.%s %s%s\n", of, field.Name(), w.name(field.Type()), embedded)
		}
		if inner, is := field.Type().(*types.Named); is && field.Embedded() && w.hidden(inner) {
			if promoted, is := inner.Underlying().(*types.Struct); is {
				w.fields(of, promoted)
			}
		}
	}
}

// methods writes the methods of a pointer to the type, each with its receiver.
func (w *writer) methods(of string, named *types.Named, isInterface bool) {
	byValue := types.NewMethodSet(named)
	all := byValue
	if !isInterface {
		all = types.NewMethodSet(types.NewPointer(named))
	}
	unexported := false
	for method := range all.Methods() {
		object := method.Obj()
		if !object.Exported() {
			unexported = true
			continue
		}
		receiver := "*" + of
		if byValue.Lookup(object.Pkg(), object.Name()) != nil {
			receiver = of
		}
		fmt.Fprintf(w, "method (%s) %s%s\n", receiver, object.Name(), w.signature(method.Type()))
	}
	if isInterface && unexported {
		fmt.Fprintf(w, "method (%s) unexported\n", of)
	}
}
