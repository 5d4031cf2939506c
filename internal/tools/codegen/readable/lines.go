package main

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/gosource"
)

// breakLines breaks each line that is too wide at one place. It takes the outermost place that can be broken: the
// fields of a literal, parameters, arguments, the values of a case, or conditions. It does not break texts and tags.
func breakLines(f *file) (edits []edit, err error) {
	wide := map[int]bool{}
	for i, line := range strings.Split(string(f.source), "\n") {
		if gosource.Columns(line) > gosource.Most && !strings.HasPrefix(strings.TrimSpace(line), "//") {
			wide[i+1] = true
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if n == nil {
			return true
		}
		number := f.fset.Position(n.Pos()).Line
		if !wide[number] {
			return true
		}
		if broken := f.broken(n, number); broken != nil {
			wide[number] = false
			edits = append(edits, broken...)
		}
		return true
	})
	return edits, nil
}

// broken returns the edits that break a node over several lines, or nil if that does not help.
func (f *file) broken(n ast.Node, number int) []edit {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return f.brokenParameters(n.Type.Params, number)
	case *ast.FuncType:
		return f.brokenParameters(n.Params, number)
	case *ast.CompositeLit:
		if len(n.Elts) > 0 {
			return f.list(n.Lbrace, n.Rbrace, nodes(n.Elts), keyed(n.Elts), number)
		}
	case *ast.CallExpr:
		if len(n.Args) > 0 {
			return f.list(n.Lparen, n.Rparen, nodes(n.Args), false, number)
		}
	case *ast.CaseClause:
		return f.filled(nodes(n.List), n.Colon, number)
	case *ast.BinaryExpr:
		if n.Op == token.LAND || n.Op == token.LOR {
			return f.condition(n, number)
		}
	}
	return nil
}

func (f *file) brokenParameters(params *ast.FieldList, number int) []edit {
	if params == nil || len(params.List) == 0 {
		return nil
	}
	var all []ast.Node
	for _, field := range params.List {
		all = append(all, field)
	}
	return f.list(params.Opening, params.Closing, all, false, number)
}

func nodes[T ast.Node](all []T) (as []ast.Node) {
	for _, n := range all {
		as = append(as, n)
	}
	return as
}

func keyed(all []ast.Expr) bool {
	_, is := all[0].(*ast.KeyValueExpr)
	return is
}

// list puts the elements between brackets on their own lines: one for each, or as many as fit. An element that ends on
// another line, such as the body of a function, stays.
func (f *file) list(opening, closing token.Pos, elements []ast.Node, each bool, number int) []edit {
	if f.fset.Position(opening).Line != number || f.fset.Position(closing).Line != number {
		return nil
	}
	edits := []edit{{f.offset(opening) + 1, f.offset(elements[0].Pos()), "\n"}}
	if each {
		for i := 1; i < len(elements); i++ {
			edits = append(edits, edit{f.offset(elements[i-1].End()), f.offset(elements[i].Pos()), ",\n"})
		}
	} else {
		edits = append(edits, f.fill(elements, f.indent(number)+4)...)
	}
	return append(edits, edit{f.offset(elements[len(elements)-1].End()), f.offset(closing), ",\n"})
}

// filled breaks the values of a case, with as many on a line as fit.
func (f *file) filled(elements []ast.Node, colon token.Pos, number int) []edit {
	if len(elements) < 2 || f.fset.Position(colon).Line != number {
		return nil
	}
	return f.fill(elements, f.indent(number)+len("case "))
}

// fill breaks between elements, with as many on a line as fit.
func (f *file) fill(elements []ast.Node, column int) (edits []edit) {
	at := column
	for i, element := range elements {
		width := f.offset(element.End()) - f.offset(element.Pos()) + len(", ")
		if i > 0 && at+width > gosource.Most {
			edits = append(edits, edit{f.offset(elements[i-1].End()), f.offset(element.Pos()), ",\n"})
			at = column
		}
		at += width
	}
	return edits
}

// condition breaks a chain of conditions after the last operator that still fits.
func (f *file) condition(n *ast.BinaryExpr, number int) []edit {
	var best *ast.BinaryExpr
	for chain := ast.Expr(n); ; {
		b, is := chain.(*ast.BinaryExpr)
		if !is || b.Op != n.Op {
			break
		}
		line := f.line(number)
		end := f.fset.Position(b.OpPos).Column - 1 + len("&&")
		if f.fset.Position(b.OpPos).Line == number && end <= len(line) &&
			gosource.Columns(line[:end]) <= gosource.Most {
			best = b
			break
		}
		chain = b.X
	}
	if best == nil {
		return nil
	}
	after := f.offset(best.OpPos) + len("&&")
	if f.fset.Position(best.Y.Pos()).Line != number {
		return nil
	}
	return []edit{{after, f.offset(best.Y.Pos()), "\n"}}
}

func (f *file) indent(number int) int {
	line := f.line(number)
	return 4 * (len(line) - len(strings.TrimLeft(line, "\t")))
}
