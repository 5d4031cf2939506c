package payments_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

const week = 7 * 24 * time.Hour

// dieInDoubt makes a payment whose confirm was lost, and whose process then died. booked is what is stored of it.
func (w *world) dieInDoubt(confirmed bool, change ...func(*payments.Payment)) (booked payments.Record) {
	w.Helper()
	asked := w.payment(1)
	for _, c := range change {
		c(&asked)
	}
	fault := sandbox.DropBefore()
	if confirmed {
		fault = sandbox.DropAfterCommit()
	}
	lost := w.onConfirm(fault.Times(10_000))
	unread := w.Host.Arm(http.MethodGet, "/payouts/{payoutId}", sandbox.DropBefore().Times(10_000))
	p := w.processor()
	w.submit(p, asked)
	r, err := p.Step(w.Context(), asked.Key)
	require.NoError(w, err)
	require.Equal(w, moneymovement.PaymentInDoubt, r.State)
	require.NotEmpty(w, r.PayoutID)
	lost.Disarm()
	unread.Disarm()
	return r
}

// A lost confirm that paid, and a key that the service has forgotten: the payout itself shows the payment.
func TestAnOldPaymentIsFoundAndNotSent(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.dieInDoubt(true)
		books, confirms := w.Sent("BookPayout"), w.Sent("ConfirmPayout")
		time.Sleep(week + time.Hour)
		p := w.started()
		done := w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		assert.Equal(w, r.PayoutID, done.PayoutID)
		assert.Equal(w, books, w.Sent("BookPayout"))
		assert.Equal(w, confirms, w.Sent("ConfirmPayout"))
		w.assertPaid(1)
	})
}

// The same, while the payout cannot be read: it is looked for again, ever more rarely, and never sent.
func TestASearchThatCannotRead(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.dieInDoubt(true)
		books := w.Sent("BookPayout")
		time.Sleep(week + time.Hour)
		unread := w.Host.Arm(http.MethodGet, "/payouts/{payoutId}", sandbox.Respond(503, "provider_unavailable").
			WithHeader("Retry-After", "1").Times(1_000_000))
		p := w.started(rarely)
		time.Sleep(24 * time.Hour)
		stored, err := p.Get(w.Context(), r.Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentInDoubt, stored.State)
		assert.Positive(w, unread.Consumed())
		assert.Less(w, stored.Searches, 24*60/2, "searches in a day")
		unread.Disarm()
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		assert.Equal(w, books, w.Sent("BookPayout"))
		w.assertPaid(1)
	})
}

// A confirm that never arrived: the payout itself shows that its money never left.
func TestAnOldPaymentThatNeverLeft(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.dieInDoubt(false)
		books, confirms := w.Sent("BookPayout"), w.Sent("ConfirmPayout")
		time.Sleep(week + time.Hour)
		p := w.started()
		refused := w.becomes(p, r.Key, moneymovement.PaymentRefused)
		assert.Equal(w, payments.ReasonEnded, refused.Reason.Code)
		assert.False(w, refused.MayHaveLeft)
		w.aWhile()
		assert.Equal(w, books, w.Sent("BookPayout"))
		assert.Equal(w, confirms, w.Sent("ConfirmPayout"))
		w.assertPaid(0)
	})
}

// Nothing shows the payment, because nobody stored its payout: a person must look, and nothing is sent.
func TestAnOldPaymentThatNothingShows(t *testing.T) {
	for decision, want := range map[payments.Decision]moneymovement.PaymentState{
		payments.WasNotPaid("not in the books"): moneymovement.PaymentRefused,
		payments.WasPaid(""):                    moneymovement.PaymentCompleted,
	} {
		t.Run(decision.String(), func(t *testing.T) {
			inBubble(t, func(w *world) {
				p, old := w.started(), w.payment(2)
				old.FirstUsed = time.Now().Add(-8 * 24 * time.Hour)
				w.submit(p, old)
				r := w.becomes(p, old.Key, moneymovement.PaymentNeedsDecision)
				assert.Equal(w, payments.ReasonKeyTooOld, r.Reason.Code)
				assert.True(w, r.MayHaveLeft)
				for _, d := range []payments.Decision{payments.Retry(), payments.Cancel(""),
					payments.NewBounds(dapi.Bounds{})} {
					_, err := p.Decide(w.Context(), old.Key, d)
					as[*payments.NotPossible](w, err)
				}
				decided := w.decide(p, old.Key, decision)
				assert.Equal(w, want, decided.State)
				assert.Equal(w, want == moneymovement.PaymentCompleted, decided.MayHaveLeft)
				w.aWhile()
				assert.Zero(w, w.Sent("BookPayout"))
			})
		})
	}
}

