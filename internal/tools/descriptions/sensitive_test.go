package descriptions_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
