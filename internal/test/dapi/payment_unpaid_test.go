package dapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
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

// Input that is refused before anything is sent leaves no trace: the next call is what it would have been without.
func TestRefusedInputChangesNoState(t *testing.T) {
	w := newPayWorld(t)
	_, err := w.pay(journaled(), maxFee(amount("-1")))
	as[*errors.InvalidInput](t, err)
	w.refuse(http.StatusForbidden, "signing_policy_refused")
	payment, err := w.pay(journaled(), firstUsedAt(time.Now()))
	as[*errors.SigningPolicyRefused](t, err)
	assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
	assert.True(t, payment.Unpaid)
}

// A program with a journal knows how its calls ended, so a call that paid nothing does not leave the next one in doubt.
func TestJournaledRefusalIsNotInDoubt(t *testing.T) {
	w := newPayWorld(t)
	for range 3 {
		payment, err := w.pay(journaled(), maxFee(amount("0.1")))
		as[*dapi.PriceRefused](t, err)
		require.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
	}
	_, err := w.pay(journaled(), maxFee(amount("1")))
	require.NoError(t, err)
}

// A first use, by the journal, that was plainly refused is unpaid, and keeps the type of its refusal.
func TestARefusedPaymentIsUnpaid(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(w *payWorld)
		code    errors.Code
		state   moneymovement.PaymentState
	}{
		"at the booking": {func(w *payWorld) {
			w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		}, errors.CodeContactNotPayable, moneymovement.PaymentNeedsDecision},
		"at the booking, for its rate": {func(w *payWorld) {
			w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
				WithHeader("Retry-After", "3600"))
		}, errors.CodeRateLimited, moneymovement.PaymentNotPaid},
		"at the confirm": {func(w *payWorld) {
			w.refuse(http.StatusForbidden, "signing_policy_refused")
		}, errors.CodeSigningPolicyRefused, moneymovement.PaymentNeedsDecision},
		"at the confirm, for the balance": {func(w *payWorld) {
			w.asked.Amount = amount("100.01")
		}, errors.CodePayoutNotFundable, moneymovement.PaymentNeedsDecision},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			c.arrange(w)
			payment, err := w.pay(journaled())
			assert.Equal(t, c.state, payment.State)
			assert.True(t, errors.HasCode(err, c.code), "%v", err)
			assert.True(t, payment.Unpaid)
			assert.Zero(t, w.Fundings())
			assert.Zero(t, w.Sent("ListTransactions"), "nothing is searched for where nothing is in doubt")
		})
	}
	t.Run("and its own booking was lost and repeated", func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", bookPath, sandbox.DropAfterCommit())
		w.refuse(http.StatusForbidden, "signing_policy_refused")
		w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden"))
		payment, err := w.pay(journaled())
		assert.Equal(t, 2, w.Sent("BookPayout"))
		assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State, "the replay is of this very call: %v",
			err)
	})
	t.Run("without a journal, nobody knows", func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		payment, err := w.pay()
		w.assertInDoubt(t, payment, err)
	})
	t.Run("a refusal of the credential is asked nothing more", func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
		payment, err := w.pay()
		w.assertInDoubt(t, payment, err)
		assert.Zero(t, w.Sent("ListTransactions"))
	})
}

// Another process knows from its stored row which payout was booked and not paid. The replay of that booking does not
// mean that another call paid.
func TestAnotherProcessKnowsFromItsHistory(t *testing.T) {
	w := newPayWorld(t)
	w.asked.Amount = amount("100.01")
	booked, err := w.pay(journaled())
	as[*errors.PayoutNotFundable](t, err)
	for range 2 {
		w.account = w.integrator().Self()
		payment, err := w.pay(journaled(), knownPayout(booked.Payout.ID))
		as[*errors.PayoutNotFundable](t, err)
		assert.Equal(t, booked.Payout.ID, payment.Payout.ID)
		assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
		assert.True(t, payment.Unpaid)
	}
	w.account = w.integrator().Self()
	payment, err := w.pay(knownPayout(booked.Payout.ID))
	w.assertInDoubt(t, payment, err) // without a journal, an earlier call may have paid
	assert.Zero(t, w.Fundings())
}

