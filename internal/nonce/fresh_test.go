package nonce_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/nonce"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

var revealThing = transport.Operation{ID: "RevealThing", Method: http.MethodPost, Path: "/things/reveal"}

// A nonce is valid for less than five minutes.
func TestANonceGrowsStale(t *testing.T) {
	signed := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	require.NoError(t, nonce.Fresh(&revealThing, signed.Unix(), signed.Add(5*time.Minute-1)))
	err := nonce.Fresh(&revealThing, signed.Unix(), signed.Add(5*time.Minute))
	var input *errors.InvalidInput
	require.ErrorAs(t, err, &input)
	assert.Equal(t, revealThing.ID, input.Operation)
	require.Len(t, input.Fields, 1)
	assert.Equal(t, "nonce", input.Fields[0].Field)
	assert.Equal(t, "stale", input.Fields[0].Code)
}

// A burst reaches back for 150 seconds, and then starts again.
func TestABurstOfNonces(t *testing.T) {
	var nonces nonce.Source
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for back := range 151 {
		assert.Equal(t, noon.Add(-time.Duration(back)*time.Second), nonces.Next(noon).UTC())
	}
	for range 3 {
		assert.Equal(t, noon, nonces.Next(noon).UTC(), "the service judges")
	}
}

// However long a program runs, only the nonces within a burst's reach are stored, wherever the clock goes.
func TestOldNoncesAreForgotten(t *testing.T) {
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for name, step := range map[string]time.Duration{"forwards": time.Second, "backwards": -time.Second} {
		t.Run(name, func(t *testing.T) {
			var nonces nonce.Source
			for i := range 1000 {
				nonces.Next(noon.Add(time.Duration(i) * step))
			}
			assert.Equal(t, 151, nonces.Remembered())
		})
	}
}
