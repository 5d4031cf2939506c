package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/description"
	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/gosource"
)

// property writes the check of one field.
func (w *writer) property(field gosource.Field, wire string, s stated, required bool) {
	value := "v." + field.Name
	switch {
	case s.request:
		w.nested(field, wire, value, s, required)
	case s.typ == "number", s.typ == "string" && s.format == "decimal":
		w.amount(field, wire, value, s, required)
	case field.Type == "io.Reader":
		if required {
			w.line("c.Missing(%q, %s == nil)", wire, value)
		}
	case s.typ == "string" && s.format == "byte" && !gosource.Secret(field.Type):
		if rule := s.rule(required); rule != noRule {
			w.line("c.Bytes(%q, %s, %s)", wire, value, rule)
		}
	case s.typ == "string" && strings.HasPrefix(s.format, "date"):
		if required {
			w.line("c.Missing(%q, %s.IsZero())", wire, value)
		}
	case s.typ == "string":
		w.text(field, wire, value, s, required)
	case s.typ == "integer":
		w.integer(field, wire, value, s, required)
	case s.typ == "array":
		w.items(wire, value, strings.TrimPrefix(field.Type, "[]"), s, required)
	case s.typ == "object" && required:
		w.line("c.Missing(%q, %s == nil)", wire, value)
	}
}

// nested writes the check of a value with its own checks.
func (w *writer) nested(field gosource.Field, wire, value string, s stated, required bool) {
	pointer := strings.HasPrefix(field.Type, "*")
	switch {
	case s.union && !required:
		w.line("if %s {\nc.Nested(%q, %s)\n}", w.present(field.Type, value), wire, w.validator(field.Type, value, s))
	case pointer:
		w.line("if %s != nil {\nc.Nested(%q, %s)\n}", value, wire, w.validator(field.Type, value, s))
		if required {
			w.line("c.Missing(%q, %s == nil)", wire, value)
		}
	case strings.HasPrefix(field.Type, "nullable."):
		w.line("if nested, err := %s.Get(); err == nil {\nc.Nested(%q, %s)\n}", value, wire,
			w.validator(field.Type, "nested", s))
	default:
		w.line("c.Nested(%q, %s)", wire, w.validator(field.Type, value, s))
	}
}

// validator returns the function that checks a value: a method of its own type, or a function for a shared type.
func (w *writer) validator(typ, value string, s stated) string {
	pointer := strings.HasPrefix(typ, "*")
	typ = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(typ, "*"), "nullable.Nullable["), "]")
	name, foreign := strings.CutPrefix(typ, "model.")
	if !foreign && !w.inShared {
		return value + ".validate"
	}
	w.needed[name] = s.schema
	if !pointer {
		value = "&" + value
	}
	return fmt.Sprintf("func(c *transport.Check) { validate%s(%s, c) }", name, value)
}

// present returns a Go condition: a union holds a value.
func (w *writer) present(typ, value string) string {
	if w.inShared || strings.HasPrefix(typ, "model.") {
		return value + ".Variant() != nil || " + value + ".Raw() != nil"
	}
	return value + ".variant != nil || " + value + ".raw != nil"
}

// integer writes the check of a whole number. Zero counts as absent, except behind a pointer.
func (w *writer) integer(field gosource.Field, wire, value string, s stated, required bool) {
	condition, number := value+" != 0", value
	if strings.HasPrefix(field.Type, "*") {
		condition, number = value+" != nil", "*"+value
	} else if required {
		w.line("c.Missing(%q, %s == 0)", wire, value)
	}
	if s.least == nil && s.most == nil {
		return
	}
	w.line("if %s {", condition)
	if s.least != nil {
		w.line("c.AtLeast(%q, int64(%s), %d)", wire, number, int64(*s.least))
	}
	if s.most != nil {
		w.line("c.AtMost(%q, int64(%s), %d)", wire, number, int64(*s.most))
	}
	w.line("}")
}

