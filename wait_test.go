package moneymovement_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

func TestPausesOutsideTheBoundsAreRefused(t *testing.T) {
	const day = 24 * time.Hour
	for pace, refused := range map[moneymovement.Pace]bool{
		{Least: time.Second, Most: time.Minute}: false,
		{Least: time.Millisecond, Most: day}:    false,
		{Least: day, Most: day}:                 false,
		{}:                                      true,
		{Least: time.Millisecond - 1, Most: time.Hour}: true,
		{Least: -time.Second, Most: math.MinInt64}:     true,
		{Least: time.Minute, Most: time.Minute - 1}:    true,
		{Least: time.Second, Most: day + 1}:            true,
	} {
		of := moneymovement.WaitSettingsOf(nil, moneymovement.PollEvery(pace.Least, pace.Most))
		assert.Equal(t, refused, len(of.Invalid) == 1, "%v", pace)
		assert.Equal(t, pace, of.Polling)
	}
}

func TestAWaitWithoutAFunctionIsRefused(t *testing.T) {
	invalid := moneymovement.WaitSettingsOf(moneymovement.OnProgress(nil)).Invalid
	require.Len(t, invalid, 1)
	assert.Equal(t, "OnProgress missing", invalid[0].Field+" "+invalid[0].Code)
}

// A wait for what moves no money says so.
func TestStillPendingSaysWhetherMoneyCanMove(t *testing.T) {
	for resource, want := range map[string]errors.Movement{
		"client": errors.NotMoved, "rail": errors.NotMoved, "verification": errors.NotMoved,
		"payout": errors.MaybeMoved, "payin": errors.MaybeMoved, "escrow": errors.MaybeMoved,
		"quote": errors.MaybeMoved,
	} {
		err := &moneymovement.StillPending{Progress: moneymovement.Progress{Resource: resource, ID: "7", Status: "open",
			Reads: 2, Waited: time.Second}, Err: errors.New("why")}
		assert.Equal(t, want, err.MovedByCall(), resource)
		assert.True(t, err.Retryable())
		require.ErrorContains(t, err, resource+" 7 is still open after 1s and 2 reads: why - see ")
		require.ErrorIs(t, err, err.Err)
	}
}
