package descriptions_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSchemasSayWhereTheyComeFrom(t *testing.T) {
	for _, name := range []string{"appapi.yaml", "refapi.yaml", "public.yaml", "common.yaml"} {
		for schema, node := range object(source(t, name), "components", "schemas") {
			assert.NotEmpty(t, node.(map[string]any)["x-source"], "%s: %s", name, schema)
			for field, node := range object(node.(map[string]any), "properties") {
				assert.NotEmpty(t, node.(map[string]any)["description"], "%s: %s.%s", name, schema, field)
			}
		}
	}
}

// A schema name becomes a Go type; these names would collide with what the generator derives from operations.
func TestSchemaNamesAreFreeForGo(t *testing.T) {
	for _, name := range surfaces {
		var ids []string
		for _, o := range operations(t, name) {
			ids = append(ids, o.id)
		}
		for schema := range object(source(t, name), "components", "schemas") {
			assert.Regexp(t, `^[A-Z][A-Za-z0-9]*$`, schema, name)
			for _, id := range ids {
				for _, suffix := range []string{"Response", "Params", "JSONBody", "JSONRequestBody"} {
					assert.NotEqual(t, id+suffix, schema, name)
				}
			}
		}
	}
}

// Objects and enumerations have names, so that Go types have names; a reference stands alone, because siblings of it
// are ignored.
func TestNothingIsDefinedInPassing(t *testing.T) {
	for _, name := range descriptions {
		walk("", source(t, name), func(pointer string, mapping map[string]any) {
			if _, isRef := mapping["$ref"].(string); isRef {
				assert.Len(t, mapping, 1, "%s%s has siblings of $ref", name, pointer)
			}
			isComponent := strings.Count(pointer, "/") == 3 && strings.HasPrefix(pointer, "/components/schemas/")
			if isComponent || !strings.Contains(pointer, "/components/schemas/") {
				return
			}
			if mapping["type"] == "object" {
				assert.NotContains(t, mapping, "properties", "%s%s is an object without a name", name, pointer)
			}
			if mapping["type"] == "string" {
				assert.NotContains(t, mapping, "enum", "%s%s is an enumeration without a name", name, pointer)
			}
		})
	}
}

// Every object and union that a request body can hold is checked before it is sent.
func TestRequestSchemasAreMarked(t *testing.T) {
	for _, name := range surfaces {
		t.Run(name, func(t *testing.T) {
			reached := map[string]map[string]any{}
			for _, o := range operations(t, name) {
				walk("", o.node["requestBody"], func(_ string, mapping map[string]any) {
					reach(t, name, mapping["$ref"], reached)
				})
			}
			if name != "public.yaml" {
				require.NotEmpty(t, reached)
			}
			for ref, schema := range reached {
				if !composite(schema) {
					continue
				}
				assert.Equal(t, true, schema["x-request"], ref)
			}
		})
	}
}

// The platform API refuses a misspelled field instead of ignoring it.
func TestPlatformBodiesRefuseUnknownKeys(t *testing.T) {
	bodies := 0
	for _, o := range operations(t, "dapi.yaml") {
		ref, _ := object(o.node, "requestBody", "content", "application/json", "schema")["$ref"].(string)
		if ref == "" {
			continue
		}
		bodies++
		body := object(source(t, "dapi.yaml"), strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		assert.Equal(t, false, body["additionalProperties"], "%s: %s", o.id, ref)
	}
	assert.Greater(t, bodies, 10)
}

// Who changes something can say null, and mean it.
func TestUpdatesSendNull(t *testing.T) {
	updates := 0
	for _, name := range surfaces {
		for _, o := range operations(t, name) {
			if o.method != "PATCH" && o.method != "PUT" {
				continue
			}
			reached := map[string]map[string]any{}
			ref := object(o.node, "requestBody", "content", "application/json", "schema")["$ref"]
			reach(t, name, ref, reached)
			target := ref.(string)
			if !strings.Contains(target, ".yaml#") {
				target = name + target
			}
			for field, node := range object(reached[target], "properties") {
				if node.(map[string]any)["nullable"] == true {
					updates++
					assert.Equal(t, true, reached[target]["x-sends-null"], "%s: %s of %s is null", o.id, field, target)
				}
			}
		}
	}
	assert.Greater(t, updates, 15)
}

// composite tells objects with fields, unions and lists from plain values and from objects of unknown shape.
func composite(schema map[string]any) bool {
	return schema["properties"] != nil || schema["oneOf"] != nil || schema["type"] == "array"
}

// reach collects every schema that a reference leads to, by file and name.
func reach(t *testing.T, file string, ref any, reached map[string]map[string]any) {
	target, _ := ref.(string)
	if target == "" {
		return
	}
	if other, fragment, _ := strings.Cut(target, "#"); other != "" {
		file, target = other, "#"+fragment
	}
	key := file + target
	if _, seen := reached[key]; seen {
		return
	}
	schema := object(source(t, file), strings.Split(strings.TrimPrefix(target, "#/"), "/")...)
	require.NotEmpty(t, schema, key)
	reached[key] = schema
	walk("", schema, func(_ string, mapping map[string]any) { reach(t, file, mapping["$ref"], reached) })
}

// Every branch of a union has a value of the discriminator, and every value leads to a branch.
func TestDiscriminatorsMapEveryVariant(t *testing.T) {
	for _, name := range descriptions {
		for schema, node := range object(source(t, name), "components", "schemas") {
			branches, isUnion := node.(map[string]any)["oneOf"].([]any)
			if !isUnion {
				continue
			}
			var variants, mapped []string
			for _, branch := range branches {
				variants = append(variants, branch.(map[string]any)["$ref"].(string))
			}
			for _, target := range object(node.(map[string]any), "discriminator", "mapping") {
				if !slices.Contains(mapped, target.(string)) {
					mapped = append(mapped, target.(string))
				}
			}
			assert.ElementsMatch(t, variants, mapped, "%s: %s", name, schema)
		}
	}
}

// What holds secrets is treated so by the SDK: their texts travel in the request alone, and the answer's body is not
// captured.
func TestOperationsWithSecretsAreMarked(t *testing.T) {
	parts := map[string]string{"request": "requestBody", "answer": "responses"}
	marked := 0
	for _, name := range surfaces {
		for _, o := range operations(t, name) {
			said, _ := o.node["x-sensitive"].([]any)
			for part, member := range parts {
				holds := holdsSecrets(t, name, o.node[member])
				assert.Equal(t, holds, slices.Contains(said, any(part)), "%s, %s", o.id, part)
				if holds {
					marked++
				}
			}
		}
	}
	assert.GreaterOrEqual(t, marked, 9)
}

// holdsSecrets looks for marks in all that a part of an operation refers to.
func holdsSecrets(t *testing.T, name string, part any) (holds bool) {
	reached := map[string]map[string]any{}
	walk("", part, func(_ string, mapping map[string]any) { reach(t, name, mapping["$ref"], reached) })
	for _, schema := range reached {
		walk("", schema, func(_ string, mapping map[string]any) { holds = holds || mapping["x-sensitive"] == true })
	}
	return holds
}
