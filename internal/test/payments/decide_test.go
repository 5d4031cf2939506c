package payments_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// dear is a payment whose price is out of its bounds.
func (w *world) dear(n int) payments.Payment {
	dear := w.payment(n)
	dear.Bounds = dapi.Bounds{MaxFee: &decimal.Zero}
	return dear
}

func TestAPriceThatIsRefusedWaitsForADecision(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started()
		w.submit(p, w.dear(1))
		r := w.becomes(p, w.dear(1).Key, moneymovement.PaymentNeedsDecision)
		assert.Equal(w, payments.ReasonPrice, r.Reason.Code)
		assert.Equal(w, dapi.BoundMaxFee, r.Reason.Bound)
		require.NotNil(w, r.Reason.Quote)
		assert.False(w, r.MayHaveLeft)
		w.waitQuietly()
		assert.Equal(w, 1, w.Sent("BookPayout"), "nothing happens before a decision")

		fee := r.Reason.Quote.Fee
		decided := w.decide(p, r.Key, payments.NewBounds(dapi.Bounds{MaxFee: &fee}))
		assert.Equal(w, moneymovement.PaymentAccepted, decided.State)
		done := w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		assert.True(w, fee.Equal(*done.Bounds.MaxFee))
		assert.False(w, done.Quote.ExpiresAt.Equal(r.Reason.Quote.ExpiresAt), "the price that was refused was paid")
		assert.Equal(w, done, w.submit(p, w.dear(1)), "the terms are those that were submitted")
		w.assertPaid(1)
	})
}

// A decision within the life of the old price: the service returns the same booking again, with the same price.
func TestThePriceThatWasRefusedIsNotConfirmed(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started()
		w.submit(p, w.dear(1))
		r := w.becomes(p, w.dear(1).Key, moneymovement.PaymentNeedsDecision)
		decided := w.decide(p, r.Key, payments.NewBounds(dapi.Bounds{}))
		assert.LessOrEqual(w, time.Until(decided.Due), 2*time.Minute)
		_, err := w.processor().Step(w.Context(), r.Key) // not yet due
		require.NoError(w, err)
		done := w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		require.NotNil(w, done.Quote)
		assert.False(w, done.Quote.ExpiresAt.Equal(r.Reason.Quote.ExpiresAt),
			"the price that was refused was paid: %+v", done.Quote)
		w.assertPaid(1)
	})
}

func TestUnpaidPaymentCanBeCanceled(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started()
		w.submit(p, w.dear(1))
		r := w.becomes(p, w.dear(1).Key, moneymovement.PaymentNeedsDecision)
		canceled := w.decide(p, r.Key, payments.Cancel("the invoice was wrong"))
		assert.Equal(w, moneymovement.PaymentRefused, canceled.State)
		assert.Equal(w, "the invoice was wrong", canceled.Reason.Message)
		for _, d := range []payments.Decision{payments.Retry(), payments.Cancel(""), payments.WasPaid(""),
			payments.WasNotPaid(""), payments.NewBounds(dapi.Bounds{}), {}} {
			_, err := p.Decide(w.Context(), r.Key, d)
			assert.Equal(w, moneymovement.PaymentRefused, as[*payments.NotPossible](w, err).State, "%s", d)
			assert.NotEmpty(w, d.String())
		}
		w.waitQuietly()
		w.assertPaid(0)
	})
}

func TestInsufficientBalance(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started()
		large := w.payment(1)
		large.Payout.Amount = amount("5000")
		w.submit(p, large)
		r := w.becomes(p, large.Key, moneymovement.PaymentNeedsDecision)
		assert.Equal(w, payments.ReasonBalance, r.Reason.Code)
		require.NotNil(w, r.Reason.Available)
		assert.False(w, r.MayHaveLeft)
		_, err := w.platform().For(w.account).Sandbox.Deposit(w.Context(),
			dapi.DepositCreate{Amount: amount("6000"), Currency: dapi.USDC})
		require.NoError(w, err)
		w.decide(p, r.Key, payments.Retry())
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
	})
}

// An update of a contact does not reach its account: a payment to a wrong IBAN stays blocked, and the way on is to
// cancel it and to pay a new contact with a new key.
func TestBlockedPaymentIsReplacedByANewContact(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started()
		contacts := w.platform().For(w.account).Contacts
		payment := w.payment(1)
		payment.Payout.ContactID = w.Contact(contacts, dapi.SEPA(
			dapi.BankFields{IBAN: "DE00370400440532013000", AccountHolderName: "Bob"}))
		w.submit(p, payment)
		wrong := w.becomes(p, payment.Key, moneymovement.PaymentNeedsDecision)
		require.Equal(w, payments.ReasonBlocked, wrong.Reason.Code)
		require.Len(w, wrong.Reason.Blockers, 1)
		assert.Equal(w, "iban", wrong.Reason.Blockers[0].Field)
		assert.Contains(w, wrong.Reason.Message, "a new contact is a new payment")
		_, err := contacts.Update(w.Context(), wrong.Payout.ContactID, dapi.ContactUpdate{Name: model.Set("Robert")})
		require.NoError(w, err)
		w.decide(p, wrong.Key, payments.Retry())
		w.becomes(p, wrong.Key, moneymovement.PaymentNeedsDecision)
		w.decide(p, wrong.Key, payments.Cancel("a wrong IBAN"))
		w.submit(p, w.payment(2))
		w.becomes(p, w.payment(2).Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
	})
}