// Whoever journals knows all that was signed: a booking that was not signed is taken up again, however the service says
// that it replays it. What the service or this client knows to be paid counts all the same.
func TestAJournalKnowsWhatWasSigned(t *testing.T) {
	refuseEverything := func(w *payWorld) {
		w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusForbidden, "signing_policy_refused"))
		w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
	}
	for name, c := range map[string]struct {
		before func(w *payWorld) // the second call
		change func(r *http.Request, response *http.Response)
	}{
		"the service says that it replays": {
			before: func(w *payWorld) { w.account = w.integrator().Self() },
		},
		"the service says so by 200 alone": {
			before: func(w *payWorld) { w.account = w.integrator().Self() },
			change: func(_ *http.Request, response *http.Response) { response.Header.Del("Idempotency-Replayed") },
		},
		"the service says so by its header alone": {
			before: func(w *payWorld) { w.account = w.integrator().Self() },
			change: func(_ *http.Request, response *http.Response) {
				if response.StatusCode == http.StatusOK {
					response.StatusCode = http.StatusCreated
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			w.refuse(http.StatusForbidden, "signing_policy_refused")
			payment, _ := w.pay(journaled())
			require.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
			c.before(w)
			if c.change != nil {
				w.Wire.OnResponse(c.change)
			}
			refuseEverything(w)
			payment, err := w.pay(journaled())
			as[*errors.SigningPolicyRefused](t, err)
			assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
			assert.True(t, payment.Unpaid)
		})
	}
	t.Run("the service replays another booking than the one that the program names", func(t *testing.T) {
		w := newPayWorld(t)
		w.refuse(http.StatusForbidden, "signing_policy_refused")
		_, err := w.pay(journaled())
		as[*errors.SigningPolicyRefused](t, err)
		w.account = w.integrator().Self()
		refuseEverything(w)
		payment, err := w.pay(journaled(), knownPayout("po_other"))
		w.assertInDoubt(t, payment, err)
	})
	t.Run("this client has paid", func(t *testing.T) {
		w := newPayWorld(t)
		_, err := w.pay(journaled())
		require.NoError(t, err)
		w.Host.Arm("", "/**", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		payment, err := w.pay(journaled())
		w.assertInDoubt(t, payment, err)
	})
	t.Run("the service says that it is funded", func(t *testing.T) {
		w := newPayWorld(t)
		first, err := w.pay()
		require.NoError(t, err)
		w.account = w.integrator().Self()
		again, err := w.pay(journaled())
		require.NoError(t, err)
		assert.Equal(t, first.Payout.ID, again.Payout.ID)
		assert.Equal(t, 1, w.Fundings())
	})
}

// Each way to need a decision, before any call has paid and after one has. Only the first can be proven to be unpaid.
func TestUnpaidIfADecisionIsNeeded(t *testing.T) {
	old := time.Now().Add(-8 * 24 * time.Hour)
	for name, c := range map[string]struct {
		arrange func(w *payWorld)
		options []payOption
		needs   func(t *testing.T, err error)
		unpaid  bool // with a journal, if no call has paid
	}{
		"input": {
			unpaid:  true,
			options: []payOption{maxFee(amount("-1"))},
			needs:   func(t *testing.T, err error) { t.Helper(); as[*errors.InvalidInput](t, err) },
		},
		"the terms of the input": {
			unpaid:  true,
			arrange: func(w *payWorld) { w.asked.Currency = "" },
			needs:   func(t *testing.T, err error) { t.Helper(); as[*errors.InvalidInput](t, err) },
		},
		"price": {
			unpaid:  true,
			options: []payOption{maxFee(amount("0.1"))},
			needs:   func(t *testing.T, err error) { t.Helper(); as[*dapi.PriceRefused](t, err) },
		},
		"other terms booked": {
			unpaid:  true,
			arrange: func(w *payWorld) { w.onBooking(func(payout map[string]any) { payout["amount"] = "250" }) },
			needs:   func(t *testing.T, err error) { t.Helper(); as[*dapi.TermsDiffer](t, err) },
		},
		"a key too old": {
			options: []payOption{firstUsedAt(old)},
			needs:   func(t *testing.T, err error) { t.Helper(); as[*dapi.KeyTooOld](t, refusalIn(err)) },
		},
		"a key with other terms": {
			arrange: func(w *payWorld) {
				w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "idempotency_key_reused"))
			},
			needs: func(t *testing.T, err error) { t.Helper(); as[*errors.IdempotencyKeyReused](t, refusalIn(err)) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("no call has paid", func(t *testing.T) {
				w := newPayWorld(t)
				if c.arrange != nil {
					c.arrange(w)
				}
				payment, err := w.pay(append([]payOption{journaled()}, c.options...)...)
				c.needs(t, err)
				require.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
				assert.Equal(t, c.unpaid, payment.Unpaid)
				assert.Zero(t, w.Fundings())
			})
			for _, process := range []string{"the same client", "another process"} {
				t.Run("a call has paid, and "+process+" calls again", func(t *testing.T) {
					w := newPayWorld(t)
					_, err := w.pay(journaled())
					require.NoError(t, err)
					var options []payOption
					if process == "another process" {
						w.account = w.integrator().Self()
					} else {
						options = []payOption{journaled()} // of another store, and this client knows better
					}
					if c.arrange != nil {
						c.arrange(w)
					}
					payment, err := w.pay(append(options, c.options...)...)
					assert.False(t, payment.Unpaid, "%v", err)
					assert.Equal(t, 1, w.Fundings())
				})
			}
		})
	}
}

