package descriptions_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/openapi"
)

func TestEveryDescriptionIsValid(t *testing.T) {
	for _, name := range descriptions {
		t.Run(name, func(t *testing.T) {
			document := load(t, name)
			assert.Equal(t, "3.0.3", document.OpenAPI)
			assert.NoError(t, document.Validate(t.Context(),
				openapi3.SetRegexCompiler(compilePattern), openapi3.EnableMultiError(),
				openapi3.ProhibitExtensionsWithRef()))
		})
	}
}

// The tests name the files they cover; a new file must be added to them.
func TestEveryFileIsCovered(t *testing.T) {
	names, err := fs.Glob(openapi.Files, "*.yaml")
	require.NoError(t, err)
	assert.ElementsMatch(t, append([]string{"errors.yaml", "coverage.yaml"}, descriptions...), names)
}

// A surface refers to itself and to what is shared, never to another surface.
func TestReferencesStayInTheFileOrLeadToTheSharedOne(t *testing.T) {
	for _, name := range surfaces {
		walk("", source(t, name), func(pointer string, mapping map[string]any) {
			if ref, isRef := mapping["$ref"].(string); isRef {
				assert.Regexp(t, `^(common\.yaml)?#/components/`, ref, name+pointer)
			}
		})
	}
}

// What two files would say in the same way stands in common.yaml alone, whatever the texts that go with it.
func TestSharedSchemasAreWrittenOnce(t *testing.T) {
	shared := object(source(t, "common.yaml"), "components", "schemas")
	for _, name := range surfaces {
		for schema, node := range object(source(t, name), "components", "schemas") {
			if there, is := shared[schema]; is {
				assert.NotEqual(t, withoutTexts(there), withoutTexts(node), "%s: %s is that of common.yaml", name,
					schema)
			}
		}
	}
}

// withoutTexts leaves out what changes nothing on the wire, and of references which file they lead to.
func withoutTexts(node any) any {
	switch node := node.(type) {
	case map[string]any:
		said := map[string]any{}
		for key, value := range node {
			if key != "description" && key != "x-assumed" && key != "x-assumed-values" {
				said[key] = withoutTexts(value)
			}
		}
		return said
	case []any:
		var said []any
		for _, value := range node {
			said = append(said, withoutTexts(value))
		}
		return said
	case string:
		return strings.TrimPrefix(node, "common.yaml")
	}
	return node
}

// What common.yaml holds is used by at least two surfaces, directly or through each other.
func TestSharedSchemasAreShared(t *testing.T) {
	users := map[string]map[string]bool{}
	for _, name := range surfaces {
		reached := map[string]bool{}
		walk("", source(t, name), func(_ string, mapping map[string]any) {
			reachShared(t, mapping["$ref"], "common.yaml#/components/schemas/", reached)
		})
		for schema := range reached {
			if users[schema] == nil {
				users[schema] = map[string]bool{}
			}
			users[schema][name] = true
		}
	}
	for schema := range object(source(t, "common.yaml"), "components", "schemas") {
		if schema == "ContactAccount" {
			continue // its variants are shared, and a union stands beside its variants
		}
		assert.GreaterOrEqual(t, len(users[schema]), 2, "%s is used by %v", schema, users[schema])
	}
}

func reachShared(t *testing.T, ref any, prefix string, reached map[string]bool) {
	target, _ := ref.(string)
	if len(target) <= len(prefix) || target[:len(prefix)] != prefix || reached[target[len(prefix):]] {
		return
	}
	schema := target[len(prefix):]
	reached[schema] = true
	walk("", object(source(t, "common.yaml"), "components", "schemas", schema), func(_ string, mapping map[string]any) {
		reachShared(t, mapping["$ref"], "#/components/schemas/", reached)
	})
}
