package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// A confirm never arrived, and the price rose out of the bounds meanwhile. The doubt cannot end before somebody accepts
// the price.
func TestAPriceThatRisesDuringADoubt(t *testing.T) {
	inBubble(t, func(w *world) {
		dearest := amount("0.6")
		r := w.dieInDoubt(false, func(p *payments.Payment) { p.Bounds.MaxFee = &dearest })
		w.Configure(func(s *sandbox.Settings) { s.FeeIncrease = amount("1") })
		time.Sleep(3 * time.Minute)
		p := w.started()
		time.Sleep(time.Hour)
		r, err := p.Get(w.Context(), r.Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentInDoubt, r.State)
		assert.Equal(w, payments.ReasonUnknown, r.Reason.Code)
		assert.Equal(w, dapi.BoundMaxFee, r.Reason.Bound)
		require.NotNil(w, r.Reason.Quote)
		assert.True(w, r.MayHaveLeft)

		fee := r.Reason.Quote.Fee
		r = w.decide(p, r.Key, payments.NewBounds(dapi.Bounds{MaxFee: &fee}))
		assert.Equal(w, moneymovement.PaymentInDoubt, r.State)
		assert.True(w, r.MayHaveLeft)
		done := w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		assert.False(w, done.Quote.ExpiresAt.Equal(r.RefusedQuote.ExpiresAt), "the price that was refused was paid")
		w.assertPaid(1)
	})
}

// The price gets worse while a person decides. The decision means the price that the person has seen, in the process
// that saw the first price and in every other one.
func TestAPriceThatGetsWorseDuringADecision(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		inBubble(t, func(w *world) {
			p := w.started()
			w.submit(p, w.dear(1))
			seen := w.becomes(p, w.dear(1).Key, moneymovement.PaymentNeedsDecision).Reason.Quote
			w.Configure(func(s *sandbox.Settings) { s.PriceWorsening = amount("0.01") })
			if restarted {
				require.NoError(w, p.Stop(w.Context()))
				p = w.started()
			}
			fee := amount("5")
			decided := w.decide(p, w.dear(1).Key, payments.NewBounds(dapi.Bounds{MaxFee: &fee}))
			assert.True(w, decided.Bounds.NoWorseThan.DestinationAmount.Equal(seen.DestinationAmount))
			r := w.becomes(p, w.dear(1).Key, moneymovement.PaymentNeedsDecision)
			assert.Equal(w, dapi.BoundNoWorseThan, r.Reason.Bound)
			assert.True(w, r.Reason.Quote.DestinationAmount.LessThan(seen.DestinationAmount))
			w.assertPaid(0)

			w.decide(p, w.dear(1).Key, payments.NewBounds(dapi.Bounds{MaxFee: &fee}))
			done := w.becomes(p, w.dear(1).Key, moneymovement.PaymentCompleted)
			assert.True(w, done.Quote.DestinationAmount.Equal(r.Reason.Quote.DestinationAmount))
			w.assertPaid(1)
		})
	}
}