// A payout that was not signed for is unpaid, also if it has an unknown status since. One that was signed for may be
// paid then.
func TestAPayoutThatMovesOnAfterARefusal(t *testing.T) {
	w := newPayWorld(t)
	w.onSuccess("GET", "/payouts/*", settling)
	payment, err := w.pay(journaled(), firstUsedAt(time.Now().Add(-time.Hour)), maxFee(amount("0.1")))
	as[*dapi.PriceRefused](t, err)
	assert.True(t, payment.Unpaid)
	assert.Equal(t, 1, w.Sent("GetPayout"))

	w.refuse(http.StatusForbidden, "signing_policy_refused")
	payment, err = w.pay(journaled())
	w.assertInDoubt(t, payment, err)
	assert.Equal(t, 2, w.Sent("GetPayout"))
}

// While another call with the key is under way, wrong input does not show that nothing was paid.
func TestUnpaidIsFalseBesideAnotherCall(t *testing.T) {
	w := newPayWorld(t)
	_, err := w.pay(journaled(), beforeSigning(func(context.Context, *dapi.Payout) error {
		payment, err := w.pay(journaled(), maxFee(amount("-1")))
		as[*errors.InvalidInput](t, err)
		assert.False(t, payment.Unpaid)
		return nil
	}))
	require.NoError(t, err)
}

// What a text says of earlier calls.
const (
	paidNothing   = "this call paid nothing"
	earlier       = "an earlier call with this key may have paid"
	howToSay      = "with Journal in the terms"
	sameTerms     = "the same terms"
	outcomeIsOpen = "in doubt"
)

// assertInOrder asserts that a text has all parts, one after the other.
func assertInOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !assert.True(t, found, "%q is not there, or not in its place, in: %s", part, text) {
			return
		}
		rest = after
	}
}

// Input that the same call can never pass needs a decision, by its own type, whatever earlier calls did. A doubt would
// ask for the same call for ever.
func TestInputThatNeverPassesNeedsADecision(t *testing.T) {
	response := func(status int, slug string) func(*payWorld) {
		return func(w *payWorld) { w.Host.Arm("POST", bookPath, sandbox.Respond(status, slug)) }
	}
	for name, c := range map[string]struct {
		arrange func(*payWorld)
		typed   func(t *testing.T, err error)
	}{
		"refused by the SDK": {
			func(w *payWorld) { w.asked.Amount = amount("-1") },
			func(t *testing.T, err error) { t.Helper(); as[*errors.InvalidInput](t, err) },
		},
		"decimals": {
			func(w *payWorld) { w.asked.Amount = amount("1.0000001") },
			func(t *testing.T, err error) { t.Helper(); as[*errors.ValidationFailed](t, refusalIn(err)) },
		},
		"validation_failed": {
			response(http.StatusUnprocessableEntity, "validation_failed"),
			func(t *testing.T, err error) { t.Helper(); as[*errors.ValidationFailed](t, refusalIn(err)) },
		},
		"invalid_request": {
			response(http.StatusBadRequest, "invalid_request"),
			func(t *testing.T, err error) { t.Helper(); as[*errors.InvalidRequest](t, refusalIn(err)) },
		},
		"invalid_id": {
			response(http.StatusBadRequest, "invalid_id"),
			func(t *testing.T, err error) { t.Helper(); as[*errors.InvalidID](t, refusalIn(err)) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("the first use", func(t *testing.T) {
				w := newPayWorld(t)
				c.arrange(w)
				payment, err := w.pay(journaled())
				c.typed(t, err)
				assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
				assert.True(t, payment.Unpaid, "%v", err)
				assert.NotContains(t, err.Error(), earlier)
			})
			t.Run("nothing is said of earlier calls", func(t *testing.T) {
				w := newPayWorld(t)
				asked := w.asked
				c.arrange(w)
				payment, err := w.pay()
				c.typed(t, err)
				assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
				assert.False(t, payment.Unpaid, "%v", err)
				assertInOrder(t, err.Error(), paidNothing, earlier, howToSay)
				assert.NotContains(t, err.Error(), sameTerms)

				w.asked = asked // corrected
				_, err = w.pay(journaled())
				require.NoError(t, err, "the key is free for corrected terms")
				assert.Equal(t, 1, w.Fundings())
			})
			t.Run("an earlier call may have paid", func(t *testing.T) {
				if name == "decimals" {
					t.Skip("these are other terms, which the key does not allow")
				}
				w := newPayWorld(t)
				w.loseConfirm()
				payment, err := w.pay(journaled())
				w.assertInDoubt(t, payment, err)
				w.hideReads()
				c.arrange(w)
				payment, err = w.pay(journaled())
				assert.False(t, payment.Unpaid, "%v", err)
				assert.NotEqual(t, moneymovement.PaymentNotPaid, payment.State)
				assertInOrder(t, err.Error(), paidNothing, earlier)
				assert.NotContains(t, err.Error(), howToSay, "it would have no effect")
			})
		})
	}
}

