package main

import (
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// property writes the check of one field.
func (w *writer) property(field goField, wire string, ref *openapi3.SchemaRef, required bool, model *goStruct) {
	s := flatten(ref)
	value := "v." + field.name
	switch {
	case s.request && s.union:
		w.line("if %s{\nc.In(%q, %s.validate)\n}", ifPresent(value, required), wire, value)
	case s.request && strings.HasPrefix(field.typ, "*"):
		w.line("if %s != nil {\nc.In(%q, %s.validate)\n}", value, wire, value)
		if required {
			w.line("c.Missing(%q, %s == nil)", wire, value)
		}
	case s.request && strings.HasPrefix(field.typ, "nullable."):
		w.line("if nested, err := %s.Get(); err == nil {\nc.In(%q, nested.validate)\n}", value, wire)
	case s.request:
		w.line("c.In(%q, %s.validate)", wire, value)
	case s.typ == "string" && s.format == "decimal":
		w.line("c.Amount(%q, %s, %t, %t)", wire, value, required, s.positive)
		if token := s.token; token != "" {
			w.line("if places, known := v.%s.decimals(); known {\nc.Places(%q, %s, places)\n}", model.byWireName[token].name, wire, value)
		}
	case s.typ == "string" && s.format == "byte":
		w.line("c.Bytes(%q, %s, %s)", wire, value, s.rule(required))
	case s.typ == "string" && s.format == "date-time":
		if required {
			w.line("c.Missing(%q, %s.IsZero())", wire, value)
		}
	case s.typ == "string":
		w.text(field, wire, value, s, required)
	case s.typ == "integer":
		w.line("c.Integer(%q, int64(%s), %t, %d, %d)", wire, value, required, int64(s.least), int64(s.most))
	case s.typ == "array":
		w.items(wire, value, s)
	case s.typ == "object" && required:
		w.line("c.Missing(%q, %s == nil)", wire, value)
	}
}

// text writes the check of a string, behind whatever makes it optional. A rule without content is left out.
func (w *writer) text(field goField, wire, value string, s stated, required bool) {
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

func (w *writer) items(wire, value string, s stated) {
	item := flatten(s.items)
	each := ""
	switch rule := item.rule(true); {
	case item.request:
		each = fmt.Sprintf("c.In(name, %s[i].validate)", value)
	case item.typ == "string":
		each = fmt.Sprintf("c.Text(name, string(%s[i]), %s)", value, rule)
	}
	if each == "" && s.maxItems == 0 {
		return
	}
	w.line("c.Items(%q, len(%s), %d, func(i int, name string) {\n%s\n})", wire, value, s.maxItems, each)
}

func ifPresent(value string, required bool) string {
	if required {
		return "true "
	}
	return value + ".variant != nil || " + value + ".raw != nil "
}

// stated is what a schema says after looking through the allOf that gives a $ref its siblings.
type stated struct {
	typ, format, pattern, prefix, token string
	minLength, maxLength, maxItems      uint64
	least, most                         float64
	positive, request, union            bool
	items                               *openapi3.SchemaRef
}

func flatten(ref *openapi3.SchemaRef) stated {
	var s stated
	if ref == nil || ref.Value == nil {
		return s
	}
	schema := ref.Value
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
	override(&s.maxItems, deref(schema.MaxItems))
	override(&s.least, deref(schema.Min))
	override(&s.most, deref(schema.Max))
	override(&s.items, schema.Items)
	override(&s.prefix, extension[string](schema, "x-id-prefix"))
	override(&s.token, extension[string](schema, "x-token"))
	override(&s.positive, extension[bool](schema, "x-positive"))
	override(&s.request, extension[bool](schema, "x-request"))
	override(&s.union, schema.Discriminator != nil)
	return s
}

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
	if s.pattern != "" {
		parts = append(parts, fmt.Sprintf("Pattern: %q", s.pattern))
	}
	if s.prefix != "" {
		parts = append(parts, fmt.Sprintf("Prefix: %q", s.prefix))
	}
	return "transport.Rule{" + strings.Join(parts, ", ") + "}"
}
