package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/description"
	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/models"
)

// Each shape has a function that reports whether a value of its Go type is whole: no required field is zero. Most
// responses are whole. Only a response that is not whole is compared with its shape, so a response as described costs
// no more than these checks. A field can also be zero because the response says so. For the outermost object, the
// function looks that up in the body.

// goTypes are the types that responses are decoded into.
type goTypes struct {
	own    *models.File
	shared *models.File // of package model, or nil
}

// kind says how to find out that a value of a Go type is zero.
type kind struct {
	zero   string // a condition with %s for the value, "" if there is none
	unread string // a condition for a union that holds something it could not read
	model  *models.Struct
	shared bool
	item   string // of a slice
}

// kindOf looks up a type by its name in one of the files.
func (g goTypes) kindOf(typ string, inShared bool) kind {
	if name, foreign := strings.CutPrefix(typ, "model."); foreign {
		typ, inShared = name, true
	}
	file, qualifier := g.own, ""
	if inShared {
		file, qualifier = g.shared, "model."
	}
	switch {
	case models.Secret(typ):
		return kind{zero: "%s.IsZero()"}
	case file == nil: // a type that no response has
		return kind{}
	case strings.HasPrefix(typ, "*"):
		k := g.kindOf(typ[1:], inShared)
		return kind{zero: "%s == nil", model: k.model, shared: k.shared}
	case strings.HasPrefix(typ, "[]") && typ != "[]byte":
		return kind{zero: "%s == nil", item: typ[2:], shared: inShared}
	case strings.HasPrefix(typ, "map["), typ == "[]byte":
		return kind{zero: "%s == nil"}
	case typ == "string":
		return kind{zero: `%s == ""`}
	case typ == "bool":
		return kind{zero: "!%s"}
	case strings.HasPrefix(typ, "int"):
		return kind{zero: "%s == 0"}
	case typ == "time.Time", typ == "Date":
		return kind{zero: "%s.IsZero()"}
	case typ == "decimal.Decimal", typ == "Decimal":
		return kind{zero: "%s == (" + qualifier + "Decimal{})"}
	case typ == "Number":
		return kind{zero: "%s == (" + qualifier + "Number{})"}
	}
	if other, ok := file.Others[typ]; ok {
		k := g.kindOf(other, inShared)
		return k
	}
	model := file.Structs[typ]
	if model == nil {
		return kind{}
	}
	if len(model.ByWireName) == 0 { // a union, whose fields have no names on the wire
		if inShared {
			return kind{zero: "%[1]s.Variant() == nil && %[1]s.Raw() == nil",
				unread: "%[1]s.Variant() == nil && %[1]s.Raw() != nil"}
		}
		return kind{zero: "%[1]s.variant == nil && %[1]s.raw == nil",
			unread: "%[1]s.variant == nil && %[1]s.raw != nil"}
	}
	k := kind{model: model, shared: inShared}
	if g.comparable(model, inShared) {
		k.zero = "%s == (" + qualifier + typ + "{})"
	}
	return k
}

// comparable reports a struct whose values can be compared with ==.
func (g goTypes) comparable(model *models.Struct, inShared bool) bool {
	for _, field := range model.ByWireName {
		k := g.kindOf(field.Type, inShared)
		pointer := strings.HasPrefix(field.Type, "*")
		if k.zero == "" || k.unread != "" || !pointer &&
			(k.zero == "%s == nil" || k.model != nil && !g.comparable(k.model, k.shared)) {
			return false
		}
	}
	return true
}

// wholeOf writes the function of a schema's Go type, if something in it is required.
func (w *writer) wholeOf(name string, schema *openapi3.Schema, shared bool) {
	conditions, loops := w.missing(name, schema, shared)
	if len(conditions) == 0 && len(loops) == 0 {
		return
	}
	typ, function := name, "whole"+name
	if shared {
		typ, function = "model."+name, "Whole"+name
		w.line("\n// %s reports that nothing which has to be there is missing.", function)
	} else {
		w.line("")
	}
	w.line("func %s(v *%s, body *wire.Body) bool {", function, typ)
	for _, condition := range conditions {
		w.line("if %s {\nreturn false\n}", condition)
	}
	for _, loop := range loops {
		w.line("%s", loop)
	}
	w.line("return true\n}")
}

// missing returns the conditions under which a value is not whole, and the loops over its lists.
func (w *writer) missing(name string, schema *openapi3.Schema, shared bool) (conditions, loops []string) {
	file := w.types.own
	if shared {
		file = w.types.shared
	}
	model := file.Structs[name]
	if model == nil { // no response is decoded into it
		return nil, nil
	}
	for _, property := range description.SortedKeys(schema.Properties) {
		field, ok := model.ByWireName[property]
		if !ok {
			continue
		}
		ref := schema.Properties[property]
		value := "v." + field.Name
		k := w.types.kindOf(field.Type, shared)
		proof := ref.Value.Extensions["x-proof"] == true
		if (proof || slices.Contains(schema.Required, property)) && k.zero != "" {
			condition := fmt.Sprintf(k.zero, value)
			if !proof {
				condition += fmt.Sprintf(" && !body.SaysZero(%q)", property)
			}
			conditions = append(conditions, condition)
		}
		if k.unread != "" {
			conditions = append(conditions, w.unreadUnion(k, named(ref), value))
		}
		switch {
		case k.item != "":
			if check := w.entryMissing(k, ref, value); check != "" {
				loop := fmt.Sprintf("for i := range %s {\nif %s {\nreturn false\n}\n}", value, check)
				if strings.Contains(check, "&entries") {
					loop = fmt.Sprintf("{\nentries := body.Entries(len(%s))\n%s\n}", value, loop)
				}
				loops = append(loops, loop)
			}
		case k.model != nil && w.hasWhole(named(ref)):
			call := w.callWhole(named(ref), "&"+value, "nil")
			if strings.HasPrefix(field.Type, "*") {
				call = value + " != nil && !" + w.callWhole(named(ref), value, "nil")
			} else if k.zero != "" {
				call = "!(" + fmt.Sprintf(k.zero, value) + ") && !" + call
			} else {
				call = "!" + call
			}
			conditions = append(conditions, call)
		}
	}
	return conditions, loops
}

