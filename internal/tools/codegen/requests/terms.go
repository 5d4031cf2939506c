package main

import (
	"fmt"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/description"
)

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
