package dapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// paymentRow is the row of a payment: a Journal writes it, and each call starts from it.
type paymentRow struct {
	history dapi.History
	written []dapi.History
}

func (s *paymentRow) row() payOption {
	return func(t *dapi.PayTerms) {
		t.History = s.history
		t.Journal = func(_ context.Context, history dapi.History) error {
			s.history = history
			s.written = append(s.written, history)
			return nil
		}
	}
}

// What is stored before a signature has the key's first use, the payout and the price. The result of the call has the
// same, and also says if it is proven that nothing was paid. A later price may be worse than a refused one.
func TestWhatAHistorySays(t *testing.T) {
	t.Run("paid", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, s, began := newPayWorld(t), &paymentRow{}, time.Now().UTC().Round(0)
			payment, err := w.pay(s.row())
			require.NoError(t, err)
			want := dapi.History{FirstUsed: began, PayoutID: payment.Payout.ID, Quote: payment.Payout.Quote}
			assert.Equal(t, []dapi.History{want}, s.written)
			assert.Equal(t, want, payment.History)
			written, err := json.Marshal(want)
			require.NoError(t, err)
			var read dapi.History
			require.NoError(t, json.Unmarshal(written, &read))
			assert.Equal(t, want.FirstUsed, read.FirstUsed, "a journal can compare them")
		})
	})
	t.Run("paid, without a journal", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, began := newPayWorld(t), time.Now().UTC().Round(0)
			payment, err := w.pay()
			require.NoError(t, err)
			want := dapi.History{FirstUsed: began, PayoutID: payment.Payout.ID, Quote: payment.Payout.Quote}
			assert.Equal(t, want, payment.History)
		})
	})
	t.Run("refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, s, began := newPayWorld(t), &paymentRow{}, time.Now().UTC().Round(0)
			w.refuse(http.StatusForbidden, "signing_policy_refused")
			payment, err := w.pay(s.row())
			require.Error(t, err)
			want := dapi.History{FirstUsed: began, PayoutID: payment.Payout.ID, Unpaid: true}
			assert.Equal(t, want, payment.History)
		})
	})
	t.Run("in doubt, and then paid", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, s := newPayWorld(t), &paymentRow{}
			w.loseConfirm()
			payment, err := w.pay(s.row())
			w.assertInDoubt(t, payment, err)
			assert.Equal(t, s.history, payment.History)
			assert.NotNil(t, payment.History.Quote)

			w.account = w.integrator().Self()
			again, err := w.pay(s.row())
			require.NoError(t, err)
			assert.Equal(t, payment.History, again.History)
		})
	})
}

// The first price that was signed stays in the history. So a later price that is worse is refused in another process.
func TestTheFirstPriceStaysInTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newPayWorld(t), &paymentRow{}
		w.Host.Arm("POST", confirmPath, sandbox.DropBefore().Times(4))
		w.hideReads()
		payment, err := w.pay(s.row())
		w.assertInDoubt(t, payment, err)
		first := s.history.Quote
		require.NotNil(t, first)

		w.Host.Advance(10 * time.Minute)
		w.worsen("0.02")
		w.account = w.integrator().Self()
		payment, err = w.pay(s.row())
		w.assertInDoubt(t, payment, err)
		assert.Equal(t, first, as[*dapi.PriceRefused](t, payment.Refusal).Reference)
		_, err = w.pay(s.row(), quoteTolerance(amount("0.03")))
		require.NoError(t, err)
		assert.Equal(t, first, s.history.Quote)
		assert.Len(t, s.written, 2)
	})
}

// A key that the service has forgotten, and with which nothing was paid, is used for the first time again. So the next
// call after a doubt does not find it too old, and nothing of the old booking counts.
func TestAnUnpaidKeyThatWasForgottenIsNew(t *testing.T) {
	for name, c := range map[string]struct {
		age time.Duration
		new bool
	}{
		"the service may still know it": {7*24*time.Hour + time.Hour, false},
		"it has forgotten it":           {7*24*time.Hour + time.Hour + 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, now := newPayWorld(t), time.Now().UTC().Round(0)
				s := &paymentRow{history: dapi.History{FirstUsed: now.Add(-c.age), Unpaid: true}}
				payment, err := w.pay(s.row())
				require.NoError(t, err)
				want := now.Add(-c.age)
				if c.new {
					want = now
				}
				assert.Equal(t, want, payment.History.FirstUsed)
			})
		})
	}
}

