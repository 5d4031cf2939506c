package payments_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestAPaymentIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.started()
		submitted, err := p.Submit(t.Context(), w.payment(1))
		require.NoError(t, err)
		assert.Equal(t, payments.Accepted, submitted.State)
		done, err := p.Await(t.Context(), submitted.Key)
		require.NoError(t, err)
		assert.Equal(t, payments.Completed, done.State)
		assert.Equal(t, 1, done.Calls)
		t.Logf("%+v after %s", done, time.Since(submitted.AcceptedAt))
	})
}

func TestALostConfirmIsPaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		lost := w.host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm", sandbox.DropAfterCommit().Times(3))
		p := w.started()
		for n := range 20 {
			_, err := p.Submit(t.Context(), w.payment(n))
			require.NoError(t, err)
		}
		for n := range 20 {
			done, err := p.Await(t.Context(), w.payment(n).Key)
			require.NoError(t, err)
			assert.Equal(t, payments.Completed, done.State)
		}
		assert.Equal(t, 3, lost.Consumed())
	})
}