// A person names a payout that is not the payment's: nothing would ever show that it has arrived, or another payment
// would be followed.
func TestADecisionThatNamesAnotherPayout(t *testing.T) {
	inBubble(t, func(w *world) {
		p, old := w.started(rarely), w.payment(2)
		w.submit(p, w.payment(1))
		other := w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted)
		old.FirstUsed = time.Now().Add(-8 * 24 * time.Hour)
		w.submit(p, old)
		w.becomes(p, old.Key, moneymovement.PaymentNeedsDecision)
		for _, wrong := range []dapi.PayoutID{"po_typo", "po/../x", other.PayoutID} {
			w.decide(p, old.Key, payments.WasPaid(wrong))
			r := w.becomes(p, old.Key, moneymovement.PaymentNeedsDecision)
			assert.Equal(w, payments.ReasonTerms, r.Reason.Code)
			assert.Contains(w, r.Reason.Message, string(wrong))
			assert.True(w, r.MayHaveLeft)
			assert.Empty(w, r.PayoutID)
		}
		r := w.decide(p, old.Key, payments.WasPaid(""))
		assert.Equal(w, moneymovement.PaymentCompleted, r.State)
	})
}

// A payout that was never funded has a status that this version does not know, when its key is too old. That does not
// show that it was paid.
func TestAnOldPaymentWithAStatusOfTomorrow(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.dieInDoubt(false)
		var response moneymovement.Response
		_, err := w.platform().For(w.account).Payouts.Get(w.Context(), r.PayoutID,
			moneymovement.CaptureResponse(&response))
		require.NoError(w, err)
		var payout map[string]any
		require.NoError(w, json.Unmarshal(response.Body, &payout))
		delete(payout, "approval")
		payout["status"] = "one_of_tomorrow"
		body, err := json.Marshal(payout)
		require.NoError(w, err)
		w.Host.Arm(http.MethodGet, "/payouts/{payoutId}",
			sandbox.Respond(http.StatusOK, "").WithBody(string(body)).Times(1_000))
		time.Sleep(week + time.Hour)
		r = w.becomes(w.started(), r.Key, moneymovement.PaymentNeedsDecision)
		assert.Equal(w, payments.ReasonKeyTooOld, r.Reason.Code)
		assert.True(w, r.MayHaveLeft)
	})
}

// A key whose age comes near to 7 days is not sent around the time at which the service forgets it.
func TestAKeyAroundItsEnd(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.processor()
		w.submit(p, w.dear(1))
		_, err := p.Step(w.Context(), w.dear(1).Key)
		require.NoError(w, err)
		time.Sleep(week - time.Minute)
		w.decide(p, w.dear(1).Key, payments.NewBounds(dapi.Bounds{}))
		p = w.started()
		books := w.Sent("BookPayout")
		time.Sleep(2 * time.Hour)
		assert.Equal(w, books, w.Sent("BookPayout"))
		done := w.becomes(p, w.dear(1).Key, moneymovement.PaymentCompleted)
		assert.Less(w, time.Since(done.FirstUsed), time.Hour)
		w.assertPaid(1)
	})
}

