package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/description"
	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/gosource"
)

// encode writes the method that encodes a request which is sent often (x-sent-often), without reflection.
func (w *writer) encode(name string) error {
	w.line("\nfunc (v *%s) encode(w *wire.Writer) {", name)
	for _, wire := range w.types[name].Order {
		field := w.types[name].ByWireName[wire]
		write, condition, err := w.encoder(field)
		if err != nil {
			return fmt.Errorf("%s: %w", wire, err)
		}
		value := "v." + field.Name
		write = fmt.Sprintf(write, fmt.Sprintf("%q", wire), value)
		if omits(field) {
			write = fmt.Sprintf("if %s {\n%s\n}", fmt.Sprintf(condition, value), write)
		}
		w.line("%s", write)
	}
	w.line("}")
	return nil
}

// omits reports a field that is left out if it is zero.
func omits(field gosource.Field) bool {
	return slices.Contains(field.Options, "omitzero") || slices.Contains(field.Options, "omitempty")
}

// encoder returns the call that writes a field, and the condition under which the field is not zero.
func (w *writer) encoder(field gosource.Field) (write, condition string, err error) {
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
func givenList(field gosource.Field) string {
	if slices.Contains(field.Options, "omitempty") {
		return "len(%s) > 0"
	}
	return "%s != nil"
}

func (w *writer) isText(typ string) bool { return typ == "string" || w.defined[typ] == "string" }

// maxTerms is wire.MaxTerms. A generator imports nothing that is generated.
const maxTerms = 8

// terms writes how the members of a body are compared under the same idempotency key. It leaves out members without
// x-term, such as a signature, which is new each time.
func (w *writer) terms(op *openapi3.Operation) error {
	if op.Extensions["x-idempotency"] != "key" || op.RequestBody == nil {
		return nil
	}
	body := op.RequestBody.Value.Content.Get("application/json").Schema.Value
	var choices []any
	if named, ok := body.Extensions["x-exactly-one-of"].([]any); ok {
		choices = named
	}
	count := 0
	w.line("\nvar terms%s = []wire.Term{", op.OperationID)
	for _, name := range description.SortedKeys(body.Properties) {
		format, err := termFormat(flatten(body.Properties[name]))
		if err != nil {
			return fmt.Errorf("%s: %s: %w", op.OperationID, name, err)
		}
		if format == "" {
			continue
		}
		if count++; count > maxTerms {
			return fmt.Errorf("%s: it has more than %d terms: raise wire.MaxTerms", op.OperationID, maxTerms)
		}
		choice := ""
		if slices.Contains(choices, any(name)) {
			choice = ", Choice: true"
		}
		w.line("{Name: %q, Format: %s%s},", name, format, choice)
	}
	w.line("}")
	return nil
}

// termFormat returns the Go expression of a wire.TermFormat, or "" for a member that is not compared.
func termFormat(s stated) (string, error) {
	switch {
	case s.term == "none":
		return "", nil
	case s.term == "caseless", s.format == "uuid":
		return "wire.TermCaseless", nil
	case s.term == "duration":
		return "wire.TermDuration", nil
	case s.term != "":
		return "", fmt.Errorf("x-term %s is not known", s.term)
	case s.format == "decimal", s.typ == "number":
		return "wire.TermDecimal", nil
	case s.prefix != "":
		return fmt.Sprintf("wire.TermID(%q)", s.prefix), nil
	case s.typ == "array":
		return "wire.TermSet", nil
	case s.typ == "object":
		return "", fmt.Errorf("how objects are compared is not known")
	}
	return "wire.TermText", nil
}
