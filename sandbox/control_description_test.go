package sandbox

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// control.yaml and the routes that the host serves are the same.
func TestTheControlsAreThoseOfTheirDescription(t *testing.T) {
	document, err := controlDescription()
	require.NoError(t, err)
	require.NoError(t, document.Validate(t.Context()))
	var described []string
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			described = append(described, controlRoute{method, path}.String())
			assert.NotEmpty(t, operation.Summary, path)
			assert.Len(t, operation.Tags, 1, path)
		}
	}
	var served []string
	for route := range maps.Keys(control{New()}.routes()) {
		served = append(served, route.String())
	}
	slices.Sort(described)
	slices.Sort(served)
	assert.Equal(t, described, served)
}
