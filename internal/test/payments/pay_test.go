package payments_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestAPaymentIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.started()
		submitted, err := p.Submit(t.Context(), w.payment(1))
		require.NoError(t, err)
		assert.Equal(t, moneymovement.PaymentAccepted, submitted.State)
		done, err := p.Await(t.Context(), submitted.Key)
		require.NoError(t, err)
		assert.Equal(t, moneymovement.PaymentCompleted, done.State)
		assert.Equal(t, 1, done.Calls)
		t.Logf("%+v after %s", done, time.Since(submitted.AcceptedAt))
	})
}

func TestALostConfirmIsPaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		lost := w.Host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm", sandbox.DropAfterCommit().Times(3))
		p := w.started()
		for n := range 20 {
			_, err := p.Submit(t.Context(), w.payment(n))
			require.NoError(t, err)
		}
		for n := range 20 {
			done, err := p.Await(t.Context(), w.payment(n).Key)
			require.NoError(t, err)
			assert.Equal(t, moneymovement.PaymentCompleted, done.State)
		}
		assert.Equal(t, 3, lost.Consumed())
	})
}

// A payment is in a state so shortly that nobody sees it, or never comes there: a wait for it ends with the payment.
func TestAWaitForAStateThatDoesNotCome(t *testing.T) {
	inBubble(t, func(w *world) {
		p, late := w.started(), w.payment(2)
		late.Deadline = time.Now().Add(-time.Minute)
		w.submit(p, w.payment(1))
		w.submit(p, late)
		time.Sleep(time.Hour)
		waiting, cancel := context.WithTimeout(w.Context(), time.Hour)
		defer cancel()
		for key, want := range map[moneymovement.Key]moneymovement.PaymentState{
			w.payment(1).Key: moneymovement.PaymentCompleted, late.Key: moneymovement.PaymentRefused,
		} {
			r, err := p.Await(waiting, key, moneymovement.PaymentPaid)
			require.NoError(w, err)
			assert.Equal(w, want, r.State)
		}
	})
}