// A new booking ends the doubt about earlier calls only if a journal knows that none has signed. A booking that is not
// new, or a doubt of this client, stays one.
func TestANewBookingAndAJournalEndADoubt(t *testing.T) {
	bookedBefore := func(change func(answer *http.Response)) func(w *payWorld) {
		return func(w *payWorld) {
			_, err := w.integrator().Self().Payouts.Book(w.Context(), w.asked,
				moneymovement.IdempotencyKey("invoice-42"))
			require.NoError(w, err)
			w.Wire.OnAnswer(func(r *http.Request, answer *http.Response) {
				if r.URL.Path == "/dapi/v1/payouts" {
					change(answer)
				}
			})
		}
	}
	for name, c := range map[string]struct {
		before  func(w *payWorld)
		journal bool
		since   time.Duration // the first use, 0 for an empty history
		unpaid  bool
	}{
		"new":            {before: func(*payWorld) {}, journal: true, since: time.Hour, unpaid: true},
		"and no journal": {before: func(*payWorld) {}, since: time.Hour},
		"booked before":  {before: bookedBefore(func(*http.Response) {}), journal: true, since: time.Hour},
		"booked before, by the status alone": {before: bookedBefore(func(answer *http.Response) {
			answer.Header.Del("Idempotency-Replayed")
		}), journal: true, since: time.Hour},
		"booked before, by the header alone": {before: bookedBefore(func(answer *http.Response) {
			answer.StatusCode = http.StatusCreated
		}), journal: true, since: time.Hour},
		"this client is in doubt": {before: func(w *payWorld) {
			w.Host.Arm("POST", bookPath, sandbox.DropBefore().Times(4))
			_, err := w.pay()
			require.Error(w, err)
		}, journal: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				c.before(w)
				w.refuse(http.StatusForbidden, "signing_policy_refused")
				var options []payOption
				if c.journal {
					options = append(options, journaled())
				}
				if c.since > 0 {
					options = append(options, firstUsedAt(time.Now().Add(-c.since)))
				}
				payment, err := w.pay(options...)
				as[*errors.SigningPolicyRefused](t, payment.Refusal)
				assert.Equal(t, c.unpaid, payment.Unpaid, "%v", err)
				if !c.unpaid {
					w.assertInDoubt(t, payment, err)
					assert.NotContains(t, err.Error(), howToSay, "what would have to be said is said already")
				}
			})
		})
	}
}

// The history that Pay returns has the first price also without a journal: no later price may be worse.
func TestAStoredHistoryBoundsThePrice(t *testing.T) {
	w := newPayWorld(t)
	w.Host.Arm("POST", confirmPath, sandbox.DropBefore().Times(100))
	w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
	lost, err := w.pay()
	w.assertInDoubt(t, lost, err)
	require.NotNil(t, lost.History.Quote)
	w.Host.DisarmAll()
	w.worsen("0.5")
	w.account = w.integrator().Self()
	w.Host.Advance(5 * time.Minute)
	again, err := w.pay(func(t *dapi.PayTerms) { t.History = lost.History })
	w.assertInDoubt(t, again, err)
	assert.Equal(t, dapi.BoundNoWorseThan, as[*dapi.PriceRefused](t, again.Refusal).Bound)
}

// A call without its key, by a mistake, leaves the doubt in the stored history: the payment is not made again later.
func TestACallWithoutItsKeyKeepsTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit().Times(100))
		w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		var stored dapi.History
		pay := func(key moneymovement.Key) {
			payment, _ := w.account.Payouts.Pay(w.Context(), w.asked, key, dapi.PayTerms{History: stored,
				Journal: func(_ context.Context, history dapi.History) error { stored = history; return nil }})
			assert.NotEqual(t, moneymovement.PaymentPaid, payment.State)
			assert.False(t, payment.Unpaid)
			stored = payment.History
		}
		pay("invoice-42")
		w.Host.DisarmAll()
		pay("")
		time.Sleep(8 * 24 * time.Hour)
		w.account = w.integrator().Self()
		pay("invoice-42")
		assert.Equal(t, 1, w.Fundings())
	})
}

