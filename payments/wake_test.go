package payments_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/payments"
)

// claims counts the claims of a class.
type claims struct {
	payments.Store
	begin int
}

func (c *claims) Claim(ctx context.Context, claim payments.Claim) (payments.Claimed, error) {
	if claim.Work == payments.WorkBegin {
		c.begin++
	}
	return c.Store.Claim(ctx, claim)
}

func TestWakeLooksForWorkBeforeTheNextPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &claims{Store: payments.NewMemoryStore()}
		processor, err := payments.New(store, payments.Services{}, payments.Config{PollEvery: time.Hour})
		require.NoError(t, err)
		assert.False(t, processor.Wake(), "nothing runs before Resume")
		_, err = processor.Resume(t.Context())
		require.NoError(t, err)
		synctest.Wait()
		before := store.begin
		time.Sleep(30 * time.Minute)
		assert.Equal(t, before, store.begin, "it does not poll by itself in this time")
		assert.True(t, processor.Wake())
		synctest.Wait()
		assert.Equal(t, before+1, store.begin)
		require.NoError(t, processor.Stop(t.Context()))
		assert.False(t, processor.Wake())
		synctest.Wait()
		assert.Equal(t, before+1, store.begin)
	})
}
