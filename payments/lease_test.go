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

// A claim that took as long as the lease lasts has no lease any more. Nothing may begin under it.
func TestALeaseThatEndedBeforeTheStep(t *testing.T) {
	t.Parallel()
	for _, took := range []time.Duration{time.Minute, time.Minute + time.Nanosecond, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			h := newHeld(NewMemoryStore(), Config{Owner: "p1", LeaseFor: time.Minute, Logger: slog.New(slog.DiscardHandler)})
			row := Row{Key: "k-1", Lease: Lease{Owner: "p1", Epoch: 1}}
			claimed := time.Now()
			time.Sleep(took)
			kept, _, done := h.keep(t.Context(), row, claimed)
			lost, ok := errors.AsType[*LeaseLost](context.Cause(kept))
			require.True(t, ok, "%v: %v", took, context.Cause(kept))
			assert.Equal(t, row.Lease, lost.Lease)
			done(time.Time{}, true)
		})
	}
}

// Until then, the step has what is left of it.
func TestALeaseCountsFromItsClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHeld(NewMemoryStore(), Config{Owner: "p1", LeaseFor: time.Minute, Logger: slog.New(slog.DiscardHandler)})
		claimed := time.Now()
		time.Sleep(50 * time.Second)
		kept, _, done := h.keep(t.Context(), Row{Key: "k-1", Lease: Lease{Owner: "p1", Epoch: 1}}, claimed)
		require.NoError(t, kept.Err())
		<-kept.Done()
		assert.Equal(t, time.Minute, time.Since(claimed))
		done(time.Time{}, true)
	})
}
