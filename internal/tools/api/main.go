// Command api writes the exported API of modules as text, one file for each package that programs can import. The files
// beside it are committed, so that a review shows each change of the API: `make api-write` writes them, and `make api`
// compares.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// root is the module whose path begins the paths of the others.
const root = "github.com/moneymovement/moneymovement-go"

func main() {
	log.SetFlags(0)
	folder := flag.String("o", ".", "folder for the files")
	flag.Parse()
	texts, err := describe(flag.Args())
	for name, text := range texts {
		err = errors.Join(err, os.WriteFile(filepath.Join(*folder, name), text, 0o644))
	}
	if err != nil {
		log.Fatal("api: ", err)
	}
}

// describe returns the text of each package below the folders, by the name of its file. It reads the compiler's export
// data.
func describe(folders []string) (map[string][]byte, error) {
	list := exec.CommandContext(context.Background(), "go", "list", "-buildvcs=false", "-deps", "-export", "-f",
		"{{.ImportPath}}|{{.Name}}|{{.Export}}|{{.DepOnly}}")
	for _, folder := range folders {
		list.Args = append(list.Args, "./"+folder+"/...")
	}
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	var paths []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		exports[fields[0]] = fields[2]
		if fields[1] != "main" && fields[3] == "false" && !internal(fields[0]) {
			paths = append(paths, fields[0])
		}
	}
	if len(paths) == 0 {
		return nil, errors.New("found no package")
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	texts := map[string][]byte{}
	for _, path := range paths {
		pkg, err := from.Import(path)
		if err != nil {
			return nil, err
		}
		texts[fileName(path)] = textOf(pkg)
	}
	return texts, nil
}

// internal reports a package that programs cannot import.
func internal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

// fileName returns dapi.txt for package dapi, and signing.wallet.txt for signing/wallet.
func fileName(path string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
	if name == "" {
		name = filepath.Base(root)
	}
	return strings.ReplaceAll(name, "/", ".") + ".txt"
}

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
