package load

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The heap holds no more in the middle and at the end than what a client and a page need.
func TestTheHeapStaysFlat(t *testing.T) {
	figures, err := Measure(t.Context(), 20_000)
	require.NoError(t, err)
	require.Len(t, figures, 8)
	for _, half := range [][]int{{0, 1, 2}, {4, 5, 6}} {
		start := figures[half[0]].Value
		for _, at := range half[1:] {
			assert.Less(t, figures[at].Value, start+1, "%s: megabytes", figures[at].Name)
		}
	}
}
