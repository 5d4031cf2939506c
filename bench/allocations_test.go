package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/bench/internal/cases"
)

// mostAllocations limits the SDK's allocations for each kind of call. The limits are a little above the present
// numbers, to leave room for other releases of Go. They do not depend on the hand-written client, whose numbers come
// from encoding/json and change with each release of Go.
var mostAllocations = map[string]float64{
	"get": 39, "write": 97, "page": 520, "iterate": 5200,
	"get-unknown": 40, "page-unknown": 520, "get-greek": 40, "page-greek": 620, "get-other": 410, "page-other": 8000,
	"error-404": 44, "error-409": 155, "error-429": 50, "pay": 450,
}

// mayExceedHand are the kinds of call for which the SDK may still allocate more than the hand-written client.
var mayExceedHand = map[string]bool{
	"write": true, "get-other": true, "page-other": true,
	"error-404": true, "error-409": true, "error-429": true, "pay": true,
}

// TestAllocations holds the SDK to the limits, and below the hand-written client. Under the race detector, pools drop
// buffers at random, so the limits are not checked there. make allocations checks them.
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
