// Package gosource reads the Go types of generated code, and breaks text into lines for files that are written. The
// generators share it, so that they agree about names, types and the width of a line.
package gosource

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// File is a generated file.
type File struct {
	Package string
	Structs map[string]*Struct
	Others  map[string]string // types that are not structs, with their definitions, such as "string" or "[]byte"
}

// Struct is a generated struct.
type Struct struct {
	ByWireName map[string]Field
	Order      []string // the wire names, in the order of the fields
}

// Field is a field of a struct.
type Field struct {
	Name    string
	Type    string   // as written, such as "*string" or "nullable.Nullable[string]"
	Options []string // of its tag, such as "omitempty"
}

// Secret reports the type of texts that do not print.
func Secret(typ string) bool { return typ == "moneymovement.Secret" }

// Parse reads a generated file.
func Parse(path string) (*File, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	file := &File{Package: parsed.Name.Name, Structs: map[string]*Struct{}, Others: map[string]string{}}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if body, ok := spec.Type.(*ast.StructType); ok {
			file.Structs[spec.Name.Name] = fieldsOf(body)
		} else {
			file.Others[spec.Name.Name] = types.ExprString(spec.Type)
		}
		return false
	})
	return file, nil
}

func fieldsOf(body *ast.StructType) *Struct {
	model := &Struct{ByWireName: map[string]Field{}}
	for _, field := range body.Fields.List {
		if field.Tag == nil || len(field.Names) != 1 {
			continue
		}
		tag, _ := strconv.Unquote(field.Tag.Value)
		wire, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		model.Order = append(model.Order, wire)
		model.ByWireName[wire] = Field{Name: field.Names[0].Name, Type: types.ExprString(field.Type),
			Options: strings.Split(options, ",")}
	}
	return model
}

// Most is the widest line, in columns.
const Most = 120

// Columns returns how wide a line is. A tab counts as four.
func Columns(line string) int {
	return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
}

// Lines breaks a text at its spaces into lines of at most Most columns. The first line begins with first, each other
// line with next. A word that is wider than a line has a line of its own.
func Lines(text, first, next string) []string {
	var lines []string
	line, words := first, 0
	for word := range strings.FieldsSeq(text) {
		if words > 0 && Columns(line+" "+word) > Most {
			lines, line, words = append(lines, line), next, 0
		}
		if words > 0 {
			line += " "
		}
		line += word
		words++
	}
	return append(lines, line)
}
