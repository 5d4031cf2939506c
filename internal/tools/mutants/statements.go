package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// statements removes each statement that declares nothing, and returns nil in place of errors.
func (f *finder) statements(list []ast.Stmt) {
	for _, statement := range list {
		switch statement := statement.(type) {
		case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt, *ast.RangeStmt, *ast.BranchStmt:
			f.drop(statement)
		case *ast.IfStmt:
			if statement.Else == nil {
				f.drop(statement)
			}
		case *ast.AssignStmt:
			if statement.Tok != token.DEFINE && !blank(statement) {
				f.drop(statement)
			}
			f.instead(statement, statement.Tok, []token.Token{token.ADD_ASSIGN, token.SUB_ASSIGN})
		case *ast.IncDecStmt:
			f.drop(statement)
			f.instead(statement, statement.Tok, []token.Token{token.INC, token.DEC})
		case *ast.ReturnStmt:
			if len(statement.Results) > 0 {
				f.nilError(statement)
			}
		}
	}
}

// blank reports an assignment to _ only, which has no effect.
func blank(statement *ast.AssignStmt) bool {
	for _, to := range statement.Lhs {
		if name, ok := to.(*ast.Ident); !ok || name.Name != "_" {
			return false
		}
	}
	return true
}

func (f *finder) drop(statement ast.Stmt) {
	from, to := f.span(statement)
	f.add("drop", statement, "", func(n int, part func(int, int) string) string {
		return fmt.Sprintf("if !mutated(\n%d) { %s }", n, part(from, to))
	})
}

// instead exchanges the two operators of a statement.
func (f *finder) instead(statement ast.Stmt, is token.Token, pair []token.Token) {
	for i, one := range pair {
		if is != one {
			continue
		}
		from, to := f.span(statement)
		other := strings.Replace(f.text[from:to], one.String(), pair[1-i].String(), 1)
		f.add("swap", statement, other, func(n int, part func(int, int) string) string {
			return fmt.Sprintf("if mutated(\n%d) { %s } else { %s }", n, other, part(from, to))
		})
	}
}

// nilError returns nil in place of an error.
func (f *finder) nilError(statement *ast.ReturnStmt) {
	results := f.results[len(f.results)-1]
	last := statement.Results[len(statement.Results)-1]
	if kind, ok := results.List[len(results.List)-1].Type.(*ast.Ident); !ok || kind.Name != "error" ||
		f.of(last) == "nil" {
		return
	}
	if len(statement.Results) != results.NumFields() {
		return // the results of another function
	}
	from, to := f.span(statement)
	head := f.text[from:f.offset(last.Pos())]
	f.add("nil", statement, head+"nil", func(n int, part func(int, int) string) string {
		return fmt.Sprintf("if mutated(\n%d) { %snil }; %s", n, head, part(from, to))
	})
}

// early returns at once from a function without results.
func (f *finder) early(function *ast.FuncDecl) {
	if len(function.Body.List) == 0 || returnsNothing(function.Body) {
		return
	}
	var zeros []string
	if results := function.Type.Results; results != nil {
		for _, field := range results.List {
			zero := "*new(" + f.of(field.Type) + ")"
			for range max(1, len(field.Names)) {
				zeros = append(zeros, zero)
			}
		}
	}
	first := function.Body.List[0]
	from, _ := f.span(first)
	at := "return " + strings.Join(zeros, ", ")
	f.found = append(f.found, &mutant{
		operator: "early", in: f.in, from: from, to: from, plain: "if true { " + at + " }\n",
		switched: func(n int, _ func(int, int) string) string {
			return fmt.Sprintf("if mutated(\n%d) { %s }; ", n, at)
		},
	})
}

// returnsNothing reports a body that returns only what an early return would return.
func returnsNothing(body *ast.BlockStmt) bool {
	statement, ok := body.List[0].(*ast.ReturnStmt)
	if !ok {
		return false
	}
	for _, result := range statement.Results {
		switch result := result.(type) {
		case *ast.Ident:
			if result.Name != "nil" && result.Name != "false" {
				return false
			}
		case *ast.BasicLit:
			if result.Value != "0" && result.Value != `""` {
				return false
			}
		case *ast.CompositeLit:
			if len(result.Elts) > 0 {
				return false
			}
			switch result.Type.(type) {
			case *ast.ArrayType, *ast.MapType: // not nil
				return false
			}
		default:
			return false
		}
	}
	return true
}
