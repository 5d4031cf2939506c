package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAllocations holds what the SDK allocates to what the same calls allocate by hand. The bounds leave room for other versions of Go and
// for the race detector, under which pools forget at random; the benchmark shows the figures as they are.
func TestAllocations(t *testing.T) {
	most := map[string]float64{ // of what the call allocates by hand
		"GetPayout":           0.65,
		"BookPayout":          0.75,
		"ListTransactions100": 0.65,
	}
	for _, c := range comparisons(t) {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, most, c.name)
			var failed error
			allocs := func(call call) float64 {
				return testing.AllocsPerRun(100, func() {
					if _, err := call(t.Context()); err != nil {
						failed = err
					}
				})
			}
			sdk, hand := allocs(c.sdk), allocs(c.hand)
			require.NoError(t, failed)
			assert.LessOrEqual(t, sdk, most[c.name]*hand, "%.0f allocations, by hand %.0f", sdk, hand)
		})
	}
}
