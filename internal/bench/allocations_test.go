package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAllocations holds the SDK to a number of allocations for each call, a little above what it is today: that leaves
// room for other releases of Go. The bounds are the SDK's own figures, for those of the hand-written client are
// encoding/json's, and change from one release of Go to the next. Under the race detector pools forget at random, so
// there the SDK is only compared with the client by hand; make allocations holds the bounds.
func TestAllocations(t *testing.T) {
	most := map[string]float64{
		"GetPayout":           39,
		"BookPayout":          53,
		"ListTransactions100": 520,
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
			t.Logf("%.0f allocations, by hand %.0f", sdk, hand)
			if !raceDetector {
				assert.LessOrEqual(t, sdk, most[c.name], "of the SDK")
			}
			assert.Less(t, sdk, hand, "of the SDK, and by hand")
		})
	}
}
