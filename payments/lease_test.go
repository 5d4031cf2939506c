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

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// leased is a payment that this process has claimed.
var leased = Claimed{Record{Key: "k-1"}, Lease{Owner: "p1", Epoch: 1}}

// oneMinute holds leases for a minute.
func oneMinute() *leaseHolder {
	return newLeaseHolder(NewMemoryStore(), Config{Owner: "p1", LeaseFor: time.Minute, Now: time.Now},
		&outage{logger: slog.New(slog.DiscardHandler)})
}

// A claim that took as long as the lease lasts has no lease any more. Nothing may begin under it.
func TestLeaseEndedBeforeStep(t *testing.T) {
	t.Parallel()
	for _, took := range []time.Duration{time.Minute, time.Minute + time.Nanosecond, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			h := oneMinute()
			claimed := time.Now()
			time.Sleep(took)
			kept, _, done := h.hold(t.Context(), leased, claimed)
			lost, ok := errors.AsType[*LeaseLost](context.Cause(kept))
			require.True(t, ok, "%v: %v", took, context.Cause(kept))
			assert.Equal(t, leased.Lease, lost.Lease)
			done(time.Time{}, true)
		})
	}
}

// Until then, the step has what is left of it.
func TestLeaseStartsAtClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := oneMinute()
		claimed := time.Now()
		time.Sleep(50 * time.Second)
		kept, _, done := h.hold(t.Context(), leased, claimed)
		require.NoError(t, kept.Err())
		<-kept.Done()
		assert.Equal(t, time.Minute, time.Since(claimed))
		done(time.Time{}, true)
	})
}

// unrenewed is a store that fails to renew leases.
type unrenewed struct{ Store }

func (unrenewed) Extend(context.Context, map[moneymovement.Key]Lease, time.Duration) ([]moneymovement.Key, error) {
	return nil, errors.New("the store is away")
}

// A step ends with its lease: at its end if the store cannot renew it, and at once if another process has the payment.
func TestUnrenewedLeaseCancelsStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		store func(Store) Store
		after time.Duration
	}{
		"the store is away":   {func(s Store) Store { return unrenewed{s} }, time.Minute},
		"another process has": {func(s Store) Store { return s }, 18 * time.Second}, // the store has no such lease
	} {
		synctest.Test(t, func(t *testing.T) {
			h := oneMinute()
			h.store = c.store(h.store)
			claimed := time.Now()
			kept, _, done := h.hold(t.Context(), leased, claimed)
			select {
			case <-kept.Done():
				assert.Equal(t, c.after, time.Since(claimed), name)
				require.ErrorContains(t, context.Cause(kept), "the lease of p1 (epoch 1) has ended", name)
			case <-time.After(time.Hour):
				assert.Fail(t, "the step goes on", name)
			}
			done(time.Time{}, true)
			synctest.Wait()
		})
	}
}