// loseConfirm loses the responses to all confirms of a call, and refuses the reads that show what they did.
func (w *payWorld) loseConfirm() {
	w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit().Times(4))
	w.hideReads()
}

// hideReads refuses the next reads of payouts and of the ledger.
func (w *payWorld) hideReads() {
	w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(2))
	w.Host.Arm("GET", "/transactions", sandbox.Respond(http.StatusForbidden, "forbidden").Times(2))
}

// A refusal says first that this call paid nothing and why, then what is known of earlier calls. It never asks for a
// correction and for the same terms at once.
func TestARefusalInDoubtSaysWhatToDo(t *testing.T) {
	for slug, status := range map[string]int{
		"not_found": 404, "contact_not_payable": 409, "payout_not_fundable": 409, "forbidden": 403, "gone": 410,
		"rail_requirements_unmet": 422, "wallet_not_linked": 409, "method_not_allowed": 405,
	} {
		t.Run(slug, func(t *testing.T) {
			w := newPayWorld(t)
			w.Host.Arm("POST", bookPath, sandbox.Respond(status, slug))
			payment, err := w.pay()
			w.assertInDoubt(t, payment, err)
			text := err.Error()
			assertInOrder(t, text, paidNothing, slug, earlier, howToSay)
			assert.NotContains(t, text, outcomeIsOpen, "this call paid nothing, and that is known")
			for _, correction := range []string{"correct", "check the id", "change the request"} {
				assert.NotContains(t, text, correction)
			}

			w.Host.Arm("POST", bookPath, sandbox.Respond(status, slug))
			payment, err = w.pay(journaled()) // as the text says
			state := moneymovement.PaymentNeedsDecision
			if slug == "forbidden" || slug == "wallet_not_linked" { // of the credential, or passes by itself
				state = moneymovement.PaymentNotPaid
			}
			assert.Equal(t, state, payment.State, "%v", err)
			assert.True(t, errors.HasCode(err, errors.Code(slug)), "%v", err)
			assert.NotContains(t, err.Error(), earlier)
		})
	}
}

// A first call whose context was canceled before it sent anything paid nothing.
func TestCanceledFirstUseIsUnpaid(t *testing.T) {
	w := newPayWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	payment, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42", dapi.PayTerms{})
	w.assertInDoubt(t, payment, err)
	assertInOrder(t, err.Error(), paidNothing, earlier, howToSay)
	payment, err = w.account.Payouts.Pay(ctx, w.asked, "invoice-42", payTerms(journaled()))
	assert.Equal(t, moneymovement.PaymentNotPaid, payment.State, "%v", err)
}

// Two processes have one key and the same history. The one whose journal fails cannot know what the other signs.
func TestAJournalThatFailsLeavesADoubt(t *testing.T) {
	w := newPayWorld(t)
	other := w.integrator().Self()
	conflict := errors.New("another process has stored that it signs")
	payment, err := w.account.Payouts.Pay(t.Context(), w.asked, "invoice-42", dapi.PayTerms{
		Journal: func(ctx context.Context, history dapi.History) error {
			assert.False(t, history.Unpaid)
			assert.NotEmpty(t, history.PayoutID)
			assert.WithinDuration(t, time.Now(), history.FirstUsed, time.Minute)
			_, err := other.Payouts.Pay(ctx, w.asked, "invoice-43", dapi.PayTerms{})
			return errors.Join(conflict, err)
		},
	})
	w.assertInDoubt(t, payment, err)
	require.ErrorIs(t, as[*dapi.PaymentDeclined](t, payment.Refusal), conflict)
	assert.False(t, payment.History.Unpaid)
	assert.Equal(t, 1, w.Key.Approvals(), "that of the other process")
}

