package descriptions_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/openapi"
)

func TestEveryAssumptionHasAReason(t *testing.T) {
	names, err := fs.Glob(openapi.Files, "*.yaml")
	require.NoError(t, err)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			walk("", source(t, name), func(pointer string, mapping map[string]any) {
				for _, key := range []string{"x-assumed", "x-assumed-values"} {
					mark, marked := mapping[key]
					if !marked {
						continue
					}
					switch mark := mark.(type) {
					case string:
						assert.NotEmpty(t, strings.TrimSpace(mark), pointer)
						assert.Equal(t, "x-assumed", key, pointer)
					case map[string]any:
						assert.NotEmpty(t, mark, pointer)
						for aspect, reason := range mark {
							text, _ := reason.(string)
							assert.NotEmpty(t, strings.TrimSpace(text), "%s: %s", pointer, aspect)
						}
					default:
						t.Errorf("%s: %s is %T", pointer, key, mark)
					}
				}
			})
		})
	}
}

// A field of a schema that is assumed as a whole says for itself why it is there.
func TestFieldsOfAssumedSchemasAreAssumed(t *testing.T) {
	for _, name := range descriptions {
		for schema, node := range object(source(t, name), "components", "schemas") {
			if _, whole := node.(map[string]any)["x-assumed"].(string); !whole {
				continue
			}
			for field, node := range object(node.(map[string]any), "properties") {
				assert.Contains(t, node, "x-assumed", "%s: %s.%s", name, schema, field)
			}
		}
	}
}

// A mark on one aspect of a node, such as its pattern, stands beside that aspect.
func TestAnAssumedAspectExists(t *testing.T) {
	for _, name := range descriptions {
		walk("", source(t, name), func(pointer string, mapping map[string]any) {
			marks, _ := mapping["x-assumed"].(map[string]any)
			node := mapping
			if schema := object(mapping, "schema"); schema != nil {
				node = schema
			}
			for _, aspect := range []string{"pattern", "minLength", "maxLength", "minimum", "maximum", "minItems",
				"maxItems", "default", "format", "nullable"} {
				if _, marked := marks[aspect]; marked {
					assert.Contains(t, node, aspect, "%s%s marks what is not there", name, pointer)
				}
			}
		})
	}
}

func TestEverySlugIsInTheCatalogue(t *testing.T) {
	known := map[string]bool{}
	for _, entry := range source(t, "errors.yaml")["slugs"].([]any) {
		known[entry.(map[string]any)["slug"].(string)] = true
	}
	require.Greater(t, len(known), 40)
	for _, name := range append([]string{"coverage.yaml"}, descriptions...) {
		walk("", source(t, name), func(pointer string, mapping map[string]any) {
			slugs, _ := mapping["x-slugs"].([]any)
			for _, slug := range slugs {
				assert.True(t, known[slug.(string)], "%s%s: %s", name, pointer, slug)
			}
		})
	}
}
