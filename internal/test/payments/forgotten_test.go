package payments_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
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
				done := w.becomes(w.started(), r.Key, moneymovement.PaymentCompleted)
				assert.Equal(w, r.PayoutID, done.PayoutID)
				assert.Equal(w, signed, w.Key.Approvals())
				w.assertPaid(1)
			})
		})
	}
}

// services returns the clients of a new process.
func (w *world) services() payments.Services {
	return payments.Integrator(w.platform()).WithTransfers(w.App(w.AppKey()))
}

// A service that has forgotten every key: a new process finds what was paid, or pays the same payout or deal. A
// transfer that nothing shows needs a person.
func TestAServiceThatHasForgottenItsKeys(t *testing.T) {
	for name, paid := range map[string]bool{"paid": true, "not paid": false} {
		t.Run(name, func(t *testing.T) {
			eachKind(t, func(w *world, k kind) {
				before := len(w.Moved(k.moves))
				lost := sandbox.DropBefore()
				if paid {
					lost = sandbox.DropAfterCommit()
				}
				_, r := w.doubted(k, lost, sandbox.DropBefore())
				w.Host.ForgetKeys()
				k.services = w.services()
				p := w.process(k, w.store)
				_, err := p.Resume(w.Context())
				require.NoError(w, err)
				if !paid && r.Kind == payments.KindTransfer {
					r = w.becomes(p, r.Key, moneymovement.PaymentNeedsDecision)
					assert.True(w, r.MayHaveLeft)
					w.assertMoved(k, before)
					w.decide(p, r.Key, payments.Retry())
				}
				done := w.becomes(p, r.Key, moneymovement.PaymentCompleted)
				assert.Equal(w, r.PayoutID, done.PayoutID)
				assert.Equal(w, r.EscrowID, done.EscrowID)
				w.assertMoved(k, before+1)
				require.NoError(w, p.Stop(w.Context()))
			})
		})
	}
}

// A transfer in doubt is not sent again when the service's clock has moved on: the key is young here and forgotten
// there.
func TestATransferInDoubtWhenTheServicesClockMovesOn(t *testing.T) {
	for name, paid := range map[string]bool{"paid": true, "not paid": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				k := w.kinds()["transfer"]()
				lost := sandbox.DropBefore()
				if paid {
					lost = sandbox.DropAfterCommit()
				}
				_, r := w.doubted(k, lost, sandbox.DropBefore())
				w.Host.Advance(8 * 24 * time.Hour)
				k.services = w.services()
				p := w.process(k, w.store)
				_, err := p.Resume(w.Context())
				require.NoError(w, err)
				if !paid {
					r = w.becomes(p, r.Key, moneymovement.PaymentNeedsDecision)
					assert.Equal(w, payments.ReasonKeyTooOld, r.Reason.Code)
					_, err := p.Decide(w.Context(), r.Key, payments.Retry())
					as[*payments.NotPossible](w, err)
					w.assertMoved(k, 0)
					require.NoError(w, p.Stop(w.Context()))
					return
				}
				w.becomes(p, r.Key, moneymovement.PaymentCompleted)
				w.assertMoved(k, 1)
				require.NoError(w, p.Stop(w.Context()))
			})
		})
	}
}

// A payment whose terms somebody has changed in the store is not paid.
func TestAnEditedRecordIsNotPaid(t *testing.T) {
	edits := map[string][2]string{
		"payout": {`"amount":"10.01"`, `"amount":"10.02"`}, "deal": {`"amount":"40"`, `"amount":"41"`},
		"release": {`"escrowId":"esc_`, `"escrowId":"esc_x`}, "transfer": {`"amount":"12.5"`, `"amount":"12.6"`},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				k := w.kinds()[name]()
				before, writes := len(w.Moved(k.moves)), len(w.writes())
				p := w.process(k, w.store)
				r := w.submit(p, k.submission)
				claimed, _, err := w.store.Claim(w.Context(), payments.Claim{Owner: "somebody", Key: r.Key, Now: time.Now(),
					For: time.Minute})
				require.NoError(w, err)
				text, err := claimed[0].Encode()
				require.NoError(w, err)
				edited := strings.Replace(string(text), edit[0], edit[1], 1)
				require.NotEqual(w, string(text), edited)
				claimed[0].Record = payments.Decode(r.Key, []byte(edited))
				_, err = w.store.Save(w.Context(), claimed[0], true)
				require.NoError(w, err)
				r, err = p.Step(w.Context(), r.Key)
				require.NoError(w, err)
				assert.Equal(w, moneymovement.PaymentNeedsDecision, r.State)
				assert.Equal(w, payments.ReasonEdited, r.Reason.Code)
				assert.False(w, r.MayHaveLeft)
				w.decide(p, r.Key, payments.Retry())
				r, err = p.Step(w.Context(), r.Key)
				require.NoError(w, err)
				assert.Equal(w, payments.ReasonEdited, r.Reason.Code)
				assert.Len(w, w.writes(), writes)
				w.assertMoved(k, before)
				w.decide(p, r.Key, payments.Cancel("edited"))
			})
		})
	}
}

// Without a bound on what arrives, the first price bounds the later ones, also in another process.
func TestTheFirstPriceHoldsInAnotherProcess(t *testing.T) {
	inBubble(t, func(w *world) {
		refused := w.onConfirm(sandbox.Respond(http.StatusForbidden, "signing_policy_refused").Times(10))
		r := w.submit(w.processor(), w.payment(1))
		r, err := w.processor().Step(w.Context(), r.Key)
		require.NoError(w, err)
		require.NotNil(w, r.FirstQuote, "%s %+v", r.State, r.Reason)
		refused.Disarm()
		w.Configure(func(s *sandbox.Settings) { s.PriceWorsening = amount("0.05") })
		time.Sleep(10 * time.Minute)
		p := w.started()
		if r.State == moneymovement.PaymentNeedsDecision {
			w.decide(p, r.Key, payments.Retry())
		}
		r = w.becomes(p, r.Key, moneymovement.PaymentNeedsDecision)
		assert.Equal(w, payments.ReasonPrice, r.Reason.Code)
		w.assertPaid(0)
		w.decide(p, r.Key, payments.NewBounds(dapi.Bounds{}))
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
	})
}
