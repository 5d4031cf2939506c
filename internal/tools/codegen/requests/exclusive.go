package main

import (
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/description"
	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/models"
)

// exclusive writes what a schema states about several of its fields at once. x-exactly-one-of lists fields of which
// exactly one must be set. x-required-with maps a field to the fields that it requires.
func (w *writer) exclusive(schema *openapi3.Schema, model *models.Struct) error {
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
func presence(schema *openapi3.Schema, model *models.Struct, name string) (set, unset string, err error) {
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
