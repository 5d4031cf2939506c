package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		w.configure(func(s *sandbox.Settings) { s.FeeIncrease = amount("1") })
		time.Sleep(3 * time.Minute)
		p := w.started()
		time.Sleep(time.Hour)
		r, err := p.Get(w.Context(), r.Key)
		require.NoError(w, err)
		assert.Equal(w, payments.InDoubt, r.State)
		assert.Equal(w, payments.ReasonUnknown, r.Reason.Code)
		assert.Equal(w, dapi.BoundMaxFee, r.Reason.Bound)
		require.NotNil(w, r.Reason.Quote)
		assert.True(w, r.MayHaveLeft)

		fee := r.Reason.Quote.Fee
		r = w.decide(p, r.Key, payments.NewBounds(payments.Bounds{MaxFee: &fee}))
		assert.Equal(w, payments.InDoubt, r.State)
		assert.True(w, r.MayHaveLeft)
		done := w.becomes(p, r.Key, payments.Completed)
		assert.False(w, done.Quote.ExpiresAt.Equal(r.RefusedQuote.ExpiresAt), "the price that was refused was paid")
		w.assertPaid(1)
	})
}
