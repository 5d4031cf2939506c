package gate

import (
	"errors"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// codes are the validator's codes for the description's keywords. The description names missing and extra_forbidden.
// The others come from the same vocabulary.
var codes = map[string]string{
	"required":   "missing",
	"properties": "extra_forbidden",
	"minLength":  "string_too_short",
	"maxLength":  "string_too_long",
	"pattern":    "string_pattern_mismatch",
	"enum":       "enum",
	"minimum":    "greater_than_equal",
	"maximum":    "less_than_equal",
	"minItems":   "too_short",
	"maxItems":   "too_long",
}

// formatCodes are the codes for values with a wrong format.
var formatCodes = map[string]string{
	"byte":      "bytes_invalid_encoding",
	"date":      "date_parsing",
	"date-time": "datetime_parsing",
	"decimal":   "decimal_max_digits",
	"uuid":      "uuid_parsing",
}

// fieldsOf lists the problems that a validation found, field by field.
func fieldsOf(err error) []wire.Field {
	switch err := err.(type) { //nolint:errorlint // errors.As would find only the first of several errors
	case openapi3.MultiError:
		return fieldsOfAll(err)
	case *openapi3.SchemaError:
		return fieldsOfSchema(err)
	default:
		return nil
	}
}

func fieldsOfAll(several openapi3.MultiError) []wire.Field {
	var fields []wire.Field
	for _, err := range several {
		fields = append(fields, fieldsOf(err)...)
	}
	return fields
}

// fieldsOfSchema looks into allOf, oneOf and anyOf, because their parts have the fields.
func fieldsOfSchema(err *openapi3.SchemaError) []wire.Field {
	var parts openapi3.MultiError
	if err.SchemaField != "format" && err.Origin != nil && errors.As(err.Origin, &parts) {
		return fieldsOfAll(parts)
	}
	path, reason := err.JSONPointer(), err.Reason
	switch err.SchemaField {
	case "properties":
		path = append(path, quotedName(reason))
		reason = "The field is unknown."
	case "discriminator":
		path = append(path, err.Schema.Discriminator.PropertyName)
	}
	return []wire.Field{{Field: strings.Join(path, "."), Code: codeOf(err), Message: reason}}
}

func codeOf(err *openapi3.SchemaError) string {
	switch err.SchemaField {
	case "type", "nullable":
		return typeOf(err.Schema) + "_type"
	case "format":
		if code, ok := formatCodes[err.Schema.Format]; ok {
			return code
		}
		return "value_error"
	case "discriminator":
		if err.Value == nil {
			return "union_tag_not_found"
		}
		return "union_tag_invalid"
	}
	if code, ok := codes[err.SchemaField]; ok {
		return code
	}
	return "value_error"
}

// typeOf returns the name of the expected type.
func typeOf(schema *openapi3.Schema) string {
	for _, known := range []struct{ description, word string }{
		{openapi3.TypeString, "string"}, {openapi3.TypeInteger, "int"}, {openapi3.TypeNumber, "float"},
		{openapi3.TypeBoolean, "bool"}, {openapi3.TypeArray, "list"},
	} {
		if schema.Type.Is(known.description) {
			return known.word
		}
	}
	for _, part := range schema.AllOf {
		return typeOf(part.Value)
	}
	return "dict"
}

// quotedName returns the name in a message such as: property "x" is unsupported.
func quotedName(reason string) string {
	_, rest, _ := strings.Cut(reason, " ")
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return ""
	}
	name, _ := strconv.Unquote(quoted)
	return name
}
