package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// property writes the check of one field.
func (w *writer) property(field goField, wire string, ref *openapi3.SchemaRef, required bool, model *goStruct) {
	s := flatten(ref)
	value := "v." + field.name
	pointer := strings.HasPrefix(field.typ, "*")
	switch {
	case s.request:
		w.nested(field, wire, value, s, required)
	case s.typ == "number", s.typ == "string" && s.format == "decimal":
		w.amount(field, wire, value, s, required, model)
	case field.typ == "io.Reader":
		if required {
			w.line("c.Missing(%q, %s == nil)", wire, value)
		}
	case s.typ == "string" && s.format == "byte":
		w.line("c.Bytes(%q, %s, %s)", wire, value, s.rule(required))
	case s.typ == "string" && strings.HasPrefix(s.format, "date"):
		if required {
			w.line("c.Missing(%q, %s.IsZero())", wire, value)
		}
	case s.typ == "string":
		w.text(field, wire, value, s, required)
	case s.typ == "integer" && pointer:
		w.line("if %s != nil {\nc.Within(%q, int64(*%s), %d, %d)\n}", value, wire, value, int64(s.least), int64(s.most))
	case s.typ == "integer":
		w.line("c.Integer(%q, int64(%s), %t, %d, %d)", wire, value, required, int64(s.least), int64(s.most))
	case s.typ == "array":
		w.items(wire, value, strings.TrimPrefix(field.typ, "[]"), s, required)
	case s.typ == "object" && required:
		w.line("c.Missing(%q, %s == nil)", wire, value)
	}
}

// nested writes the check of a value that has checks of its own.
func (w *writer) nested(field goField, wire, value string, s stated, required bool) {
	pointer := strings.HasPrefix(field.typ, "*")
	switch {
	case s.union && !required:
		w.line("if %s {\nc.In(%q, %s)\n}", w.present(field.typ, value), wire, w.validator(field.typ, value, s))
	case pointer:
		w.line("if %s != nil {\nc.In(%q, %s)\n}", value, wire, w.validator(field.typ, value, s))
		if required {
			w.line("c.Missing(%q, %s == nil)", wire, value)
		}
	case strings.HasPrefix(field.typ, "nullable."):
		w.line("if nested, err := %s.Get(); err == nil {\nc.In(%q, %s)\n}", value, wire, w.validator(field.typ, "nested", s))
	default:
		w.line("c.In(%q, %s)", wire, w.validator(field.typ, value, s))
	}
}

// validator is the function that checks a value: a method of its own type, or a function for a shared type.
func (w *writer) validator(typ, value string, s stated) string {
	pointer := strings.HasPrefix(typ, "*")
	typ = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(typ, "*"), "nullable.Nullable["), "]")
	name, foreign := strings.CutPrefix(typ, "moneymovement.")
	if !foreign && !w.inShared {
		return value + ".validate"
	}
	w.needed[name] = s.schema
	if !pointer {
		value = "&" + value
	}
	return fmt.Sprintf("func(c *transport.Check) { validate%s(%s, c) }", name, value)
}

// present tells a union that holds something from its zero value.
func (w *writer) present(typ, value string) string {
	if w.inShared || strings.HasPrefix(typ, "moneymovement.") {
		return value + ".Variant() != nil || " + value + ".Raw() != nil"
	}
	return value + ".variant != nil || " + value + ".raw != nil"
}

// amount writes the check of money, which travels as a string or as a number.
func (w *writer) amount(field goField, wire, value string, s stated, required bool, model *goStruct) {
	digits := value
	if s.typ == "number" {
		digits += ".Decimal"
	}
	if strings.HasPrefix(field.typ, "*") {
		if s.typ != "number" {
			digits = "*" + value
		}
		w.line("if %s != nil {\nc.Amount(%q, %s, false, %t)", value, wire, digits, s.positive) // one that points to zero is given
		if s.notNegative {
			w.line("c.NotNegative(%q, %s)", wire, digits)
		}
		w.line("}")
		return
	}
	w.line("c.Amount(%q, %s, %t, %t)", wire, digits, required, s.positive)
	if token := s.token; token != "" {
		w.line("if places, known := v.%s.decimals(); known {\nc.Places(%q, %s, places, string(v.%s))\n}",
			model.byWireName[token].name, wire, digits, model.byWireName[token].name)
	}
}