func TestAContactThatCannotBePaid(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started()
		w.Configure(func(s *sandbox.Settings) { s.PayoutMethodsDisabled = []string{"sepa"} })
		w.submit(p, w.payment(1))
		r := w.becomes(p, w.payment(1).Key, moneymovement.PaymentNeedsDecision)
		assert.Equal(w, payments.ReasonBlocked, r.Reason.Code)
		assert.NotEmpty(w, r.Reason.Blockers)
		w.Configure(func(s *sandbox.Settings) { s.PayoutMethodsDisabled = nil })
		w.decide(p, r.Key, payments.Retry())
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
	})
}

func TestADeadlineThatPasses(t *testing.T) {
	inBubble(t, func(w *world) {
		late := w.payment(1)
		late.Deadline = time.Now().Add(time.Minute)
		w.submit(w.processor(), late)
		time.Sleep(2 * time.Minute)
		p := w.started()
		r := w.becomes(p, late.Key, moneymovement.PaymentRefused)
		assert.Equal(w, payments.ReasonDeadline, r.Reason.Code)

		doubtful := w.payment(2) // it may be paid when its deadline passes: it is settled
		doubtful.Deadline = time.Now().Add(time.Minute)
		w.onConfirm(sandbox.DropAfterCommit().Times(4))
		w.Host.Arm(http.MethodGet, "/payouts/{payoutId}", sandbox.DropBefore().Times(8))
		w.submit(p, doubtful)
		w.becomes(p, doubtful.Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
	})
}

// The booking, or the wait for a place in the rate window, can take longer than the deadline: nothing is signed then.
func TestADeadlineThatPassesDuringACall(t *testing.T) {
	eachOf(t, func(w *world, k kind) {
		signed, late := w.Key.Approvals(), changed(k.submission, time.Now().Add(10*time.Second), time.Time{})
		for _, books := range []string{"/payouts", "/escrow", "/escrow/{escrowId}/actions"} {
			w.Host.Arm(http.MethodPost, books, sandbox.Delay(20*time.Second))
		}
		p := w.process(k, w.store)
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		r := w.becomes(p, w.submit(p, late).Key, moneymovement.PaymentRefused)
		assert.Equal(w, payments.ReasonDeadline, r.Reason.Code)
		assert.False(w, r.MayHaveLeft)
		assert.Equal(w, signed, w.Key.Approvals())
		w.assertMoved(k, 0)
		require.NoError(w, p.Stop(w.Context()))
	}, flows...)
}

// What the store does not take is not done: nothing is sent before a call is stored, and a decision changes nothing.
func TestNothingIsSentIfTheStoreCannotSave(t *testing.T) {
	inBubble(t, func(w *world) {
		k, store := w.kinds()["payout"](), watch(w.store)
		p := w.process(k, store)
		submitted := w.submit(p, k.submission)
		store.failing(func(called string, _ int) bool { return called == "Save" })
		_, err := p.Step(w.Context(), submitted.Key)
		require.ErrorIs(w, err, errStore)
		assert.Zero(w, w.Sent("BookPayout"))
		time.Sleep(time.Minute) // the lease ends: the store did not take its end either
		_, err = p.Decide(w.Context(), submitted.Key, payments.Cancel("not needed"))
		require.ErrorIs(w, err, errStore)
		store.failing(func(string, int) bool { return false })
		r, err := p.Get(w.Context(), submitted.Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentAccepted, r.State)
		w.assertMoved(k, 0)
	})
}

// A decision while a call runs would change a payment under the hands of the process that makes the call.
func TestADecisionDuringACall(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started()
		w.onConfirm(sandbox.Delay(20 * time.Second))
		w.submit(p, w.payment(1))
		time.Sleep(10 * time.Second)
		_, err := p.Decide(w.Context(), w.payment(1).Key, payments.Retry())
		as[*payments.CallInProgress](w, err)
		require.ErrorContains(w, err, "a call is being made for it")
		_, err = w.processor().Decide(w.Context(), w.payment(1).Key, payments.Cancel(""))
		as[*payments.CallInProgress](w, err)
		_, err = p.Step(w.Context(), w.payment(1).Key)
		as[*payments.CallInProgress](w, err)
		w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
	})
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
		assert.Equal(w, payments.ReasonInDoubt, r.Reason.Code)
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
