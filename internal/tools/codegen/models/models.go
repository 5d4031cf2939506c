// Package models reads the Go types of generated code. Generators that add code to these types share it, so that they
// always agree.
package models

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
	"strings"
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
