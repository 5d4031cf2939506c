package payments

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leased is a payment that this process has claimed.
var leased = Claimed{Record{Key: "k-1"}, Lease{Owner: "p1", Epoch: 1}}

// oneMinute holds leases for a minute.
func oneMinute() *held {
	return newHeld(NewMemoryStore(), Config{Owner: "p1", LeaseFor: time.Minute, Now: time.Now},
		&outage{logger: slog.New(slog.DiscardHandler)})
}

// A claim that took as long as the lease lasts has no lease any more. Nothing may begin under it.
func TestALeaseThatEndedBeforeTheStep(t *testing.T) {
	t.Parallel()
	for _, took := range []time.Duration{time.Minute, time.Minute + time.Nanosecond, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			h := oneMinute()
			claimed := time.Now()
			time.Sleep(took)
			kept, _, done := h.keep(t.Context(), leased, claimed)
			lost, ok := errors.AsType[*LeaseLost](context.Cause(kept))
			require.True(t, ok, "%v: %v", took, context.Cause(kept))
			assert.Equal(t, leased.Lease, lost.Lease)
			done(time.Time{}, true)
		})
	}
}

// Until then, the step has what is left of it.
func TestALeaseCountsFromItsClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := oneMinute()
		claimed := time.Now()
		time.Sleep(50 * time.Second)
		kept, _, done := h.keep(t.Context(), leased, claimed)
		require.NoError(t, kept.Err())
		<-kept.Done()
		assert.Equal(t, time.Minute, time.Since(claimed))
		done(time.Time{}, true)
	})
}
