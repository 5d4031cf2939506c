package transport

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAWalkThatComesBackToItsBeginning(t *testing.T) {
	walked := NewTrail("first")
	assert.False(t, walked.Again("second"))
	assert.True(t, walked.Again("first"))
}

// A walk of any length needs limited memory, and a loop at its end is noticed.
func TestTheTrailOfALongWalkIsBounded(t *testing.T) {
	const most = 65_536
	walked := NewTrail("")
	for i := range 5 * most {
		if walked.Again(strconv.Itoa(i)) {
			t.Fatalf("step %d is new", i)
		}
		if len(walked.seen) > most {
			t.Fatalf("%d steps are remembered", len(walked.seen))
		}
	}
	noticed := false
	for i := range 4 * most { // a circle of half the trail's length
		noticed = noticed || walked.Again("circle "+strconv.Itoa(i%(most/2)))
	}
	assert.True(t, noticed)
}
