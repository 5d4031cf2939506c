package payments_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// release is the release of a deal.
func (w *world) release(terms dapi.EscrowCreate, deal *dapi.Escrow) payments.EscrowAction {
	return payments.EscrowAction{Key: "release-1", Account: w.account, EscrowID: deal.ID, Escrow: terms,
		Action: dapi.EscrowActionTypeRelease}
}

// A release never arrived, and the deal was refunded meanwhile: the release is over, and nobody has to wait for the end
// of its key.
func TestAReleaseOfADealThatWasRefunded(t *testing.T) {
	inBubble(t, func(w *world) {
		terms := deal()
		terms.HoldFor = "1h"
		escrows := w.platform().For(w.account).Escrows
		opened, err := escrows.Open(w.Context(), terms, "deal-0", dapi.DealTerms{})
		require.NoError(w, err)
		path := w.kinds()["deal"]().path
		lost := w.Host.Arm(http.MethodPost, path, sandbox.DropBefore().Times(1_000))
		unread := w.Host.Arm(http.MethodPost, "/escrow/{escrowId}/sync", sandbox.DropBefore().Times(1_000))
		p := w.processor()
		w.submit(p, w.release(terms, opened.Escrow))
		r, err := p.Step(w.Context(), "release-1")
		require.NoError(w, err)
		require.Equal(w, moneymovement.PaymentInDoubt, r.State)
		lost.Disarm()
		unread.Disarm()
		time.Sleep(2 * time.Hour)
		_, err = escrows.Act(w.Context(), terms, opened.Escrow.ID, dapi.EscrowActionTypeRefund, "refund-1", dapi.DealTerms{})
		require.NoError(w, err)
		p = w.started()
		time.Sleep(time.Hour)
		r, err = p.Get(w.Context(), "release-1")
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentRefused, r.State)
		assert.Equal(w, payments.ReasonEnded, r.Reason.Code)
		assert.False(w, r.MayHaveLeft)
		assert.Empty(w, w.Moved("escrow_released"))
	})
}

// A release that comes before the money is held is not in doubt, because nothing was signed. It waits, and can be
// canceled.
func TestAnActionThatADealDoesNotOfferYet(t *testing.T) {
	inBubble(t, func(w *world) {
		escrows := w.platform().For(w.account).Escrows
		created, err := escrows.Create(w.Context(), deal())
		require.NoError(w, err)
		p := w.started()
		asked := w.release(deal(), created)
		w.submit(p, asked)
		time.Sleep(10 * time.Minute)
		r, err := p.Get(w.Context(), asked.Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentAccepted, r.State)
		assert.False(w, r.MayHaveLeft)
		early := w.release(deal(), created)
		early.Key = "release-2"
		w.submit(p, early)
		time.Sleep(time.Second)
		assert.Equal(w, moneymovement.PaymentRefused, w.decide(p, early.Key, payments.Cancel("too early")).State)

		_, err = escrows.Act(w.Context(), deal(), created.ID, dapi.EscrowActionTypeApprove, "approve-1", dapi.DealTerms{})
		require.NoError(w, err)
		w.becomes(p, asked.Key, moneymovement.PaymentCompleted)
		assert.Len(w, w.Moved("escrow_released"), 1)
	})
}

// The confirm of a release was sent twice: the first one took it and its response was lost, and the second one was
// refused. The refusal says nothing about the first one.
func TestARefusalAfterALostRelease(t *testing.T) {
	for slug, status := range map[string]int{"approval_expired": 410, "approval_consumed": 409, "conflict": 409,
		"forbidden": 403, "not_found": 404} {
		t.Run(slug, func(t *testing.T) {
			inBubble(t, func(w *world) {
				k := w.kinds()["release"]()
				time.Sleep(time.Minute)
				lost := w.Host.Arm(http.MethodPost, k.path, sandbox.DropAfterCommit())
				w.Host.Arm(http.MethodPost, k.path, sandbox.Respond(status, slug).Times(1_000))
				p := w.process(k, w.store)
				r := w.submit(p, k.submission)
				r, err := p.Step(w.Context(), r.Key)
				require.NoError(w, err)
				assert.True(w, r.MayHaveLeft, "%s, %+v", r.State, r.Reason)
				assert.Equal(w, 1, lost.Consumed())
				w.assertMoved(k, 1)
			})
		})
	}
}

