package payments_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// A service that forgets a key before its 7 days are over books another payout for it. The stored payout shows that it
// is another one: it is not signed, and its price says nothing about the first payout, which was paid.
func TestAServiceThatForgetsAKeyTooEarly(t *testing.T) {
	for name, fee := range map[string]string{"at the same price": `"0.5"`, "at a price out of bounds": `"9.5"`} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				dearest := amount("1")
				r := w.dieInDoubt(true, func(p *payments.Payment) { p.Bounds.MaxFee = &dearest })
				signed := w.Key.Approvals()
				var response moneymovement.Response
				_, err := w.platform().For(w.account).Payouts.Book(w.Context(), *r.Payout,
					moneymovement.IdempotencyKey("another"), moneymovement.CaptureResponse(&response))
				require.NoError(w, err)
				other := strings.NewReplacer("another", string(r.Key), `"fee":"0.5"`, `"fee":`+fee).
					Replace(string(response.Body))
				require.Contains(w, other, `"fee":`+fee)
				w.Host.Arm(http.MethodPost, "/payouts",
					sandbox.Respond(http.StatusCreated, "").WithBody(other).Times(1_000_000))
				done := w.becomes(w.started(), r.Key, payments.Completed)
				assert.Equal(w, r.PayoutID, done.PayoutID)
				assert.Equal(w, signed, w.Key.Approvals())
				w.assertPaid(1)
			})
		})
	}
}