// An earlier program used the key. What it did is known if the key is young, and searched for otherwise.
func TestAKeyThatAnEarlierProgramUsed(t *testing.T) {
	inBubble(t, func(w *world) {
		used := time.Now()
		asked := w.payment(1)
		payout, err := w.platform().For(w.account).Payouts.Pay(w.Context(), asked.Payout, asked.Key, dapi.PayTerms{})
		require.NoError(w, err)
		asked.FirstUsed = used
		p := w.started()
		assert.Equal(w, moneymovement.PaymentInDoubt, w.submit(p, asked).State)
		done := w.becomes(p, asked.Key, moneymovement.PaymentCompleted)
		assert.Equal(w, payout.Payout.ID, done.PayoutID)

		old := w.payment(2)
		old.Payout, old.FirstUsed = asked.Payout, time.Now().Add(-8*24*time.Hour)
		w.submit(p, old)
		r := w.becomes(p, old.Key, moneymovement.PaymentNeedsDecision)
		assert.Equal(w, payments.ReasonKeyTooOld, r.Reason.Code)
		w.decide(p, old.Key, payments.WasPaid(payout.Payout.ID))
		w.becomes(p, old.Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
	})
}

func TestMoneyThatComesBack(t *testing.T) {
	for _, status := range []dapi.PayoutStatus{dapi.PayoutStatusFailed, dapi.PayoutStatusRefunded} {
		t.Run(string(status), func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) })
				p := w.started()
				w.submit(p, w.payment(1))
				paid := w.becomes(p, w.payment(1).Key, moneymovement.PaymentPaid)
				_, err := w.platform().For(w.account).Sandbox.SetPayoutStatus(w.Context(), paid.PayoutID, status)
				require.NoError(w, err)
				back := w.becomes(p, paid.Key, moneymovement.PaymentCameBack)
				assert.Equal(w, payments.ReasonReturned, back.Reason.Code)
				assert.True(w, back.MayHaveLeft)
			})
		})
	}
}

// A paid payment that does not arrive is looked at ever more rarely.
func TestLooksAtAPaymentThatDoesNotArrive(t *testing.T) {
	inBubble(t, func(w *world) {
		w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(30 * time.Hour) })
		p := w.started(rarely)
		w.submit(p, w.payment(1))
		w.becomes(p, w.payment(1).Key, moneymovement.PaymentPaid)
		time.Sleep(24 * time.Hour)
		assert.Less(w, w.Sent("GetPayout"), 24*60/2)
		assert.Greater(w, w.Sent("GetPayout"), 24*60/6)
		w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted)
	})
}

// The service says that a payment is paid, and never names the payout. Once the key is too old, the call that would
// name it is not made any more.
func TestAPaidPayoutThatIsNeverNamed(t *testing.T) {
	inBubble(t, func(w *world) {
		w.Host.Arm(http.MethodPost, "/payouts", sandbox.Respond(409, "already_funded").Times(1_000_000))
		p := w.processor()
		w.submit(p, w.payment(1))
		r, err := p.Step(w.Context(), w.payment(1).Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentPaid, r.State)
		assert.Empty(w, r.PayoutID)
		time.Sleep(week - time.Hour)
		p = w.started()
		r = w.becomes(p, r.Key, moneymovement.PaymentNeedsDecision)
		assert.Equal(w, payments.ReasonKeyTooOld, r.Reason.Code)
		assert.True(w, r.MayHaveLeft)
		last := w.Host.Requests()[len(w.Host.Requests())-1]
		assert.Less(w, last.Time.Sub(r.FirstUsed), week-2*time.Hour)
		_, err = p.Decide(w.Context(), r.Key, payments.Retry())
		as[*payments.NotPossible](w, err)
	})
}

// A deal of whose id nothing is stored is looked for in the ledger. While a deal of it cannot be read, the search goes
// on later.
func TestASearchForADealThatCannotRead(t *testing.T) {
	inBubble(t, func(w *world) {
		account := w.platform().For(w.account)
		for i, amount := range []string{"40", "41"} { // the second has other terms
			terms := deal()
			terms.Amount = decimal.RequireFromString(amount)
			_, err := account.Escrows.Open(w.Context(), terms, moneymovement.DeriveKey("deal", strconv.Itoa(i)),
				dapi.DealTerms{})
			require.NoError(w, err)
		}
		used := time.Now()
		time.Sleep(week + time.Hour)
		unread := w.Host.Arm(http.MethodPost, "/escrow/{escrowId}/sync",
			sandbox.Respond(http.StatusServiceUnavailable, "provider_unavailable").Times(1_000_000))
		p := w.started()
		r := w.submit(p, payments.EscrowPayment{Key: moneymovement.DeriveKey("deal", "0"), Account: w.account,
			Escrow: deal(), FirstUsed: used})
		time.Sleep(time.Hour)
		stored, err := p.Get(w.Context(), r.Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentInDoubt, stored.State)
		assert.Positive(w, stored.Searches)
		unread.Disarm()
		done := w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		assert.NotEmpty(w, done.EscrowID)
	})
}