// A service that forgot the key has booked another payout, which this client remembers as well. The stored payout stays
// the payout of the key, also if a later booking is refused: otherwise the other one would be paid in its place.
func TestTheStoredPayoutStays(t *testing.T) {
	w := newPayWorld(t)
	first, err := w.pay(journaled())
	require.NoError(t, err)
	w.account = w.integrator().Self()
	w.Host.ForgetKeys()
	stored := func() dapi.PayTerms {
		return dapi.PayTerms{History: first.History, Journal: func(context.Context, dapi.History) error { return nil }}
	}
	again, err := w.account.Payouts.Pay(t.Context(), w.asked, "invoice-42", stored())
	require.NoError(t, err)
	assert.Equal(t, first.Payout.ID, again.Payout.ID)
	w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusUnprocessableEntity, "validation_failed"))
	w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
	refused, err := w.account.Payouts.Pay(t.Context(), w.asked, "invoice-42", stored())
	require.Error(t, err)
	assert.Equal(t, first.Payout.ID, refused.History.PayoutID)
	assert.Equal(t, 1, w.Fundings())
}

// What the service says of a payment that this caller has not made.
func TestServiceShowsAPaymentThatTheJournalLacks(t *testing.T) {
	t.Run("it is funding the payment", func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "funding_in_progress"))
		payment, err := w.pay(journaled())
		w.assertInDoubt(t, payment, err)
	})
	t.Run("another payout than the stored one is funded", func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "already_funded").
			WithDetails(map[string]any{"payoutId": "po_other"}))
		payment, err := w.pay(knownPayout("po_mine"))
		w.assertInDoubt(t, payment, err)
		assert.Equal(t, dapi.PayoutID("po_mine"), payment.History.PayoutID)
	})
}

// Another process first makes the call with wrong terms, and loses the response. What this client then remembers of the
// key says nothing about the right terms.
func TestWrongTermsOfAnotherProcessDoNotProveUnpaid(t *testing.T) {
	w := newPayWorld(t)
	paid, err := w.pay()
	require.NoError(t, err)
	w.account = w.integrator().Self()
	right := w.asked
	w.asked.Amount = amount("26")
	w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusInternalServerError, "internal_error").Times(100))
	lost, err := w.pay()
	w.assertInDoubt(t, lost, err)
	w.Host.DisarmAll()
	w.asked = right
	w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").Times(100))
	again, err := w.pay(func(t *dapi.PayTerms) { t.History = paid.History })
	as[*errors.InDoubt](t, err)
	as[*errors.IdempotencyKeyReused](t, again.Refusal)
	assert.False(t, again.Unpaid)
}

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
func TestFieldsOfAHistory(t *testing.T) {
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
// call after a doubt accepts its age, and forgets the old booking.
func TestForgottenUnpaidKeyIsNew(t *testing.T) {
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
func TestNewBookingWithAJournalEndsADoubt(t *testing.T) {
	bookedBefore := func(change func(response *http.Response)) func(w *payWorld) {
		return func(w *payWorld) {
			_, err := w.integrator().Self().Payouts.Book(w.Context(), w.asked,
				moneymovement.IdempotencyKey("invoice-42"))
			require.NoError(w, err)
			w.Wire.OnResponse(func(r *http.Request, response *http.Response) {
				if r.URL.Path == "/dapi/v1/payouts" {
					change(response)
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
		"booked before, by the status alone": {before: bookedBefore(func(response *http.Response) {
			response.Header.Del("Idempotency-Replayed")
		}), journal: true, since: time.Hour},
		"booked before, by the header alone": {before: bookedBefore(func(response *http.Response) {
			response.StatusCode = http.StatusCreated
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

// A booking without a price is journaled as it is. One without an approval is not journaled.
func TestJournalOfAnIncompleteBooking(t *testing.T) {
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
func TestRefusedInputOfAConfirmSettlesNothing(t *testing.T) {
	w := newEscrowWorld(t)
	w.refuse(http.StatusUnprocessableEntity, "validation_failed")
	payment, err := w.pay()
	w.assertInDoubt(t, payment, err)

	w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusUnprocessableEntity, "validation_failed"))
	opened, err := w.open()
	assertEscrowInDoubt(t, err)
	assert.Equal(t, moneymovement.PaymentInDoubt, opened.State)
}
