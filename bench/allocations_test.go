package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/bench/internal/cases"
)

// mostAllocations limits the SDK's allocations for each kind of call. The limits are the present numbers, with room for
// one or two in a hundred.
var mostAllocations = map[string]float64{
	"get": 37, "write": 53, "page": 490, "iterate": 4950,
	"get-unknown": 37, "page-unknown": 490, "get-greek": 38, "page-greek": 690, "get-other": 39, "page-other": 493,
	"error-404": 14, "error-409": 32, "error-429": 20, "pay": 285,
}

// mayExceedHand are the kinds of call that may allocate more than the hand-written client.
var mayExceedHand = map[string]bool{
	"pay": true, // on Go 1.27: encoding/json allocates less there
}

// TestAllocations holds the SDK to the limits, and to what the hand-written client allocates on the same release of Go.
// Under the race detector, pools drop buffers at random, so the limits are not checked there. make allocations checks
// them.
func TestAllocations(t *testing.T) {
	for _, c := range cases.All() {
		kind, inMemory := strings.CutPrefix(c.ID, "memory/")
		if !inMemory || c.Callers > 1 || kind == "login" {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			require.Contains(t, mostAllocations, kind)
			library, hand, err := c.Open()
			require.NoError(t, err)
			sdk, byHand := allocations(t, library), allocations(t, hand)
			t.Logf("%.0f allocations, by hand %.0f", sdk, byHand)
			if !raceDetector {
				assert.LessOrEqual(t, sdk, mostAllocations[kind], "of the SDK")
			}
			if !mayExceedHand[kind] {
				assert.Less(t, sdk, byHand, "of the SDK, and by hand")
			}
		})
	}
}

func allocations(t *testing.T, side cases.Side) float64 {
	t.Helper()
	var failed error
	count := testing.AllocsPerRun(100, func() {
		if err := side.Call(t.Context()); err != nil {
			failed = err
		}
	})
	require.NoError(t, failed)
	return count
}
