package main

import (
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/description"
	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/gosource"
)

// Each shape of an object has a function that finds the field of a member in the shape's Go type.

// goTypes are the types that responses are decoded into.
type goTypes struct {
	own    *gosource.File
	shared *gosource.File // of package model, or nil
}

// goType is a Go type and where it is defined.
type goType struct {
	name   string // without a package
	shared bool   // defined in package model
}

// of returns the type that a field names.
func (t goType) of(name string) goType {
	if rest, foreign := strings.CutPrefix(name, "model."); foreign {
		return goType{name: rest, shared: true}
	}
	return goType{name: name, shared: t.shared}
}

func (t goType) String() string {
	if t.shared {
		return "model." + t.name
	}
	return t.name
}

func (g goTypes) file(t goType) *gosource.File {
	if t.shared {
		return g.shared
	}
	return g.own
}

// structOf returns the struct of a type, or nil.
func (g goTypes) structOf(t goType) *gosource.Struct {
	if file := g.file(t); file != nil {
		return file.Structs[t.name]
	}
	return nil
}

// basic returns the predeclared type that a type is defined as, or "".
func (g goTypes) basic(t goType) string {
	switch t.name {
	case "string", "int", "int64", "bool":
		return t.name
	}
	switch defined := g.file(t).Others[t.name]; defined {
	case "string", "int", "int64", "bool":
		return defined
	}
	return ""
}

// readable reports a type that package wire reads by itself.
func (g goTypes) readable(t goType) bool {
	switch t.name {
	case "string", "int", "int64", "bool", "time.Time", "decimal.Decimal", "Decimal":
		return true
	}
	model := g.structOf(t)
	return model != nil && len(model.ByWireName) > 0
}

// field returns the expression of the field that a member is read into.
func (g goTypes) field(owner goType, field gosource.Field) string {
	address := "&v." + field.Name
	switch rest, isPointer := strings.CutPrefix(field.Type, "*"); {
	case isPointer && g.readable(owner.of(rest)):
		return "wire.Optional(" + address + ")"
	case isPointer:
		return address
	}
	if item, isList := strings.CutPrefix(field.Type, "[]"); isList && item != "byte" {
		if item != "string" && g.basic(owner.of(item)) == "string" {
			return "wire.Words(" + address + ")"
		}
		return "wire.List(" + address + ")"
	}
	t := owner.of(field.Type)
	switch basic := g.basic(t); {
	case t.name == "Number":
		return address + ".Decimal"
	case basic != "" && basic != field.Type:
		return "(*" + basic + ")(" + address + ")"
	}
	return address
}

// typeOf returns the Go type of a schema of this file.
func (w *writer) typeOf(schema string) goType { return goType{name: schema, shared: w.exported} }

// fields writes the function that finds the field of a member.
func (w *writer) fields(name string, schema *openapi3.Schema) error {
	t := w.typeOf(name)
	w.line("\nfunc fieldOf%s(object any, name []byte) (int, any) {\nv := object.(*%s)\nswitch string(name) {", name, t)
	for i, property := range description.SortedKeys(schema.Properties) {
		field, ok := w.types.structOf(t).ByWireName[property]
		if !ok {
			return fmt.Errorf("%s: the Go type %s has no field for it", property, t)
		}
		pointed, isPointer := strings.CutPrefix(field.Type, "*")
		if isPointer && composite(named(schema.Properties[property]).Value) && !w.types.readable(t.of(pointed)) {
			return fmt.Errorf("%s: package wire cannot read a field of type %s", property, field.Type)
		}
		w.line("case %q:\nreturn %d, %s", property, i, w.types.field(t, field))
	}
	w.line("}\nreturn -1, nil\n}")
	return nil
}

// kept writes the function that returns what a union's Go type could not read.
func (w *writer) kept(name string) string {
	return fmt.Sprintf("func(union any) []byte {\nv := union.(*%s)\nif v.Variant() != nil {\nreturn nil\n}\n"+
		"return v.Raw()\n}", w.typeOf(name))
}
