package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"unicode"
)

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
