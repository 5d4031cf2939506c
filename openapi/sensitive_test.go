package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What holds secrets is treated so by the SDK: their texts travel in the request alone, and the answer's body is not captured.
func TestOperationsWithSecretsAreMarked(t *testing.T) {
	marked := 0
	for _, name := range surfaces {
		for _, o := range operations(t, name) {
			reached := map[string]map[string]any{}
			walk("", o.node, func(_ string, mapping map[string]any) { reach(t, name, mapping["$ref"], reached) })
			holds := false
			for _, schema := range reached {
				walk("", schema, func(_ string, mapping map[string]any) { holds = holds || mapping["x-sensitive"] == true })
			}
			assert.Equal(t, holds, o.node["x-sensitive"] == true, o.id)
			if holds {
				marked++
			}
		}
	}
	assert.GreaterOrEqual(t, marked, 5)
}
