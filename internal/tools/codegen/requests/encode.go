package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/models"
)

// encode writes the method that encodes a request which is sent often (x-sent-often), without reflection.
func (w *writer) encode(name string) error {
	w.line("\nfunc (v *%s) encode(w *wire.Writer) {", name)
	for _, wire := range w.types[name].Order {
		field := w.types[name].ByWireName[wire]
		write, given, err := w.encoder(field)
		if err != nil {
			return fmt.Errorf("%s: %w", wire, err)
		}
		value := "v." + field.Name
		write = fmt.Sprintf(write, fmt.Sprintf("%q", wire), value)
		if omits(field) {
			write = fmt.Sprintf("if %s {\n%s\n}", fmt.Sprintf(given, value), write)
		}
		w.line("%s", write)
	}
	w.line("}")
	return nil
}

// omits reports a field that is left out if it is zero.
func omits(field models.Field) bool {
	return slices.Contains(field.Options, "omitzero") || slices.Contains(field.Options, "omitempty")
}

// encoder returns the call that writes a field, and the condition under which the field is not zero.
func (w *writer) encoder(field models.Field) (write, given string, err error) {
	typ := field.Type
	if defined, ok := w.defined[typ]; ok {
		typ = defined
	}
	switch {
	case typ == "string":
		return "w.Text(%s, string(%s))", `%s != ""`, nil
	case typ == "int", typ == "int64":
		return "w.Integer(%s, int64(%s))", "%s != 0", nil
	case typ == "bool":
		return "w.Boolean(%s, %s)", "%s", nil
	case typ == "Decimal", typ == "model.Decimal", typ == "decimal.Decimal":
		return "w.Amount(%s, %s)", "!%s.IsZero()", nil
	case typ == "[]byte":
		return "w.Bytes(%s, %s)", givenList(field), nil
	case strings.HasPrefix(typ, "[]") && w.isText(typ[2:]):
		return "wire.Texts(w, %s, %s)", givenList(field), nil
	}
	return "", "", fmt.Errorf("a request that is sent often cannot have a field of type %s", field.Type)
}

// givenList returns the condition under which a slice is not zero. To omitempty, an empty one is.
func givenList(field models.Field) string {
	if slices.Contains(field.Options, "omitempty") {
		return "len(%s) > 0"
	}
	return "%s != nil"
}

func (w *writer) isText(typ string) bool { return typ == "string" || w.defined[typ] == "string" }
