package dapi

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A walk of any length takes bounded memory, and a circle at its end is noticed.
func TestTheTrailOfALongWalkIsBounded(t *testing.T) {
	walked := newTrail("")
	for i := range 5 * longestTrail {
		if walked.again(strconv.Itoa(i)) {
			t.Fatalf("cursor %d is new", i)
		}
		if len(walked.seen) > longestTrail {
			t.Fatalf("%d cursors are remembered", len(walked.seen))
		}
	}
	noticed := false
	for i := range 4 * longestTrail { // a circle of half the trail's length
		noticed = noticed || walked.again("circle "+strconv.Itoa(i%(longestTrail/2)))
	}
	assert.True(t, noticed)
}
