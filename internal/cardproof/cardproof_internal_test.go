package cardproof

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

func TestNoncesAreHandedOutOnce(t *testing.T) {
	var nonces source
	noon := time.Date(2026, 3, 4, 12, 0, 0, 999, time.UTC)
	next := func(after time.Duration) time.Duration {
		return nonces.next(noon.Add(after)).Sub(noon.Truncate(time.Second))
	}

	var mu sync.Mutex
	seen := map[time.Duration]bool{}
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			given := next(0)
			mu.Lock()
			defer mu.Unlock()
			assert.False(t, seen[given], given)
			seen[given] = true
		})
	}
	all.Wait()
	for back := range 100 {
		assert.True(t, seen[-time.Duration(back)*time.Second],
			"the latest second that is free, and none that lies ahead")
	}

	assert.Equal(t, time.Second, next(time.Second))
	assert.Equal(t, -100*time.Second, next(time.Second), "what was taken stays taken")
	assert.Equal(t, -time.Hour, next(-time.Hour), "a clock that was set right counts from there")
	assert.Equal(t, time.Hour, next(time.Hour))
	for range 200 {
		given := next(time.Hour)
		assert.LessOrEqual(t, given, time.Hour)
		assert.Greater(t, given, time.Hour-5*time.Minute, "a nonce is always fresh")
	}
}

var revealThing = transport.Operation{ID: "RevealThing", Method: http.MethodPost, Path: "/things/reveal"}

// A nonce is valid for less than five minutes.
func TestNonceExpiresAfterFiveMinutes(t *testing.T) {
	signed := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	require.NoError(t, fresh(&revealThing, signed.Unix(), signed.Add(5*time.Minute-1)))
	err := fresh(&revealThing, signed.Unix(), signed.Add(5*time.Minute))
	var input *errors.InvalidInput
	require.ErrorAs(t, err, &input)
	assert.Equal(t, revealThing.ID, input.Operation)
	require.Len(t, input.Fields, 1)
	assert.Equal(t, "nonce", input.Fields[0].Field)
	assert.Equal(t, "stale", input.Fields[0].Code)
}

// A burst reaches back for 150 seconds, and then starts again.
func TestABurstOfNonces(t *testing.T) {
	var nonces source
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for back := range 151 {
		assert.Equal(t, noon.Add(-time.Duration(back)*time.Second), nonces.next(noon).UTC())
	}
	for range 3 {
		assert.Equal(t, noon, nonces.next(noon).UTC(), "the service judges")
	}
}

// However long a program runs, only the nonces within a burst's reach are stored, wherever the clock goes.
func TestOldNoncesAreForgotten(t *testing.T) {
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for name, step := range map[string]time.Duration{"forwards": time.Second, "backwards": -time.Second} {
		t.Run(name, func(t *testing.T) {
			var nonces source
			for i := range 1000 {
				nonces.next(noon.Add(time.Duration(i) * step))
			}
			assert.Len(t, nonces.used, 151)
		})
	}
}
