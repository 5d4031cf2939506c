package payment_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/temporal/payment"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

const (
	booking = "/payouts"
	confirm = "/payouts/{payoutId}/confirm"
	payout  = "/payouts/{payoutId}"
)

func TestAPaymentCompletes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	began := r.env.Now()
	state := r.run(r.input())
	assert.Equal(t, payment.Completed, state.Status)
	assert.Nil(t, state.Problem)
	r.paidOnce(state)
	require.Len(t, r.calls, 1)
	assert.True(t, r.calls[0].History.Unpaid, "nobody used the key before")
	assert.Equal(t, began.UTC(), r.calls[0].History.FirstUsed.UTC())
}

// The response to the confirm is lost, and the payout cannot be read: Temporal calls again, with the same key.
func TestALostResponseIsPaidOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lost := r.host.Arm(http.MethodPost, confirm, sandbox.DropAfterCommit())
	r.host.Arm(http.MethodGet, payout, sandbox.DropBefore().Times(2))
	state := r.run(r.input())
	assert.Equal(t, payment.Completed, state.Status)
	assert.Equal(t, 1, lost.Consumed())
	assert.Equal(t, 2, r.attempts)
	r.paidOnce(state)
}

// A worker dies at each request of an activity, before it is sent or before its response arrives. Another worker, which
// knows nothing, goes on.
func TestAWorkerThatDiesAnywherePaysOnce(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for request := 1; ; request++ {
			died := false
			t.Run(fmt.Sprintf("request %d, after %t", request, after), func(t *testing.T) {
				r := newRig(t)
				r.wire.dieAt(request, after)
				dying := r.wire
				state := r.run(r.input())
				died = dying.isDead()
				assert.Equal(t, payment.Completed, state.Status)
				r.paidOnce(state)
			})
			if !died {
				assert.Greater(t, request, 5, "two of the login, the booking, the confirm, and a read")
				break
			}
		}
	}
}

// Every worker dies after it paid. At last the activity has failed, and the workflow knows nothing. It must not say
// that nothing was paid, and it must state the time of the first call.
func TestTheWorkflowNeverForgetsACallThatMayHavePaid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	deaths := 0
	r.fate = func() (int, bool) {
		switch deaths++; {
		case deaths == 1:
			return 4, true // two of the login, the booking, the confirm
		case deaths <= 4:
			return 3, true // the booking
		}
		return 0, false
	}
	r.startWorker()
	began := r.env.Now()
	var inDoubt payment.State
	r.after(75*time.Second, func() { inDoubt = r.state() })
	state := r.run(r.input())
	require.Equal(t, payment.InDoubt, inDoubt.Status)
	assert.Equal(t, payment.Unknown, inDoubt.Problem.Kind)
	assert.False(t, inDoubt.History.Unpaid)
	require.Len(t, r.calls, 2)
	assert.False(t, r.calls[1].History.Unpaid)
	assert.Equal(t, began.UTC(), r.calls[1].History.FirstUsed.UTC())
	assert.Equal(t, r.calls[0].Key, r.calls[1].Key)
	assert.Equal(t, payment.Completed, state.Status)
	r.paidOnce(state)
}

// The service asks for a pause, once before the booking and once when the payment is in doubt.
func TestTheServicesPauseIsKept(t *testing.T) {
	t.Parallel()
	slow := func() sandbox.Fault {
		return sandbox.Respond(http.StatusTooManyRequests, "rate_limited").WithHeader("Retry-After", "300")
	}
	t.Run("nothing was paid", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.host.Arm(http.MethodPost, booking, slow())
		began := r.env.Now()
		var waiting payment.State
		r.after(4*time.Minute, func() { waiting = r.state() })
		state := r.run(r.input())
		assert.Equal(t, payment.Waiting, waiting.Status)
		assert.True(t, waiting.History.Unpaid)
		assert.GreaterOrEqual(t, r.env.Now().Sub(began), 299*time.Second)
		require.Len(t, r.calls, 2)
		assert.True(t, r.calls[1].History.Unpaid, "the first call proved that it did not pay")
		assert.GreaterOrEqual(t, r.calls[1].History.FirstUsed.Sub(began), 299*time.Second)
		assert.Equal(t, payment.Completed, state.Status)
		r.paidOnce(state)
	})
	t.Run("in doubt", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.host.Arm(http.MethodPost, confirm, sandbox.DropBefore())
		r.host.Arm(http.MethodGet, payout, slow().Times(2))
		began := r.env.Now()
		state := r.run(r.input())
		assert.Equal(t, 2, r.attempts)
		assert.GreaterOrEqual(t, r.env.Now().Sub(began), 299*time.Second)
		assert.Equal(t, payment.Completed, state.Status)
		r.paidOnce(state)
	})
}

// A payout takes days. The workflow reads it from time to time, and its end is what the payout's end is.
func TestAPayoutIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	for status, want := range map[dapi.PayoutStatus]payment.Status{
		"":                        payment.Completed,
		dapi.PayoutStatusFailed:   payment.CameBack,
		dapi.PayoutStatusRefunded: payment.CameBack,
	} {
		t.Run(string(want)+" "+string(status), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			require.NoError(t, r.host.Configure(func(s *sandbox.Settings) {
				s.PayoutStepAfter = sandbox.Duration(36 * time.Hour)
			}))
			var paid payment.State
			r.after(50*time.Hour, func() {
				paid = r.state()
				if status != "" {
					_, err := r.account().Sandbox.SetPayoutStatus(t.Context(), paid.History.PayoutID, status)
					assert.NoError(t, err)
				}
			})
			before := len(r.host.Requests())
			state := r.run(r.input())
			assert.Equal(t, payment.Paid, paid.Status)
			assert.Equal(t, want, state.Status)
			assert.Less(t, len(r.host.Requests())-before, 500)
			if want == payment.Completed {
				r.paidOnce(state)
			} else {
				assert.Empty(t, r.left())
			}
		})
	}
}
