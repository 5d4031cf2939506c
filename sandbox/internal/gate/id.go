package gate

import (
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// prefixes are the prefixes of typed ids. A contact's id may have none, so only the prefix of another type shows that
// an id is wrong.
var prefixes = [...]string{"cl_", "bnk_", "ct_", "po_", "pi_", "esc_", "tx_", "dk_"}

// idFields are an operation's typed ids: the expected prefix by field name.
type idFields struct {
	path, body map[string]string
}

// idFieldsOf reads x-id-prefix of the path parameters and of the body's members.
func idFieldsOf(operation *openapi3.Operation) idFields {
	ids := idFields{path: map[string]string{}, body: map[string]string{}}
	for _, parameter := range operation.Parameters {
		if parameter.Value.In == openapi3.ParameterInPath {
			if prefix := prefixOf(parameter.Value.Schema); prefix != "" {
				ids.path[parameter.Value.Name] = prefix
			}
		}
	}
	if operation.RequestBody == nil {
		return ids
	}
	media := operation.RequestBody.Value.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		return ids
	}
	for name, property := range media.Schema.Value.Properties {
		if prefix := prefixOf(property); prefix != "" {
			ids.body[name] = prefix
		}
	}
	return ids
}

// prefixOf looks through the wrapper that adds a description to a $ref.
func prefixOf(schema *openapi3.SchemaRef) string {
	if schema == nil || schema.Value == nil {
		return ""
	}
	if prefix := extension(schema.Value.Extensions, "x-id-prefix"); prefix != "" {
		return prefix
	}
	for _, part := range schema.Value.AllOf {
		if prefix := prefixOf(part); prefix != "" {
			return prefix
		}
	}
	return ""
}

// checkID refuses an id of another type.
func checkID(id, expected string) error {
	for _, prefix := range prefixes {
		if prefix != expected && strings.HasPrefix(id, prefix) {
			return wire.InvalidID(expected)
		}
	}
	return nil
}
