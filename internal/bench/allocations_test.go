package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAllocations limits the SDK's allocations for each call. The limits are a little above the present numbers, to
// leave room for other releases of Go. They do not depend on the hand-written client, whose numbers come from
// encoding/json and change with each release of Go. Under the race detector, pools drop buffers at random, so the SDK
// is only compared with the hand-written client there. make allocations checks the limits.
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