// amount writes the check of money, which is a string or a number on the wire. Zero counts as absent, except behind a
// pointer or as a nullable.
func (w *writer) amount(field gosource.Field, wire, value string, s stated, required bool) {
	digits, may := value, false
	switch {
	case strings.HasPrefix(field.Type, "*"):
		w.line("if %s != nil {", value)
		digits, may = "*"+value, true
	case strings.HasPrefix(field.Type, "nullable."):
		w.line("if amount, err := %s.Get(); err == nil {", value)
		digits, may = "amount", true
	}
	if s.typ == "number" {
		digits = strings.TrimPrefix(digits, "*") + ".Decimal"
	}
	w.line("c.Amount(%q, %s)", wire, digits)
	switch {
	case s.positive && (required || may):
		w.line("c.Positive(%q, %s)", wire, digits)
	case s.positive, s.least != nil && *s.least == 0:
		w.line("c.NotNegative(%q, %s)", wire, digits)
	}
	if required && !s.positive && !may {
		w.line("c.Missing(%q, %s.IsZero())", wire, digits)
	}
	if may {
		w.line("}")
	}
}

// text writes the check of a string, also of an optional one. It leaves out an empty rule. A pointer to an empty text
// is sent, so its length is checked.
func (w *writer) text(field gosource.Field, wire, value string, s stated, required bool) {
	if strings.HasPrefix(field.Type, "*") || strings.HasPrefix(field.Type, "nullable.") {
		s.sendsEmpty = s.minLength > 0
	}
	rule := s.rule(required)
	if rule == noRule {
		return
	}
	switch {
	case strings.HasPrefix(field.Type, "nullable."):
		w.line("if text, err := %s.Get(); err == nil {\nc.Text(%q, text, %s)\n}", value, wire, rule)
	case strings.HasPrefix(field.Type, "*"):
		w.line("if %s != nil {\nc.Text(%q, string(*%s), %s)\n}", value, wire, value, rule)
	default:
		w.line("c.Text(%q, %s, %s)", wire, textOf(field.Type, value), rule)
	}
}

// textOf returns a value as a Go string.
func textOf(typ, value string) string {
	if gosource.Secret(typ) {
		return value + ".Reveal()"
	}
	return "string(" + value + ")"
}

// items writes the check of a list and of each of its entries.
func (w *writer) items(wire, value, typ string, s stated, required bool) {
	switch {
	case required && s.minItems > 0:
		w.line("c.Missing(%q, len(%s) == 0)", cmp.Or(wire, "[]"), value)
	case required && wire != "": // a body that is a list is always there
		w.line("c.Missing(%q, %s == nil)", wire, value)
	}
	item, each := flatten(s.items, s.aroundItems...), ""
	if item.request {
		each = fmt.Sprintf("c.Nested(name, %s)", w.validator(typ, value+"[i]", item))
	} else if rule := item.rule(item.minLength > 0); item.typ == "string" && rule != noRule {
		each = fmt.Sprintf("c.Text(name, %s, %s)", textOf(typ, value+"[i]"), rule)
	}
	switch {
	case each != "":
		w.line("c.Items(%q, len(%s), %d, func(i int, name string) {\n%s\n})", wire, value, s.maxItems, each)
	case s.maxItems > 0:
		w.line("c.Items(%q, len(%s), %d, nil)", wire, value, s.maxItems)
	}
}

// stated is what a schema says and no mark covers, after looking through the allOf that gives a $ref its siblings. The
// type of a value is kept even if it is assumed.
type stated struct {
	typ, format          string
	term                 string // x-term: how values are compared
	request, union       bool
	items                *openapi3.SchemaRef
	schema               *openapi3.Schema // the named schema
	pattern, prefix      string
	minLength, maxLength uint64
	minItems, maxItems   uint64
	least, most          *float64
	positive             bool
	sendsEmpty           bool              // an empty text is sent, so its length is checked
	aroundItems          description.Marks // the marks of this place for the entries
}

