package moneymovement_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

type refusingLimiter struct{ err error }

func (l refusingLimiter) Wait(context.Context, moneymovement.RateCall) error { return l.err }

// A limiter of the caller refuses a call that comes too late with an error that the request path understands, and that
// the caller finds again.
func TestALimiterOfTheCallerRefusesALateCall(t *testing.T) {
	until := time.Now().Add(time.Minute)
	for name, closed := range map[string]bool{"deadline": false, "approval": true} {
		t.Run(name, func(t *testing.T) {
			late := &moneymovement.NoRoom{Window: moneymovement.WindowWrites, Until: until, Closed: closed}
			config := transport.ConfigOf(moneymovement.Version, []moneymovement.Option{
				moneymovement.WithRateLimiter(refusingLimiter{late})})
			err := config.Limiter.Wait(t.Context(), transport.RateCall{})
			var wait *transport.WaitTooLong
			require.ErrorAs(t, err, &wait)
			assert.Equal(t, closed, wait.Closed)
			assert.Equal(t, until, wait.Until)
			assert.Equal(t, transport.WindowWrites, wait.Window)
			var found *moneymovement.NoRoom
			require.ErrorAs(t, err, &found)
			assert.Same(t, late, found)
			assert.Equal(t, !closed, errors.Is(err, context.DeadlineExceeded))
			assert.ErrorContains(t, late, wait.Error())
		})
	}
}

func TestTheStatedWindowsAreThoseOfTheLimiter(t *testing.T) {
	stated := moneymovement.StatedWindows()
	assert.Len(t, stated, len(transport.StatedWindows()))
	assert.Equal(t, moneymovement.Allowance{Calls: 120, Per: time.Minute}, stated[moneymovement.WindowWrites])
	assert.Equal(t, 61*time.Second, stated[moneymovement.WindowWrites].Held())
	stated[moneymovement.WindowWrites] = moneymovement.Allowance{}
	assert.Equal(t, 120, moneymovement.StatedWindows()[moneymovement.WindowWrites].Calls, "each map is the caller's")
}
