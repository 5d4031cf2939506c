// Command readable makes the generated files of a folder read like Go written by hand: comments for go doc, lines of at
// most 120 columns, and no exported names that nobody can use. It runs last, after the generators.
//
//   - A type's comment is a sentence about the type, "Payout is ..." or "PayoutCreate books ...". A field's comment is
//     the description of the field, without its name. A comment that only repeats the name of its field is removed.
//   - A word in backticks that names a field becomes the Go name of that field. Other words in backticks are quoted.
//   - The types of -unexport get a lower-case first letter.
//   - The types and constants of -rename get another name, where the one of the description reads badly in Go.
//   - An alias of a plain type, such as a page size, is replaced by that type, unless -aliases keeps it.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

func main() {
	log.SetFlags(0)
	unexport := flag.String("unexport", "", "types that programs do not need, separated by commas")
	rename := flag.String("rename", "", "Old=New, for types and constants, separated by commas")
	keep := flag.Bool("aliases", false, "keep aliases of plain types")
	flag.Parse()
	for _, folder := range flag.Args() {
		if err := run(folder, *unexport, *rename, *keep); err != nil {
			log.Fatal("readable: ", err)
		}
	}
}

func run(folder, unexport, rename string, keepAliases bool) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*.gen.go"))
	if err != nil {
		return err
	}
	p := &pkg{aliases: keepAliases, fields: map[string]map[string]string{}, known: map[string]bool{},
		values: map[string]int{}, constants: map[string]bool{}, renamed: map[string]string{}}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parse(path, source)
		if err != nil {
			return err
		}
		p.files = append(p.files, f)
		p.read(f.syntax)
	}
	if err := p.unexport(unexport); err != nil {
		return err
	}
	if err := p.rename(rename); err != nil {
		return err
	}
	for _, f := range p.files {
		source, err := p.rewrite(f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		if err := os.WriteFile(f.path, source, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pkg is what is known about all generated files of a folder.
type pkg struct {
	files     []*file
	aliases   bool                         // keep aliases of plain types
	fields    map[string]map[string]string // the Go names of each type's fields, by their names on the wire
	known     map[string]bool              // types with a method Known
	values    map[string]int               // how many constants a type has
	constants map[string]bool              // the typed constants
	renamed   map[string]string            // new names by the old ones
}

// file is one generated file.
type file struct {
	path   string
	source []byte
	fset   *token.FileSet
	syntax *ast.File
}

func parse(path string, source []byte) (*file, error) {
	f := &file{path: path, source: source, fset: token.NewFileSet()}
	var err error
	f.syntax, err = parser.ParseFile(f.fset, path, source, parser.ParseComments|parser.SkipObjectResolution)
	return f, err
}

func (f *file) offset(at token.Pos) int { return f.fset.Position(at).Offset }

// edit replaces a part of a source.
type edit struct {
	from, to int
	text     string
}

// apply makes all edits. They must not overlap.
func apply(source []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	for _, e := range edits {
		source = slices.Concat(source[:e.from], []byte(e.text), source[e.to:])
	}
	return source
}

// rewrite returns a file with its final names, comments and lines.
func (p *pkg) rewrite(f *file) ([]byte, error) {
	steps := []func(*file) ([]edit, error){p.names, p.comments, wrapComments}
	for _, step := range steps {
		if err := f.change(step); err != nil {
			return nil, err
		}
	}
	// A line that was broken can hold another that is too long.
	for range 10 {
		before := len(f.source)
		if err := f.change(breakLines); err != nil {
			return nil, err
		}
		if len(f.source) == before {
			break
		}
	}
	return f.source, nil
}

// change applies the edits that a step proposes.
func (f *file) change(step func(*file) ([]edit, error)) error {
	edits, err := step(f)
	if err != nil {
		return err
	}
	changed, err := format.Source(apply(f.source, edits))
	if err != nil {
		return err
	}
	again, err := parse(f.path, changed)
	if err != nil {
		return err
	}
	*f = *again
	return nil
}

// read notes the facts of the package that comments and names need.
func (p *pkg) read(syntax *ast.File) {
	for _, declaration := range syntax.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && d.Name.Name == "Known" {
				p.known[types.ExprString(d.Recv.List[0].Type)] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if value, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.CONST && value.Type != nil {
					p.values[types.ExprString(value.Type)] += len(value.Names)
					for _, name := range value.Names {
						p.constants[name.Name] = true
					}
				}
				typ, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if body, isStruct := typ.Type.(*ast.StructType); isStruct {
					p.fields[typ.Name.Name] = goNames(body)
				}
				if p.inlines(typ) {
					p.renamed[typ.Name.Name] = types.ExprString(typ.Type)
				}
			}
		}
	}
}

// inlines reports an alias of a basic type or of bytes. It is replaced by that type.
func (p *pkg) inlines(typ *ast.TypeSpec) bool {
	if p.aliases || !typ.Assign.IsValid() {
		return false
	}
	expression := types.ExprString(typ.Type)
	return types.Universe.Lookup(expression) != nil || expression == "[]byte"
}

// unexport notes the names that only the package may use.
func (p *pkg) unexport(names string) error {
	for name := range strings.SplitSeq(names, ",") {
		if name == "" {
			continue
		}
		small := []rune(name)
		small[0] = unicode.ToLower(small[0])
		if !p.declares(name) {
			return fmt.Errorf("no type %s to unexport", name)
		}
		p.renamed[name] = string(small)
	}
	return nil
}

// rename notes the names that are other ones in Go.
func (p *pkg) rename(pairs string) error {
	for pair := range strings.SplitSeq(pairs, ",") {
		if pair == "" {
			continue
		}
		from, to, _ := strings.Cut(pair, "=")
		if !token.IsExported(to) || !p.declares(from) && !p.constants[from] {
			return fmt.Errorf("no type or constant to rename as in %s", pair)
		}
		p.renamed[from] = to
	}
	return nil
}

func (p *pkg) declares(name string) bool {
	for _, f := range p.files {
		for _, declaration := range f.syntax.Decls {
			if _, typ := typeOf(declaration); typ != nil && typ.Name.Name == name {
				return true
			}
		}
	}
	return false
}

// names renames. It also removes the aliases of plain types and the placeholders of empty templates.
func (p *pkg) names(f *file) ([]edit, error) {
	var edits []edit
	fields := map[*ast.Ident]bool{} // names that are not types
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			if value, ok := first(n).(*ast.ValueSpec); ok && n.Tok == token.VAR && value.Names[0].Name == "_" &&
				value.Type == nil {
				edits = append(edits, edit{f.offset(n.Pos()), f.offset(n.End()), ""})
				return false
			}
			if typ, ok := first(n).(*ast.TypeSpec); ok && p.inlines(typ) {
				from := n.Pos()
				if n.Doc != nil {
					from = n.Doc.Pos()
				}
				edits = append(edits, edit{f.offset(from), f.offset(n.End()), ""})
				return false
			}
		case *ast.Field:
			for _, name := range n.Names {
				fields[name] = true
			}
		case *ast.SelectorExpr:
			fields[n.Sel] = true
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok {
				fields[key] = true
			}
		case *ast.FuncDecl:
			if n.Recv != nil {
				fields[n.Name] = true
			}
		case *ast.Ident:
			if to := p.renamed[n.Name]; to != "" && !fields[n] {
				edits = append(edits, edit{f.offset(n.Pos()), f.offset(n.End()), to})
			}
		}
		return true
	})
	return append(edits, p.namesInComments(f, edits)...), nil
}

// namesInComments renames a type at the start of its comment.
func (p *pkg) namesInComments(f *file, changed []edit) (edits []edit) {
	for _, declaration := range f.syntax.Decls {
		d, typ := typeOf(declaration)
		if typ == nil || d.Doc == nil {
			continue
		}
		to := p.renamed[typ.Name.Name]
		from := f.offset(d.Doc.Pos()) + len("// ")
		if to == "" || p.inlines(typ) || !strings.HasPrefix(string(f.source[from:]), typ.Name.Name) {
			continue
		}
		edits = append(edits, edit{from, from + len(typ.Name.Name), to})
	}
	return edits
}

// typeOf returns the type that a declaration declares, or nil. The generator declares each type by itself.
func typeOf(declaration ast.Decl) (*ast.GenDecl, *ast.TypeSpec) {
	d, ok := declaration.(*ast.GenDecl)
	if !ok {
		return nil, nil
	}
	typ, _ := first(d).(*ast.TypeSpec)
	return d, typ
}

func first(d *ast.GenDecl) ast.Spec {
	if len(d.Specs) == 0 {
		return nil
	}
	return d.Specs[0]
}
