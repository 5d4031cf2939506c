package window_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/window"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

func minute() time.Duration { return time.Minute }

func frozen() *clock.Clock {
	start := time.Unix(1_800_000_000, 0)
	return clock.New(func() time.Time { return start })
}

func TestEachWindowTakesItsLimitAndOpensAgain(t *testing.T) {
	cases := map[string]struct {
		window window.Window
		limit  int
		length time.Duration
	}{
		"writes":              {window.Writes, 120, time.Minute},
		"reads":               {window.Reads, 600, time.Minute},
		"login per address":   {window.Login, 20, 5 * time.Minute},
		"login per email":     {window.LoginEmail, 10, 5 * time.Minute},
		"login per challenge": {window.LoginChallenge, 10, 5 * time.Minute},
		"sandbox money":       {window.SandboxMoney, 60, time.Hour},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			clk := frozen()
			counters := window.New(clk, minute)
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

func TestCountersCanBeOffAndReset(t *testing.T) {
	length := time.Duration(0)
	counters := window.New(frozen(), func() time.Duration { return length })
	for range 1000 {
		require.NoError(t, counters.Take(window.Writes, "one"))
	}
	length = time.Minute
	for range 120 {
		require.NoError(t, counters.Take(window.Writes, "one"), "what passed while off is not counted")
	}
	require.Error(t, counters.Take(window.Writes, "one"))
	counters.Reset()
	assert.NoError(t, counters.Take(window.Writes, "one"))
}

// A minute may last a second: the limits stay, and every window is shorter by the same factor.
func TestAMinuteMayBeShorter(t *testing.T) {
	clk := frozen()
	counters := window.New(clk, func() time.Duration { return time.Second })
	for w, length := range map[window.Window]time.Duration{
		window.Writes: time.Second, window.Login: 5 * time.Second, window.SandboxMoney: time.Minute,
	} {
		taken := 0
		err := counters.Take(w, "one")
		for ; err == nil; err = counters.Take(w, "one") {
			taken++
		}
		refusal, _ := errors.AsType[*wire.Refusal](err)
		assert.Equal(t, map[window.Window]int{window.Writes: 120, window.Login: 20, window.SandboxMoney: 60}[w], taken)
		assert.Equal(t, length, refusal.RetryAfter)
	}
	clk.Advance(time.Second)
	assert.NoError(t, counters.Take(window.Writes, "one"))
	assert.Error(t, counters.Take(window.Login, "one"))
}

func TestMadeUpKeysDoNotPushOutAnOpenWindow(t *testing.T) {
	clk := frozen()
	counters := window.New(clk, minute)
	for range 10 {
		require.NoError(t, counters.Take(window.LoginEmail, "one"))
	}
	for i := range 10_000 {
		require.NoError(t, counters.Take(window.LoginEmail, strconv.Itoa(i)))
	}
	assert.Error(t, counters.Take(window.LoginEmail, "one"))
}
