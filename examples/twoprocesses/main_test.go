package main

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

// TestMain runs the program if the program, under test, started itself.
func TestMain(m *testing.M) {
	if program.StartedAgain() {
		main()
	}
	os.Exit(m.Run())
}

func TestTwoProcessesShareASessionAndTheRateWindows(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	out := rehearsal.Run(t, run, nil, "logged in, saved the session in a file", "whole rate windows")
	whole, half := together(t, out), together(t, rehearsal.Told(t, out, "half of each rate window"))
	assert.Equal(t, 120, whole.Saved)
	assert.Equal(t, 2*contacts-120, whole.Refused)
	assert.Equal(t, 2*54, half.Saved, "half of 120, less a tenth for confirms, in each process")
	assert.Zero(t, half.Refused)
	assert.Zero(t, whole.Logins+half.Logins, "the session is in the file")
}

func together(t *testing.T, out string) (r result) {
	t.Helper()
	found := regexp.MustCompile(`together: saved (\d+), refused (\d+), logins (\d+)`).FindStringSubmatch(out)
	require.NotNil(t, found, out)
	for i, into := range []*int{&r.Saved, &r.Refused, &r.Logins} {
		number, err := strconv.Atoi(found[i+1])
		require.NoError(t, err)
		*into = number
	}
	return r
}

func TestAShareOfAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &limiter{share: 2}
		write := moneymovement.RateCall{Window: moneymovement.WindowWrites, Class: moneymovement.ClassWrite}
		confirm := moneymovement.RateCall{Window: moneymovement.WindowWrites, Class: moneymovement.ClassConfirm}
		began := time.Now()
		for range 54 {
			require.NoError(t, l.Wait(t.Context(), write))
		}
		for range 6 {
			require.NoError(t, l.Wait(t.Context(), confirm))
		}
		assert.Zero(t, time.Since(began), "half of the window is free at first")

		soon, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, l.Wait(soon, write), context.DeadlineExceeded)
		assert.Zero(t, time.Since(began), "the turn is after the deadline")

		require.NoError(t, l.Wait(t.Context(), moneymovement.RateCall{Window: moneymovement.WindowReads}))
		assert.Zero(t, time.Since(began), "reads have a window of their own")
		require.NoError(t, l.Wait(t.Context(), write))
		assert.Equal(t, 61*time.Second, time.Since(began))
	})
}

func TestACallThatIsCancelledLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &limiter{share: 120}
		write := moneymovement.RateCall{Window: moneymovement.WindowWrites}
		require.NoError(t, l.Wait(t.Context(), write))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		require.ErrorIs(t, l.Wait(ctx, write), context.Canceled)
	})
}
