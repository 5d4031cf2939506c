package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
)

// mutant is one small change of a file.
type mutant struct {
	id   string // file, place and change; it stays the same when lines move
	file string // from the root, with slashes
	text string // of the file
	unit *unit

	from, to int // the bytes that are replaced
	with     string
}

// mutated returns the text of the file with the change.
func (m *mutant) mutated() string { return m.text[:m.from] + m.with + m.text[m.to:] }

// diff shows the lines that a mutant changes.
func (m *mutant) diff() string {
	from := strings.LastIndexByte(m.text[:m.from], '\n') + 1
	to := m.to + strings.IndexByte(m.text[m.to:]+"\n", '\n')
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s:%d\n", m.file, 1+strings.Count(m.text[:m.from], "\n"))
	for line := range strings.Lines(m.text[from:to]) {
		out.WriteString("-" + strings.TrimSuffix(line, "\n") + "\n")
	}
	for line := range strings.Lines(m.text[from:m.from] + m.with + m.text[m.to:to]) {
		out.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	return out.String()
}

// finder collects the mutants of one file.
type finder struct {
	source  *token.File
	name    string
	text    string
	in      string           // the function or declaration around
	results []*ast.FieldList // of the functions around, the innermost last
	negated map[ast.Expr]bool
	seen    map[string]int
	found   []*mutant
}

// find finds the mutants of a file, in the order of the text but for those of one statement.
func find(name, path string) ([]*mutant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := finder{source: files.File(file.Pos()), name: name, text: string(text), negated: map[ast.Expr]bool{},
		seen: map[string]int{}}
	for _, declared := range file.Decls {
		f.declaration(declared)
	}
	return f.found, nil
}

func (f *finder) span(node ast.Node) (from, to int) {
	return f.source.Offset(node.Pos()), f.source.Offset(node.End())
}

func (f *finder) of(node ast.Node) string {
	from, to := f.span(node)
	return f.text[from:to]
}

func (f *finder) add(operator string, node ast.Node, with string) {
	const most = 100
	from, to := f.span(node)
	id := f.name + " " + f.in + ": " + operator
	if operator == "early" {
		to = from // it goes before the statement
	} else if was := []rune(strings.Join(strings.Fields(f.text[from:to]), " ")); len(was) > most {
		id += ": " + string(was[:most]) + "..."
	} else {
		id += ": " + string(was)
	}
	if f.seen[id]++; f.seen[id] > 1 {
		id = fmt.Sprintf("%s #%d", id, f.seen[id])
	}
	f.found = append(f.found, &mutant{id: id, file: f.name, text: f.text, from: from, to: to, with: with})
}

func (f *finder) declaration(declared ast.Decl) {
	switch declared := declared.(type) {
	case *ast.FuncDecl:
		if declared.Body == nil {
			return
		}
		f.in = declared.Name.Name
		if declared.Recv != nil {
			of, _, _ := strings.Cut(strings.TrimPrefix(f.of(declared.Recv.List[0].Type), "*"), "[")
			f.in = of + "." + f.in
		}
		f.early(declared)
		f.function(declared.Type, declared.Body)
	case *ast.GenDecl:
		for _, spec := range declared.Specs {
			if values, ok := spec.(*ast.ValueSpec); ok {
				f.in = values.Names[0].Name
				f.walk(values)
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
		case *ast.ArrayType, *ast.StructType:
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
			if node.Tag == nil {
				for _, clause := range node.Body.List {
					if clause, ok := clause.(*ast.CaseClause); ok {
						for _, condition := range clause.List {
							f.negate(condition)
						}
					}
				}
			}
		case *ast.BinaryExpr:
			f.binary(node)
		case *ast.BasicLit:
			f.literal(node)
		case *ast.Ident:
			if other := map[string]string{"true": "false", "false": "true"}[node.Name]; other != "" {
				f.add("constant", node, other)
			}
		}
		return true
	})
}

func (f *finder) negate(condition ast.Expr) {
	if condition != nil {
		f.negated[condition] = true
		f.add("negate", condition, "!("+f.of(condition)+")")
	}
}

// swaps are the operators that people confuse.
var swaps = map[token.Token]string{
	token.LAND: "||", token.LOR: "&&", token.EQL: "!=", token.NEQ: "==",
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.REM: "*",
	token.AND: "|", token.OR: "&", token.SHL: ">>", token.SHR: "<<",
	token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.INC: "--", token.DEC: "++",
}

func (f *finder) binary(node *ast.BinaryExpr) {
	other, known := swaps[node.Op]
	equality := node.Op == token.EQL || node.Op == token.NEQ
	if !known || equality && f.negated[node] { // that is the same mutant
		return
	}
	f.add("swap", node, f.of(node.X)+" "+other+" "+f.of(node.Y))
}

// literal changes a number by one, and empties a text. It leaves out texts with a space: those are prose, and tests do
// not check prose word by word.
func (f *finder) literal(node *ast.BasicLit) {
	switch node.Kind {
	case token.INT:
		if value, err := strconv.ParseInt(node.Value, 0, 64); err == nil {
			f.add("constant", node, strconv.FormatInt(value+1, 10))
		}
	case token.STRING:
		value, err := strconv.Unquote(node.Value)
		if err == nil && value == "" {
			f.add("constant", node, `"mutant"`)
		} else if err == nil && !strings.ContainsRune(value, ' ') {
			f.add("constant", node, `""`)
		}
	}
}

// statements removes each statement that declares nothing, and returns nil in place of errors. A removed one
// stays in the text, so that no variable is unused.
func (f *finder) statements(list []ast.Stmt) {
	drop := func(statement ast.Stmt) { f.add("drop", statement, "if false { "+f.of(statement)+" }") }
	swap := func(statement ast.Stmt, is token.Token) {
		if other := swaps[is]; other != "" {
			f.add("swap", statement, strings.Replace(f.of(statement), is.String(), other, 1))
		}
	}
	for _, statement := range list {
		switch statement := statement.(type) {
		case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt, *ast.RangeStmt, *ast.BranchStmt:
			drop(statement)
		case *ast.IfStmt:
			if statement.Else == nil {
				drop(statement)
			}
		case *ast.AssignStmt:
			kept := func(to ast.Expr) bool { return f.of(to) != "_" }
			if statement.Tok != token.DEFINE && slices.ContainsFunc(statement.Lhs, kept) {
				drop(statement)
			}
			swap(statement, statement.Tok)
		case *ast.IncDecStmt:
			drop(statement)
			swap(statement, statement.Tok)
		case *ast.ReturnStmt:
			f.nilError(statement)
		}
	}
}

// nilError returns nil in place of an error.
func (f *finder) nilError(statement *ast.ReturnStmt) {
	results := f.results[len(f.results)-1]
	if len(statement.Results) == 0 || len(statement.Results) != results.NumFields() {
		return // the results are named, or those of another function
	}
	last := statement.Results[len(statement.Results)-1]
	if f.of(results.List[len(results.List)-1].Type) == "error" && f.of(last) != "nil" {
		from, _ := f.span(statement)
		f.add("nil", statement,
			"if true { "+f.text[from:f.source.Offset(last.Pos())]+"nil }; "+f.of(statement))
	}
}

// early returns at once from a function, with the zero values of its results.
func (f *finder) early(function *ast.FuncDecl) {
	if len(function.Body.List) == 0 || f.returnsNothing(function.Body.List[0]) {
		return
	}
	var zeros []string
	if results := function.Type.Results; results != nil {
		for _, field := range results.List {
			for range max(1, len(field.Names)) {
				zeros = append(zeros, "*new("+f.of(field.Type)+")")
			}
		}
	}
	f.add("early", function.Body.List[0], "if true { "+strings.TrimSpace("return "+strings.Join(zeros, ", "))+" }\n")
}

// returnsNothing reports a statement that returns only what an early return would return.
func (f *finder) returnsNothing(first ast.Stmt) bool {
	statement, ok := first.(*ast.ReturnStmt)
	if !ok {
		return false
	}
	for _, result := range statement.Results {
		switch text := f.of(result); text {
		case "nil", "false", "0", `""`:
		default:
			made, is := result.(*ast.CompositeLit)
			if !is || len(made.Elts) > 0 || strings.HasPrefix(text, "[]") || strings.HasPrefix(text, "map[") {
				return false // an empty list or map is not nil
			}
		}
	}
	return true
}
