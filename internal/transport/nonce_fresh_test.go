package transport_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// A nonce is valid for less than five minutes.
func TestANonceGrowsStale(t *testing.T) {
	signed := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	require.NoError(t, transport.FreshNonce(&readThing, signed.Unix(), signed.Add(5*time.Minute-1)))
	err := transport.FreshNonce(&readThing, signed.Unix(), signed.Add(5*time.Minute))
	var input *errors.InvalidInput
	require.ErrorAs(t, err, &input)
	assert.Equal(t, readThing.ID, input.Operation)
	require.Len(t, input.Fields, 1)
	assert.Equal(t, "nonce", input.Fields[0].Field)
	assert.Equal(t, "stale", input.Fields[0].Code)
}

// A burst reaches back for 150 seconds, and then begins anew.
func TestABurstOfNonces(t *testing.T) {
	var nonces transport.Nonces
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for back := range 151 {
		assert.Equal(t, noon.Add(-time.Duration(back)*time.Second), nonces.Next(noon).UTC())
	}
	for range 3 {
		assert.Equal(t, noon, nonces.Next(noon).UTC(), "the service judges")
	}
}

// However long a program runs, only the nonces that a burst could reach are remembered, wherever its clock goes.
func TestOldNoncesAreForgotten(t *testing.T) {
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for name, step := range map[string]time.Duration{"forwards": time.Second, "backwards": -time.Second} {
		t.Run(name, func(t *testing.T) {
			var nonces transport.Nonces
			for i := range 1000 {
				nonces.Next(noon.Add(time.Duration(i) * step))
			}
			assert.Equal(t, 151, nonces.Remembered())
		})
	}
}

func TestTheUsualPace(t *testing.T) {
	assert.Equal(t, transport.Pace{Least: 500 * time.Millisecond, Most: 15 * time.Second}, transport.DefaultPace())
}

// A call counts here for a little longer than at the service: a sixtieth, and at most a second.
func TestHowLongACallCounts(t *testing.T) {
	for per, held := range map[time.Duration]time.Duration{
		time.Minute: 61 * time.Second, time.Hour: time.Hour + time.Second, 30 * time.Second: 30500 * time.Millisecond,
	} {
		assert.Equal(t, held, transport.Allowance{Calls: 1, Per: per}.Held())
	}
}