// entryMissing returns the condition under which an entry of a list is not whole. A zero entry may have been null.
func (w *writer) entryMissing(list kind, ref *openapi3.SchemaRef, value string) string {
	entry := value + "[i]"
	items := named(named(ref).Value.Items)
	k := w.types.kindOf(list.item, list.shared)
	switch {
	case k.unread != "":
		return w.unreadUnion(k, items, entry)
	case k.model != nil && w.hasWhole(items):
		return "!" + w.callWhole(items, "&"+entry, "&entries")
	case k.zero != "":
		return fmt.Sprintf(k.zero, entry)
	}
	return ""
}

// hasWhole reports a schema for which wholeOf writes a function.
func (w *writer) hasWhole(ref *openapi3.SchemaRef) bool {
	if !composite(ref.Value) || ref.Value.Discriminator != nil {
		return false
	}
	conditions, loops := w.missing(description.RefName(ref.Ref), ref.Value, w.fromShared(ref))
	return len(conditions) > 0 || len(loops) > 0
}

func (w *writer) callWhole(ref *openapi3.SchemaRef, argument, body string) string {
	return fmt.Sprintf("%s(%s, %s)", w.wholeName(ref), argument, body)
}

// wholeName returns the name of the function of a schema's Go type. The function is in the package of the type.
func (w *writer) wholeName(ref *openapi3.SchemaRef) string {
	name := description.RefName(ref.Ref)
	switch {
	case w.exported:
		return "Whole" + name
	case w.fromShared(ref):
		w.common = true
		return "answers.Whole" + name
	}
	w.wholes[name] = ref
	return "whole" + name
}

// unreadUnion returns the condition under which a union was not read.
func (w *writer) unreadUnion(k kind, ref *openapi3.SchemaRef, value string) string {
	raw := value + ".raw"
	if strings.Contains(k.unread, "Raw()") {
		raw = value + ".Raw()"
	}
	shape, _ := w.reference(ref)
	return fmt.Sprintf(k.unread, value) + " && " + strings.TrimPrefix(shape, "&") + ".Unread(" + raw + ")"
}

// fromShared reports a schema of the shared file, or one that is used by it.
func (w *writer) fromShared(ref *openapi3.SchemaRef) bool {
	return w.types.shared != nil && w.types.own.Structs[description.RefName(ref.Ref)] == nil
}

// wholesOf writes the functions that are needed, and the functions that those need.
func (w *writer) wholesOf() {
	for written := map[string]bool{}; len(written) < len(w.wholes); {
		for _, name := range description.SortedKeys(w.wholes) {
			if !written[name] {
				written[name] = true
				w.wholeOf(name, w.wholes[name].Value, false)
			}
		}
	}
}

// answer writes what is known about one operation's response.
func (w *writer) answer(op *openapi3.Operation, ref *openapi3.SchemaRef) error {
	shape, err := w.shape(ref)
	if err != nil {
		return err
	}
	proofs, _ := op.Extensions["x-proof"].([]any)
	if len(proofs) > 0 {
		shape = strings.TrimPrefix(shape, "&") + ".ProvenBy(" + quoted(proofs) + ")"
	}
	w.line("\nvar answer%s = wire.Answer{\nShape: %s,\nWhole: func(value any, body *wire.Body) bool {", op.OperationID,
		shape)
	target := named(ref)
	switch {
	case target.Value.Type.Is("array"):
		w.line("list := *value.(*%s)\nentries := body.Entries(len(list))\nfor i := range list {\n"+
			"if !%s {\nreturn false\n}\n}\nreturn true",
			description.RefName(target.Ref), w.callWhole(named(target.Value.Items), "&list[i]", "&entries"))
	case !w.hasWhole(target):
		w.line("return true")
	default:
		typ := description.RefName(target.Ref)
		if w.fromShared(target) {
			typ = "model." + typ
		}
		w.line("v := value.(*%s)\nreturn %s(v, body)%s", typ, w.wholeName(target), w.proven(target, proofs))
	}
	w.line("},\n}")
	return nil
}

// proven returns the conditions of the proofs that only this operation has.
func (w *writer) proven(ref *openapi3.SchemaRef, proofs []any) (conditions string) {
	for _, proof := range proofs {
		field := w.types.own.Structs[description.RefName(ref.Ref)].ByWireName[fmt.Sprint(proof)]
		conditions += fmt.Sprintf(" && !("+w.types.kindOf(field.Type, false).zero+")", "v."+field.Name)
	}
	return conditions
}

func quoted(names []any) string {
	var all []string
	for _, name := range names {
		all = append(all, fmt.Sprintf("%q", name))
	}
	return strings.Join(all, ", ")
}
