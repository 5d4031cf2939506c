package main

import "github.com/getkin/kin-openapi/openapi3"

// refuseUnknownNames changes a description that leaves it open: it then refuses unknown names in the bodies of
// requests. A misspelled name would do nothing, or something else, and look like a success. Responses with the same
// schemas are checked in the same way.
func refuseUnknownNames(document *openapi3.T) {
	for _, path := range document.Paths.Map() {
		for _, operation := range path.Operations() {
			if operation.RequestBody != nil {
				seal(operation.RequestBody.Value.Content.Get("application/json").Schema.Value)
			}
		}
	}
}

// seal closes a schema, and every schema in it, that has properties and does not say whether there are more.
func seal(schema *openapi3.Schema) {
	if schema.Items != nil {
		seal(schema.Items.Value)
	}
	for _, part := range schema.AllOf {
		seal(part.Value)
	}
	for _, variant := range schema.OneOf {
		// For some variants the description shows only that they exist. Their names are guesses.
		if _, guessed := variant.Value.Extensions["x-assumed"].(string); !guessed {
			seal(variant.Value)
		}
	}
	open := schema.AdditionalProperties.Has == nil && schema.AdditionalProperties.Schema == nil
	if !open || len(schema.Properties) == 0 {
		return
	}
	no := false
	schema.AdditionalProperties.Has = &no
	for _, property := range schema.Properties {
		seal(property.Value)
	}
}