// text writes the check of a string, behind whatever makes it optional. A rule without content is left out. An empty text that is set is
// sent, unlike one that is merely not set, so that it has to be long enough.
func (w *writer) text(field goField, wire, value string, s stated, required bool) {
	if strings.HasPrefix(field.typ, "*") || strings.HasPrefix(field.typ, "nullable.") {
		required = required || s.minLength > 0
	}
	rule := s.rule(required)
	if rule == "transport.Rule{}" {
		return
	}
	switch {
	case strings.HasPrefix(field.typ, "nullable."):
		w.line("if text, err := %s.Get(); err == nil {\nc.Text(%q, text, %s)\n}", value, wire, rule)
	case strings.HasPrefix(field.typ, "*"):
		w.line("if %s != nil {\nc.Text(%q, string(*%s), %s)\n}", value, wire, value, rule)
	default:
		w.line("c.Text(%q, string(%s), %s)", wire, value, rule)
	}
}

// items writes the check of a list and of each of its entries.
func (w *writer) items(wire, value, typ string, s stated, required bool) {
	if required && s.minItems > 0 {
		w.line("c.Missing(%q, len(%s) == 0)", cmp.Or(wire, "[]"), value)
	}
	item := flatten(s.items)
	each := ""
	switch rule := item.rule(true); {
	case item.request:
		each = fmt.Sprintf("c.In(name, %s)", w.validator(typ, value+"[i]", item))
	case item.typ == "string":
		each = fmt.Sprintf("c.Text(name, string(%s[i]), %s)", value, rule)
	}
	if each == "" && s.maxItems == 0 {
		return
	}
	w.line("c.Items(%q, len(%s), %d, func(i int, name string) {\n%s\n})", wire, value, s.maxItems, each)
}

// stated is what a schema says after looking through the allOf that gives a $ref its siblings.
type stated struct {
	typ, format, pattern, prefix, token string
	term                                string // x-term: how values are compared
	minLength, maxLength                uint64
	minItems, maxItems                  uint64
	least, most                         float64
	positive, notNegative               bool
	request, union                      bool
	items                               *openapi3.SchemaRef
	schema                              *openapi3.Schema // the one that is named
}

func flatten(ref *openapi3.SchemaRef) stated {
	var s stated
	if ref == nil || ref.Value == nil {
		return s
	}
	schema := ref.Value
	s.schema = schema
	for _, part := range schema.AllOf {
		s = flatten(part)
	}
	if schema.Type != nil && len(*schema.Type) == 1 {
		s.typ = (*schema.Type)[0]
	}
	override(&s.format, schema.Format)
	override(&s.pattern, schema.Pattern)
	override(&s.minLength, schema.MinLength)
	override(&s.maxLength, deref(schema.MaxLength))
	override(&s.minItems, schema.MinItems)
	override(&s.maxItems, deref(schema.MaxItems))
	override(&s.least, deref(schema.Min))
	override(&s.most, deref(schema.Max))
	override(&s.items, schema.Items)
	override(&s.prefix, extension[string](schema, "x-id-prefix"))
	override(&s.token, extension[string](schema, "x-token"))
	override(&s.term, extension[string](schema, "x-term"))
	override(&s.positive, extension[bool](schema, "x-positive"))
	override(&s.notNegative, schema.Min != nil && *schema.Min == 0)
	override(&s.request, extension[bool](schema, "x-request"))
	override(&s.union, schema.Discriminator != nil)
	if s.format == "uuid" {
		override(&s.pattern, uuid)
	}
	return s
}

// uuid stands for the pattern of a UUID, which transport knows.
const uuid = "(uuid)"

func override[T comparable](into *T, value T) {
	var zero T
	if value != zero {
		*into = value
	}
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func extension[T any](schema *openapi3.Schema, name string) T {
	value, _ := schema.Extensions[name].(T)
	return value
}

// rule writes a transport.Rule literal.
func (s stated) rule(required bool) string {
	var parts []string
	if required {
		parts = append(parts, "Required: true")
	}
	if s.minLength > 1 {
		parts = append(parts, fmt.Sprintf("Min: %d", s.minLength))
	}
	if s.maxLength > 0 {
		parts = append(parts, fmt.Sprintf("Max: %d", s.maxLength))
	}
	if s.pattern == uuid {
		parts = append(parts, "Pattern: transport.UUID")
	} else if s.pattern != "" {
		parts = append(parts, fmt.Sprintf("Pattern: %q", s.pattern))
	}
	if s.prefix != "" {
		parts = append(parts, fmt.Sprintf("Prefix: %q", s.prefix))
	}
	return "transport.Rule{" + strings.Join(parts, ", ") + "}"
}
