package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// mutant is one small change of a file.
type mutant struct {
	ID       string // file, place and change; it stays the same when lines move
	operator string
	in       string // the function or declaration around
	was      string // the original text, on one line

	from, to int    // the bytes that are replaced
	plain    string // the new text, for a reader and for a build of its own
	// switched returns code that is the original or the mutant, as the test program was started. part returns the text
	// of a part, with its own mutants in it. switched is nil if the mutant needs a build of its own.
	switched func(number int, part func(from, to int) string) string
	number   int // in its package, once that is built

	source *source
	unit   *unit
}

// finder collects the mutants of one file.
type finder struct {
	file    *token.File
	text    string
	in      string
	results []*ast.FieldList // of the functions around, the innermost last
	negated map[ast.Expr]bool
	found   []*mutant
}

func (f *finder) offset(at token.Pos) int { return f.file.Offset(at) }

func (f *finder) span(node ast.Node) (from, to int) {
	return f.offset(node.Pos()), f.offset(node.End())
}

func (f *finder) of(node ast.Node) string {
	from, to := f.span(node)
	return f.text[from:to]
}

func (f *finder) add(operator string, node ast.Node, plain string, switched func(int, func(int, int) string) string) {
	from, to := f.span(node)
	f.found = append(f.found, &mutant{
		operator: operator, in: f.in, was: oneLine(f.text[from:to]), from: from, to: to, plain: plain,
		switched: switched,
	})
}

// oneLine makes a text short enough for an id.
func oneLine(text string) string {
	const most = 100
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

func (f *finder) declaration(declared ast.Decl) {
	switch declared := declared.(type) {
	case *ast.FuncDecl:
		if declared.Body == nil {
			return
		}
		f.in = receiver(declared) + declared.Name.Name
		f.early(declared)
		f.function(declared.Type, declared.Body)
	case *ast.GenDecl:
		for _, spec := range declared.Specs {
			if values, ok := spec.(*ast.ValueSpec); ok {
				f.in = values.Names[0].Name
				first := len(f.found)
				f.walk(values)
				for _, m := range f.found[first:] {
					if declared.Tok == token.CONST {
						m.switched = nil
					}
				}
			}
		}
	}
}

func (f *finder) function(signature *ast.FuncType, body *ast.BlockStmt) {
	f.results = append(f.results, signature.Results)
	f.walk(body)
	f.results = f.results[:len(f.results)-1]
}

func (f *finder) walk(root ast.Node) {
	ast.Inspect(root, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncLit:
			f.function(node.Type, node.Body)
			return false
		case *ast.ArrayType:
			return false
		case *ast.StructType:
			return false
		case *ast.BlockStmt:
			f.statements(node.List)
		case *ast.CaseClause:
			f.statements(node.Body)
		case *ast.CommClause:
			f.statements(node.Body)
		case *ast.IfStmt:
			f.negate(node.Cond)
		case *ast.ForStmt:
			f.negate(node.Cond)
		case *ast.SwitchStmt:
			f.cases(node)
		case *ast.BinaryExpr:
			f.binary(node)
		case *ast.BasicLit:
			f.literal(node)
		case *ast.Ident:
			f.truth(node)
		}
		return true
	})
}

// cases negates the conditions of a switch without a tag.
func (f *finder) cases(node *ast.SwitchStmt) {
	if node.Tag != nil {
		return
	}
	for _, clause := range node.Body.List {
		if clause, ok := clause.(*ast.CaseClause); ok {
			for _, condition := range clause.List {
				f.negate(condition)
			}
		}
	}
}

func (f *finder) negate(condition ast.Expr) {
	if condition == nil {
		return
	}
	f.negated[condition] = true
	from, to := f.span(condition)
	f.add("negate", condition, "!("+f.of(condition)+")", func(n int, part func(int, int) string) string {
		return fmt.Sprintf("mutated(\n%d) != (%s)", n, part(from, to))
	})
}

// swaps are the operators that people confuse.
var swaps = map[token.Token]string{
	token.LAND: "||", token.LOR: "&&", token.EQL: "!=", token.NEQ: "==",
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.REM: "*",
	token.AND: "|", token.OR: "&", token.SHL: ">>", token.SHR: "<<",
}

func (f *finder) binary(node *ast.BinaryExpr) {
	other, known := swaps[node.Op]
	equality := node.Op == token.EQL || node.Op == token.NEQ
	if !known || equality && f.negated[node] { // that is the same mutant
		return
	}
	from, left := f.span(node.X)
	right, to := f.span(node.Y)
	plain := f.text[from:left] + " " + other + " " + f.text[right:to]
	var switched func(int, func(int, int) string) string
	switch was := node.Op.String(); node.Op {
	case token.LAND, token.LOR: // by De Morgan, so that the right side runs only when it ran before
		switched = func(n int, part func(int, int) string) string {
			return fmt.Sprintf("(((%[2]s) != mutated(\n%[1]d) %[4]s (%[3]s) != mutated(\n%[1]d)) != mutated(\n%[1]d))",
				n, part(from, left), part(right, to), was)
		}
	case token.EQL, token.NEQ:
		switched = func(n int, part func(int, int) string) string {
			return fmt.Sprintf("(mutated(\n%d) != (%s %s %s))", n, part(from, left), was, part(right, to))
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		switched = func(n int, part func(int, int) string) string {
			x, y := part(from, left), part(right, to)
			return fmt.Sprintf("(mutated(\n%[1]d) && %[2]s %[5]s %[3]s || !mutated(\n%[1]d) && %[2]s %[4]s %[3]s)", n,
				x, y, was, other)
		}
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM:
		switched = func(n int, part func(int, int) string) string {
			return fmt.Sprintf("mutant%s(\n%d, %s, %s)", arithmetic[node.Op], n, part(from, left), part(right, to))
		}
	}
	f.add("swap", node, plain, switched)
}

// literal changes a number by one, and empties a text. It leaves out texts with a space: those are prose, and tests do
// not check prose word by word.
func (f *finder) literal(node *ast.BasicLit) {
	var other string
	switch node.Kind {
	case token.INT:
		value, err := strconv.ParseInt(node.Value, 0, 64)
		if err != nil {
			return
		}
		other = strconv.FormatInt(value+1, 10)
	case token.STRING:
		value, err := strconv.Unquote(node.Value)
		if err != nil || strings.ContainsRune(value, ' ') {
			return
		}
		if other = `""`; value == "" {
			other = `"mutant"`
		}
	default:
		return
	}
	f.add("constant", node, other, func(n int, _ func(int, int) string) string {
		return fmt.Sprintf("mutantOf(\n%d, %s, %s)", n, node.Value, other)
	})
}

func (f *finder) truth(node *ast.Ident) {
	switch node.Name {
	case "true":
		f.add("constant", node, "false", func(n int, _ func(int, int) string) string {
			return fmt.Sprintf("!mutated(\n%d)", n)
		})
	case "false":
		f.add("constant", node, "true", func(n int, _ func(int, int) string) string {
			return fmt.Sprintf("mutated(\n%d)", n)
		})
	}
}
