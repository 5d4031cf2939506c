package ratewindow_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

// Together, all shares are at most the stated windows, as long as each share can have one call. The window of a
// challenge belongs to one client.
func TestSharesOfTheStatedWindows(t *testing.T) {
	stated := moneymovement.StatedWindows()
	assert.Equal(t, stated, ratewindow.ShareOfStatedWindows(1))
	for n := 1; n <= 1000; n++ {
		shares := ratewindow.ShareOfStatedWindows(n)
		require.Len(t, shares, len(stated))
		for window, share := range shares {
			whole := stated[window]
			require.Equal(t, whole.Per, share.Per)
			switch {
			case window == moneymovement.WindowLoginChallenge:
				require.Equal(t, whole, share)
			case n > whole.Calls:
				require.Equal(t, 1, share.Calls)
			default:
				require.LessOrEqual(t, n*share.Calls, whole.Calls)
				require.Greater(t, n*(share.Calls+1), whole.Calls, "no call is given away")
			}
		}
	}
}

// Two limiters with a half of each window pass as many calls at once as the window takes. They count the login window
// of their address as well.
func TestTwoHalvesOfEachWindow(t *testing.T) {
	for window, allowance := range moneymovement.StatedWindows() {
		if window == moneymovement.WindowLoginChallenge {
			continue
		}
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				for range 2 {
					limiter := alone(ratewindow.ShareOfStatedWindows(2))
					for range allowance.Calls / 2 {
						require.NoError(t, pass(t.Context(), limiter, window, ""))
					}
					require.Zero(t, time.Since(began))
					soon, cancel := context.WithTimeout(t.Context(), 50*time.Second)
					defer cancel()
					require.ErrorIs(t, pass(soon, limiter, window, ""), context.DeadlineExceeded)
				}
			})
		})
	}
}
