package transport

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A walk of any length takes bounded memory, and a circle at its end is noticed.
func TestTheTrailOfALongWalkIsBounded(t *testing.T) {
	walked := NewTrail("")
	for i := range 5 * longestTrail {
		if walked.Again(strconv.Itoa(i)) {
			t.Fatalf("step %d is new", i)
		}
		if len(walked.seen) > longestTrail {
			t.Fatalf("%d steps are remembered", len(walked.seen))
		}
	}
	noticed := false
	for i := range 4 * longestTrail { // a circle of half the trail's length
		noticed = noticed || walked.Again("circle "+strconv.Itoa(i%(longestTrail/2)))
	}
	assert.True(t, noticed)
}
