package clock_test

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
)

func TestClockFollowsItsBaseAndAdvances(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("elsewhere", 3600))
	c := clock.New(func() time.Time { return start })

	assert.Equal(t, start.UTC(), c.Now())
	assert.Equal(t, time.UTC, c.Now().Location())
	assert.Equal(t, start.Add(time.Hour).UTC(), c.Advance(time.Hour))
	assert.Equal(t, start.Add(time.Hour).UTC(), c.Advance(-time.Minute), "time never moves back")
	c.Reset()
	assert.Equal(t, start.UTC(), c.Now())
}

func TestClockAdvanceSaturates(t *testing.T) {
	start := time.Unix(0, 0)
	c := clock.New(func() time.Time { return start })
	end := start.Add(math.MaxInt64).UTC()
	assert.Equal(t, end, c.Advance(math.MaxInt64))
	assert.Equal(t, end, c.Advance(time.Hour), "time never moves back")
}

func TestZeroClockFollowsMachineClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock.Clock
		before := c.Now()
		time.Sleep(time.Minute)
		assert.Equal(t, time.Minute, c.Now().Sub(before))
	})
}

func TestConcurrentAdvancesAddUp(t *testing.T) {
	var wg sync.WaitGroup
	start := time.Unix(0, 0)
	c := clock.New(func() time.Time { return start })
	for range 100 {
		wg.Go(func() { c.Advance(time.Second) })
	}
	wg.Wait()
	assert.Equal(t, start.Add(100*time.Second).UTC(), c.Now())
}
