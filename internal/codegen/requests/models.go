package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// goStruct is a generated model.
type goStruct struct {
	byWireName map[string]goField
}

type goField struct {
	name string
	typ  string // as written, such as "*string" or "nullable.Nullable[string]"
}

// parseModels reads the structs of a generated file, by name.
func parseModels(path string) (models map[string]*goStruct, packageName string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, "", err
	}
	models = map[string]*goStruct{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if body, ok := spec.Type.(*ast.StructType); ok {
			models[spec.Name.Name] = fieldsOf(body)
		}
		return false
	})
	return models, file.Name.Name, nil
}

func fieldsOf(body *ast.StructType) *goStruct {
	model := &goStruct{byWireName: map[string]goField{}}
	for _, field := range body.Fields.List {
		if field.Tag == nil || len(field.Names) != 1 {
			continue
		}
		tag, _ := strconv.Unquote(field.Tag.Value)
		wire, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		model.byWireName[wire] = goField{name: field.Names[0].Name, typ: types.ExprString(field.Type)}
	}
	return model
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func refName(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }
