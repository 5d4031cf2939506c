package payments_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Each kind of step releases its lease at its end: another process can make the next one at once.
func TestAStepReleasesItsLease(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(w *world, p *payments.Payment)
		between time.Duration // between a first step and the one that is looked at, 0 without a first one
		state   moneymovement.PaymentState
	}{
		"it pays": {func(*world, *payments.Payment) {}, 0, moneymovement.PaymentPaid},
		"it ends a payment that is late": {func(_ *world, p *payments.Payment) {
			p.Deadline = time.Now().Add(-time.Second)
		}, 0, moneymovement.PaymentRefused},
		"it waits until the key is forgotten": {func(w *world, _ *payments.Payment) {
			w.Host.Arm("POST", "/payouts", sandbox.Respond(http.StatusServiceUnavailable, "provider_unavailable").
				Times(9))
		}, 7 * 24 * time.Hour, moneymovement.PaymentAccepted},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				payment := w.payment(1)
				c.arrange(w, &payment)
				p, another := w.processor(), w.processor()
				w.submit(p, payment)
				if c.between > 0 {
					_, err := p.Step(w.Context(), payment.Key)
					require.NoError(w, err)
					time.Sleep(c.between)
				}
				sent := w.Sent("BookPayout")
				r, err := p.Step(w.Context(), payment.Key)
				require.NoError(w, err)
				assert.Equal(w, c.state, r.State)
				if c.between > 0 {
					assert.Equal(w, sent, w.Sent("BookPayout"), "nothing is sent meanwhile")
				}
				_, err = another.Step(w.Context(), payment.Key)
				require.NoError(w, err)
			})
		})
	}
}

// A process can die while its call waits for room. The next step stores that it waits no more.
func TestAStepEndsTheWaitOfAnother(t *testing.T) {
	inBubble(t, func(w *world) {
		payment := w.payment(1)
		w.submit(w.processor(), payment)
		claimed, _, err := w.store.Claim(w.Context(), payments.Claim{Owner: "dead", Key: payment.Key, For: time.Minute,
			Now: time.Now()})
		require.NoError(w, err)
		claimed[0].WaitsFor, claimed[0].WaitsUntil = "room in the rate window writes", time.Now().UTC()
		_, err = w.store.Save(w.Context(), claimed[0], true)
		require.NoError(w, err)
		_, err = w.processor().Step(w.Context(), payment.Key)
		require.NoError(w, err)
		r, err := w.store.Load(w.Context(), payment.Key)
		require.NoError(w, err)
		assert.Empty(w, r.WaitsFor)
		assert.True(w, r.WaitsUntil.IsZero())
	})
}

// While all calls pause, a step only puts its payment off. If that cannot be stored, the caller learns it.
func TestAStepThatCannotPutOffItsPayment(t *testing.T) {
	inBubble(t, func(w *world) {
		store := watch(w.store)
		w.store = store
		p := w.processor()
		w.submit(p, w.payment(1))
		w.submit(p, w.payment(2))
		w.Host.Arm("POST", "/payouts", sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
			WithHeader("Retry-After", "300"))
		_, err := p.Step(w.Context(), w.payment(1).Key)
		require.NoError(w, err)
		sent := w.Sent("BookPayout")
		store.failing(func(method string, _ int) failure {
			if method == "Postpone" {
				return before
			}
			return fine
		})
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		_, err = p.Step(ctx, w.payment(2).Key)
		require.ErrorIs(w, err, errStore)
		assert.Equal(w, sent, w.Sent("BookPayout"))
		store.failing(nil)
	})
}
