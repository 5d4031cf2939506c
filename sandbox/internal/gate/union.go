package gate

import (
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// members are an object's members with their unparsed values.
type members map[string]jsontext.Value

func membersOf(object []byte) (members, error) {
	var all members
	err := json.Unmarshal(object, &all)
	return all, err
}

// orRead reads the members of a part of the body, unless they are known.
func (m members) orRead(object jsontext.Value) members {
	if m == nil {
		m, _ = membersOf(object) // the body is valid
	}
	return m
}

func stringOf(value jsontext.Value) (string, bool) {
	if value.Kind() != '"' {
		return "", false
	}
	var text string
	err := json.Unmarshal(value, &text)
	return text, err == nil
}

// completeUnions writes discriminators that a caller may leave out: the on-chain and the email variant of a contact's
// account have a default. A body with all discriminators stays as it is.
func (r *route) completeUnions(body []byte, all members) ([]byte, error) {
	media := r.described.Operation.RequestBody.Value.Content.Get("application/json")
	changed := false
	for name, property := range media.Schema.Value.Properties {
		union := unionOf(property)
		value := all[name]
		if union == nil || value.Kind() != '{' {
			continue
		}
		inner, err := membersOf(value)
		if err != nil {
			return nil, err
		}
		discriminator := union.Discriminator.PropertyName
		if _, given := inner[discriminator]; given {
			continue
		}
		variant, ok := defaultVariant(union, inner)
		if !ok {
			continue
		}
		if inner[discriminator], err = json.Marshal(variant); err != nil {
			return nil, err
		}
		if all[name], err = json.Marshal(inner); err != nil {
			return nil, err
		}
		changed = true
	}
	if !changed {
		return body, nil
	}
	return json.Marshal(all)
}

// unionOf looks through the wrapper that makes a union nullable.
func unionOf(property *openapi3.SchemaRef) *openapi3.Schema {
	schema := property.Value
	if len(schema.AllOf) == 1 {
		schema = schema.AllOf[0].Value
	}
	if len(schema.OneOf) == 0 || schema.Discriminator == nil {
		return nil
	}
	return schema
}

// defaultVariant returns the first variant with a default whose required members are all there. It also returns a
// variant if one of its required members is there and no other variant has it: then other members are missing, and not
// the discriminator.
func defaultVariant(union *openapi3.Schema, given members) (any, bool) {
	for _, variant := range union.OneOf {
		fallback := defaultOf(variant.Value.Properties[union.Discriminator.PropertyName])
		if fallback != nil && (hasAll(given, variant.Value.Required) || hasOwn(given, variant, union)) {
			return fallback, true
		}
	}
	return nil, false
}

// hasOwn reports whether the object has a required member of the variant that no other variant has.
func hasOwn(given members, variant *openapi3.SchemaRef, union *openapi3.Schema) bool {
	return slices.ContainsFunc(variant.Value.Required, func(name string) bool {
		_, ok := given[name]
		return ok && !slices.ContainsFunc(union.OneOf, func(other *openapi3.SchemaRef) bool {
			return other != variant && other.Value.Properties[name] != nil
		})
	})
}

func defaultOf(property *openapi3.SchemaRef) any {
	if property == nil {
		return nil
	}
	if property.Value.Default != nil {
		return property.Value.Default
	}
	for _, part := range property.Value.AllOf {
		if fallback := defaultOf(part); fallback != nil {
			return fallback
		}
	}
	return nil
}

func hasAll(given members, required []string) bool {
	for _, name := range required {
		if _, ok := given[name]; !ok {
			return false
		}
	}
	return true
}