// flatten reads a schema. around are the marks of the place that holds it.
func flatten(ref *openapi3.SchemaRef, around ...description.Mark) stated {
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
	override(&s.items, schema.Items)
	override(&s.term, extension[string](schema, "x-term"))
	override(&s.request, extension[bool](schema, "x-request"))
	override(&s.union, schema.Discriminator != nil)

	assumed := description.MarksOf(schema.Extensions)
	if ref.Ref == "" {
		assumed = append(assumed, around...)
	}
	unless(assumed, "pattern", &s.pattern, schema.Pattern)
	unless(assumed, "minLength", &s.minLength, schema.MinLength)
	unless(assumed, "maxLength", &s.maxLength, deref(schema.MaxLength))
	unless(assumed, "minItems", &s.minItems, schema.MinItems)
	unless(assumed, "maxItems", &s.maxItems, deref(schema.MaxItems))
	unless(assumed, "minimum", &s.least, schema.Min)
	unless(assumed, "maximum", &s.most, schema.Max)
	unless(assumed, "x-id-prefix", &s.prefix, extension[string](schema, "x-id-prefix"))
	unless(assumed, "positive", &s.positive, extension[bool](schema, "x-positive"))
	if schema.Format == "uuid" && !assumed.Cover("format", "type") {
		s.pattern = uuid
	}
	if assumed.Cover("items") {
		s.aroundItems = description.Marks{description.Whole}
	}
	return s
}

// unless copies a constraint that no mark covers.
func unless[T comparable](assumed description.Marks, aspect string, into *T, value T) {
	if !assumed.Cover(aspect) {
		override(into, value)
	}
}

// uuid stands for the pattern of a UUID, which package transport has.
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

// noRule is the literal of an empty rule.
const noRule = "transport.Rule{}"

// rule writes a transport.Rule literal. A typed id has its prefix, unless a stated pattern contains it.
func (s stated) rule(required bool, more ...string) string {
	if s.prefix != "" && s.pattern == "" {
		s.pattern = "^" + s.prefix
	}
	var parts []string
	switch {
	case s.sendsEmpty:
		parts = append(parts, "Set: true")
	case required:
		parts = append(parts, "Required: true")
	}
	if s.minLength > 1 || s.sendsEmpty {
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
	return "transport.Rule{" + strings.Join(append(parts, more...), ", ") + "}"
}

// exclusive writes what a schema states about several of its fields at once. x-exactly-one-of lists fields of which
// exactly one must be set. x-required-with maps a field to the fields that it requires.
func (w *writer) exclusive(schema *openapi3.Schema, model *gosource.Struct) error {
	assumed := description.MarksOf(schema.Extensions)
	names, _ := schema.Extensions["x-exactly-one-of"].([]any)
	if assumed.Cover("x-exactly-one-of") {
		names = nil
	}
	var conditions []string
	for _, name := range names {
		is, _, err := presence(schema, model, fmt.Sprint(name))
		if err != nil {
			return err
		}
		conditions = append(conditions, fmt.Sprintf("%q: %s", name, is))
	}
	if len(conditions) > 0 {
		w.line("c.ExactlyOne(map[string]bool{%s})", strings.Join(conditions, ", "))
	}
	companions, _ := schema.Extensions["x-required-with"].(map[string]any)
	if assumed.Cover("x-required-with") {
		companions = nil
	}
	for _, name := range description.SortedKeys(companions) {
		leader, _, err := presence(schema, model, name)
		if err != nil {
			return err
		}
		others, _ := companions[name].([]any)
		for _, other := range others {
			_, absent, err := presence(schema, model, fmt.Sprint(other))
			if err != nil {
				return err
			}
			w.line("c.Missing(%q, %s && %s)", other, leader, absent)
		}
	}
	return nil
}

// presence returns the Go conditions that a field holds something, and that it does not.
func presence(schema *openapi3.Schema, model *gosource.Struct, name string) (set, unset string, err error) {
	field, known := model.ByWireName[name]
	property := schema.Properties[name]
	if !known || property == nil {
		return "", "", fmt.Errorf("no field %s to be exclusive or required with another", name)
	}
	value := "v." + field.Name
	switch s := flatten(property); {
	case strings.HasPrefix(field.Type, "*"):
		return value + " != nil", value + " == nil", nil
	case s.typ == "string" && s.format != "decimal":
		return value + ` != ""`, value + ` == ""`, nil
	}
	return "!" + value + ".IsZero()", value + ".IsZero()", nil
}