// A first use in the future, by a clock that was ahead, does not matter if nothing was paid.
func TestAFirstUseInTheFuture(t *testing.T) {
	w := newPayWorld(t)
	history := dapi.History{FirstUsed: time.Now().Add(48 * time.Hour), Unpaid: true}
	_, err := w.pay(func(t *dapi.PayTerms) { t.History = history })
	as[*errors.InvalidInput](t, err) // without a journal, Unpaid does not count
	payment, err := w.pay(journaled(), func(t *dapi.PayTerms) { t.History = history })
	require.NoError(t, err)
	assert.Less(t, time.Since(payment.History.FirstUsed).Abs(), time.Minute)
}

// A payout that has expired and that nobody has signed for stays unpaid over calls.
func TestAnExpiredPayoutStaysUnpaid(t *testing.T) {
	w := newPayWorld(t)
	w.onBooking(func(payout map[string]any) { payout["status"] = "expired" })
	var history dapi.History
	for range 2 {
		payment, _ := w.pay(journaled(), func(t *dapi.PayTerms) { t.History = history })
		assert.Equal(t, moneymovement.PaymentEnded, payment.State)
		assert.True(t, payment.Unpaid)
		history = payment.History
	}
}

// A booking without a price or an approval is journaled as it is, or not at all.
func TestWhatIsJournaledOfABookingThatLacksSomething(t *testing.T) {
	t.Run("no price", func(t *testing.T) {
		w, s := newPayWorld(t), &paymentRow{}
		w.onBooking(without("quote"))
		payment, err := w.pay(s.row())
		require.NoError(t, err)
		assert.Nil(t, s.history.Quote)
		assert.Equal(t, payment.Payout.ID, s.history.PayoutID)
	})
	t.Run("no approval", func(t *testing.T) {
		w, s := newPayWorld(t), &paymentRow{}
		w.onBooking(without("approval"))
		_, err := w.pay(s.row(), beforeSigning(func(context.Context, *dapi.Payout) error { return errors.New("no") }))
		as[*signing.ApprovalRefused](t, err)
		assert.Empty(t, s.written)
	})
}

// A payment is booked again if its price ends in less than 20 seconds, and the caller's functions are to be called,
// which could take that long. If the service offers the price again, they have 20 seconds all the same.
func TestAPriceThatEndsTooSoonForTheCallersFunctions(t *testing.T) {
	for name, c := range map[string]struct {
		left  time.Duration
		terms func(see func(context.Context)) []payOption
		books int
	}{
		"none": {15 * time.Second, func(func(context.Context)) []payOption { return nil }, 1},
		"Journal": {15 * time.Second, func(see func(context.Context)) []payOption {
			return []payOption{func(t *dapi.PayTerms) {
				t.Journal = func(ctx context.Context, _ dapi.History) error { see(ctx); return nil }
			}}
		}, 2},
		"BeforeSigning": {15 * time.Second, func(see func(context.Context)) []payOption {
			return []payOption{beforeSigning(func(ctx context.Context, _ *dapi.Payout) error { see(ctx); return nil })}
		}, 2},
		"just in time": {21 * time.Second, func(func(context.Context)) []payOption {
			return []payOption{journaled()}
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, end := newPayWorld(t), time.Now().Add(c.left)
				w.onBooking(func(payout map[string]any) {
					payout["quote"].(map[string]any)["expiresAt"] = end.UTC().Format(time.RFC3339)
				})
				var left []time.Duration
				_, err := w.pay(c.terms(func(ctx context.Context) {
					at, _ := ctx.Deadline()
					left = append(left, time.Until(at))
				})...)
				require.NoError(t, err)
				assert.Equal(t, c.books, w.Sent("BookPayout"))
				if c.books > 1 {
					assert.Equal(t, []time.Duration{20 * time.Second}, left)
				}
			})
		})
	}
}

// A confirm is refused for its own input, which is not the payment's: another call has another approval. So it settles
// no doubt.
func TestTheInputOfAConfirmIsNotThePayments(t *testing.T) {
	w := newDealWorld(t)
	w.refuse(http.StatusUnprocessableEntity, "validation_failed")
	payment, err := w.pay()
	w.assertInDoubt(t, payment, err)

	w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusUnprocessableEntity, "validation_failed"))
	opened, err := w.open()
	assertDealInDoubt(t, err)
	assert.Equal(t, moneymovement.PaymentInDoubt, opened.State)
}
