package payments_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// The responses to the bookings are lost for longer than the deadline. Nothing was signed, so no money can have left.
func TestADeadlineDuringAnOutageOfBookings(t *testing.T) {
	for name, fault := range map[string]sandbox.Fault{
		"lost before": sandbox.DropBefore(), "lost after": sandbox.DropAfterCommit(),
		"failure": sandbox.Respond(http.StatusInternalServerError, "internal_error"),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				lost := w.host.Arm(http.MethodPost, "/payouts", fault.Times(1_000_000))
				p, late := w.started(), w.payment(1)
				late.Deadline = time.Now().Add(time.Hour)
				w.submit(p, late)
				w.submit(p, w.payment(2))
				time.Sleep(10 * time.Minute)
				canceled := w.decide(p, w.payment(2).Key, payments.Cancel("nothing has left"))
				assert.Equal(w, payments.Refused, canceled.State)
				time.Sleep(time.Hour)
				lost.Disarm()
				r := w.becomes(p, late.Key, payments.Refused)
				assert.Equal(w, payments.ReasonDeadline, r.Reason.Code)
				assert.Zero(w, w.key.Approvals())
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
		require.Equal(w, payments.NeedsDecision, r.State)
		for range 3 {
			p := w.processor()
			w.decide(p, r.Key, payments.NewBounds(w.dear(1).Bounds))
			time.Sleep(3 * time.Minute)
			r, err = p.Step(w.Context(), r.Key)
			require.NoError(w, err)
			assert.Equal(w, payments.NeedsDecision, r.State)
			assert.Equal(w, payments.ReasonPrice, r.Reason.Code)
			assert.False(w, r.MayHaveLeft)
		}
		assert.Equal(w, payments.Refused, w.decide(w.processor(), r.Key, payments.Cancel("too dear")).State)
		w.assertPaid(0)
	})
}
