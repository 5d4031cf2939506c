package payments_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// The responses to the bookings are lost for longer than the deadline. Nothing was signed, so no money can have left.
func TestADeadlineDuringAnOutageOfBookings(t *testing.T) {
	for name, fault := range map[string]sandbox.Fault{
		"lost before": sandbox.DropBefore(), "lost after": sandbox.DropAfterCommit(),
		"failure": sandbox.Respond(http.StatusInternalServerError, "internal_error"),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				lost := w.Host.Arm(http.MethodPost, "/payouts", fault.Times(1_000_000))
				p, late := w.started(), w.payment(1)
				late.Deadline = time.Now().Add(time.Hour)
				w.submit(p, late)
				w.submit(p, w.payment(2))
				time.Sleep(10 * time.Minute)
				canceled := w.decide(p, w.payment(2).Key, payments.Cancel("nothing has left"))
				assert.Equal(w, moneymovement.PaymentRefused, canceled.State)
				time.Sleep(time.Hour)
				lost.Disarm()
				r := w.becomes(p, late.Key, moneymovement.PaymentRefused)
				assert.Equal(w, payments.ReasonDeadline, r.Reason.Code)
				assert.Zero(w, w.Key.Approvals())
				w.assertPaid(0)
			})
		})
	}
}

// A payment was booked and not signed. The next process gets the booking from before, at a price out of bounds: that is
// no doubt.
func TestAPriceThatIsRefusedAfterARestart(t *testing.T) {
	inBubble(t, func(w *world) {
		w.submit(w.processor(), w.dear(1))
		r, err := w.processor().Step(w.Context(), w.dear(1).Key)
		require.NoError(w, err)
		require.Equal(w, moneymovement.PaymentNeedsDecision, r.State)
		for range 3 {
			p := w.processor()
			w.decide(p, r.Key, payments.NewBounds(w.dear(1).Bounds))
			time.Sleep(3 * time.Minute)
			r, err = p.Step(w.Context(), r.Key)
			require.NoError(w, err)
			assert.Equal(w, moneymovement.PaymentNeedsDecision, r.State)
			assert.Equal(w, payments.ReasonPrice, r.Reason.Code)
			assert.False(w, r.MayHaveLeft)
		}
		assert.Equal(w, moneymovement.PaymentRefused, w.decide(w.processor(), r.Key, payments.Cancel("too dear")).State)
		w.assertPaid(0)
	})
}

// The confirm was sent twice: the first one paid and its response was lost, and the second one was refused. The refusal
// says nothing about the first one.
func TestARefusalAfterALostConfirm(t *testing.T) {
	for slug, status := range map[string]int{"forbidden": 403, "payout_not_fundable": 409, "rate_limited": 429,
		"signer_not_attached": 409, "quote_expired": 409, "not_found": 404, "token_expired": 401} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprint(slug, ", restarted ", restarted), func(t *testing.T) {
				inBubble(t, func(w *world) {
					w.submit(w.processor(), w.payment(1))
					if restarted {
						w.Key.Fails = signing.ErrNoKey
						r, err := w.processor().Step(w.Context(), w.payment(1).Key)
						require.NoError(w, err)
						require.False(w, r.MayHaveLeft)
						w.Key.Fails = nil
						time.Sleep(time.Minute)
					}
					lost := w.onConfirm(sandbox.DropAfterCommit())
					w.onConfirm(sandbox.Respond(status, slug).Times(1_000))
					unread := w.Host.Arm(http.MethodGet, "/payouts/{payoutId}", sandbox.DropBefore().Times(1_000))
					r, err := w.processor().Step(w.Context(), w.payment(1).Key)
					require.NoError(w, err)
					assert.True(w, r.MayHaveLeft, "%s, %+v", r.State, r.Reason)
					unread.Disarm()
					assert.Equal(w, 1, lost.Consumed())
					w.assertPaid(1)
				})
			})
		}
	}
}