// A deal that an earlier program may have opened, and which the service refuses to create for good: a person can
// decide, and need not wait for the end of the key. Other refusals pass.
func TestADealInDoubtThatNoCallCanOpen(t *testing.T) {
	for slug, c := range map[string]struct {
		status int
		want   moneymovement.PaymentState
	}{
		"validation_failed": {http.StatusUnprocessableEntity, moneymovement.PaymentNeedsDecision},
		"not_found":         {http.StatusNotFound, moneymovement.PaymentNeedsDecision},
		"rate_limited":      {http.StatusTooManyRequests, moneymovement.PaymentInDoubt},
	} {
		t.Run(slug, func(t *testing.T) {
			inBubble(t, func(w *world) {
				refused := w.Host.Arm(http.MethodPost, "/escrow", sandbox.Respond(c.status, slug).Times(1_000))
				p := w.started()
				w.submit(p, payments.EscrowPayment{Key: "deal-1", Account: w.account, Escrow: deal(),
					FirstUsed: time.Now()})
				time.Sleep(time.Hour)
				r, err := p.Get(w.Context(), "deal-1")
				require.NoError(w, err)
				assert.Equal(w, c.want, r.State)
				assert.True(w, r.MayHaveLeft)
				assert.NotContains(w, r.Reason.Message, "Journal", "the processor journals")
				refused.Disarm()
				if r.State == moneymovement.PaymentNeedsDecision {
					w.decide(p, "deal-1", payments.Retry())
				}
				w.becomes(p, "deal-1", moneymovement.PaymentCompleted)
				assert.Len(w, w.Moved("escrow_active"), 1)
			})
		})
	}
}

// A release that the deal does not offer any more is over, as the deal shows at once. A release that is refused for
// another reason is not looked at by the processor: only the confirm was refused.
func TestWhenADealIsLookedAtAfterAnAction(t *testing.T) {
	for name, c := range map[string]struct {
		refunded bool
		state    moneymovement.PaymentState
		looks    int
	}{
		"the deal was refunded":   {true, moneymovement.PaymentRefused, 1},
		"the confirm was refused": {false, moneymovement.PaymentNeedsDecision, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				terms := deal()
				terms.HoldFor = "1h"
				escrows := w.platform().For(w.account).Escrows
				opened, err := escrows.Open(w.Context(), terms, "deal-0", dapi.DealTerms{})
				require.NoError(w, err)
				time.Sleep(time.Minute)
				if c.refunded {
					time.Sleep(2 * time.Hour) // past the time in which it can be released
					_, err = escrows.Act(w.Context(), terms, opened.Escrow.ID, dapi.EscrowActionTypeRefund, "refund-1",
						dapi.DealTerms{})
					require.NoError(w, err)
				} else {
					w.Host.Arm(http.MethodPost, w.kinds()["deal"]().path,
						sandbox.Respond(http.StatusForbidden, "signing_policy_refused"))
				}
				p, looks := w.processor(), w.Sent("SyncEscrow")
				w.submit(p, w.release(terms, opened.Escrow))
				r, err := p.Step(w.Context(), "release-1")
				require.NoError(w, err)
				assert.Equal(w, c.state, r.State)
				assert.GreaterOrEqual(w, w.Sent("SyncEscrow")-looks, c.looks)
				if c.looks == 0 {
					assert.Equal(w, looks, w.Sent("SyncEscrow"))
				}
			})
		})
	}
}
