package clock_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

func minute() time.Duration { return time.Minute }

func frozen() *clock.Clock {
	start := time.Unix(1_800_000_000, 0)
	return clock.New(func() time.Time { return start })
}

func TestEachWindowTakesItsLimitAndOpensAgain(t *testing.T) {
	cases := map[string]struct {
		window clock.Window
		limit  int
		length time.Duration
	}{
		"writes":              {clock.Writes, 120, time.Minute},
		"reads":               {clock.Reads, 600, time.Minute},
		"login per address":   {clock.Login, 20, 5 * time.Minute},
		"login per email":     {clock.LoginEmail, 10, 5 * time.Minute},
		"login per challenge": {clock.LoginChallenge, 10, 5 * time.Minute},
		"sandbox money":       {clock.SandboxMoney, 60, time.Hour},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			clk := frozen()
			counters := clock.NewCounters(clk, minute)
			for range c.limit {
				require.NoError(t, counters.Take(c.window, "one"))
			}
			clk.Advance(c.length / 4)

			var refusal *wire.Refusal
			require.ErrorAs(t, counters.Take(c.window, "one"), &refusal)
			assert.Equal(t, "rate_limited", refusal.Code)
			assert.Equal(t, c.length*3/4, refusal.RetryAfter)
			assert.NoError(t, counters.Take(c.window, "another"), "keys are counted apart")

			clk.Advance(refusal.RetryAfter)
			assert.NoError(t, counters.Take(c.window, "one"))
		})
	}
}

func TestCountersOffAndReset(t *testing.T) {
	length := time.Duration(0)
	counters := clock.NewCounters(frozen(), func() time.Duration { return length })
	for range 1000 {
		require.NoError(t, counters.Take(clock.Writes, "one"))
	}
	length = time.Minute
	for range 120 {
		require.NoError(t, counters.Take(clock.Writes, "one"), "what passed while off is not counted")
	}
	require.Error(t, counters.Take(clock.Writes, "one"))
	counters.Reset()
	assert.NoError(t, counters.Take(clock.Writes, "one"))
}

// A minute may last a second: the limits stay, and every window is 60 times as short.
func TestWindowLengthFollowsMinute(t *testing.T) {
	clk := frozen()
	counters := clock.NewCounters(clk, func() time.Duration { return time.Second })
	for w, length := range map[clock.Window]time.Duration{
		clock.Writes: time.Second, clock.Login: 5 * time.Second, clock.SandboxMoney: time.Minute,
	} {
		taken := 0
		err := counters.Take(w, "one")
		for ; err == nil; err = counters.Take(w, "one") {
			taken++
		}
		refusal, _ := errors.AsType[*wire.Refusal](err)
		assert.Equal(t, map[clock.Window]int{clock.Writes: 120, clock.Login: 20, clock.SandboxMoney: 60}[w], taken)
		assert.Equal(t, length, refusal.RetryAfter)
	}
	clk.Advance(time.Second)
	assert.NoError(t, counters.Take(clock.Writes, "one"))
	assert.Error(t, counters.Take(clock.Login, "one"))
}

func TestManyKeysDoNotEvictOpenWindow(t *testing.T) {
	clk := frozen()
	counters := clock.NewCounters(clk, minute)
	for range 10 {
		require.NoError(t, counters.Take(clock.LoginEmail, "one"))
	}
	for i := range 10_000 {
		require.NoError(t, counters.Take(clock.LoginEmail, strconv.Itoa(i)))
	}
	assert.Error(t, counters.Take(clock.LoginEmail, "one"))
}
