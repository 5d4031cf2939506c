package dapi_test

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// The context can end while Pay reads what became of a payment, which its error shows.
func TestContextThatEndsDuringTheReadOfAPaymentInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(w *payWorld)
		again   bool // it is the second call of the payment
	}{
		"a confirm was lost": {arrange: func(w *payWorld) {
			w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusInternalServerError, "internal_error"))
			w.Host.Arm("GET", "/payouts/*", sandbox.Delay(time.Minute))
		}},
		"a booking is refused": {again: true, arrange: func(w *payWorld) {
			w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
			w.Host.Arm("GET", "/payouts/*", sandbox.Delay(time.Minute))
		}},
		"another process booked, and the ledger is read": {arrange: func(w *payWorld) {
			w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
			w.Host.Arm("GET", "/transactions", sandbox.Delay(time.Minute))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				if c.again {
					_, err := w.pay()
					require.NoError(t, err)
				}
				c.arrange(w)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				payment, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42", dapi.PayTerms{})
				w.assertInDoubt(t, payment, err)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Same(t, as[*errors.InDoubt](t, err), err, "nothing around it")
			})
		})
	}
}

// A payout whose approval closed reads as expired. Its key can still pay: the payment has not come to its end.
func TestExpiredApprovalDoesNotEndThePayment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", confirmPath, sandbox.DropBefore().Times(4))
		_, err := w.pay()
		as[*errors.InDoubt](t, err)
		time.Sleep(3 * time.Minute)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
		payment, err := w.pay()
		w.assertInDoubt(t, payment, err)
		_, err = w.pay()
		require.NoError(t, err)
		assert.Equal(t, 1, w.Fundings())
	})
}

// Who confirms by hand, and does not learn what came of it, leaves the payment in doubt for Pay as well.
func TestConfirmByHandLeavesThePaymentInDoubt(t *testing.T) {
	for name, tc := range map[string]struct {
		fault *sandbox.Fault
		state moneymovement.PaymentState
	}{
		"lost":    {new(sandbox.DropBefore()), moneymovement.PaymentInDoubt},
		"refused": {new(sandbox.Respond(http.StatusForbidden, "signing_policy_refused")), moneymovement.PaymentNotPaid},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				booked, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.IdempotencyKey("invoice-42"))
				require.NoError(t, err)
				w.Host.Arm("POST", confirmPath, tc.fault.Times(4))
				_, err = w.account.Payouts.Confirm(t.Context(), w.asked, booked)
				require.Error(t, err)
				w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
				payment, err := w.pay(journaled())
				assert.Equal(t, tc.state, payment.State, "%v", err)
			})
		})
	}
}

// A function of the caller's that panics ends its call. The payment may have been made, for all that is known.
func TestCallbackThatPanics(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(w *payWorld)
		options []payOption
	}{
		"the hook": {options: []payOption{beforeSigning(func(context.Context, *dapi.Payout) error {
			panic("hook")
		})}},
		"the signer": {arrange: func(w *payWorld) { w.Key.BeforeApproval(func(int) { panic("signer") }) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				if c.arrange != nil {
					c.arrange(w)
				}
				assert.Panics(t, func() { _, _ = w.pay(append(c.options, journaled())...) })
				w.Key.BeforeApproval(nil)
				w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(2))
				payment, err := w.pay(journaled())
				w.assertInDoubt(t, payment, err)

				time.Sleep(8 * 24 * time.Hour)
				payment, err = w.pay(journaled())
				w.assertInDoubt(t, payment, err) // the service may have forgotten the key, this client has not
			})
		})
	}
}

// Payments that wait for one login share its refusal. The error of each names its own payout.
func TestLoginRefusalOfSeveralPayments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", confirmPath, sandbox.ExpireToken().Times(2))
		w.Host.Arm("POST", "/auth/**", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		var booked, ended, payments sync.WaitGroup
		booked.Add(2)
		ended.Add(2)
		together := beforeSigning(func(context.Context, *dapi.Payout) error {
			booked.Done()
			booked.Wait()
			return nil
		})
		for _, key := range []moneymovement.Key{"invoice-42", "invoice-43"} {
			payments.Go(func() {
				payment, err := w.payAs(key, journaled(), together)
				ended.Done()
				ended.Wait()
				assert.Equal(t, moneymovement.PaymentNotPaid, payment.State)
				head, _ := errors.CallInfoOf(err)
				assert.Equal(t, string(payment.Payout.ID), head.Resource)
				assert.Equal(t, string(key), head.IdempotencyKey)
			})
		}
		payments.Wait()
	})
}

// A hook makes calls of its own. What one of them ends in says nothing about the payment.
func TestDoubtOfACallInsideAHookIsSeparate(t *testing.T) {
	w := newPayWorld(t)
	hooked := &errors.InDoubt{CallInfo: errors.CallInfo{Operation: "CreateContact", IdempotencyKey: "contact-1"},
		Cause: errors.New("lost")}
	declines := beforeSigning(func(context.Context, *dapi.Payout) error { return hooked })
	payment, err := w.pay(journaled(), declines)
	as[*dapi.PaymentDeclined](t, err)
	assert.NotEqual(t, moneymovement.PaymentPaid, payment.State)

	w.account = w.integrator().Self()
	payment, err = w.pay(declines)
	w.assertInDoubt(t, payment, err)
	as[*dapi.PaymentDeclined](t, as[*errors.InDoubt](t, err).Cause)
	assert.Equal(t, "contact-1", hooked.IdempotencyKey, "the hook's error is its own")
}

// setbacks are what a second call of a payment can meet before the service gets to say anything about the payment.
var setbacks = map[string]func(w *payWorld) (context.Context, context.CancelFunc){
	"429": func(w *payWorld) (context.Context, context.CancelFunc) {
		w.Host.Arm("", "/**", sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
			WithHeader("Retry-After", "3600").Times(100))
		return context.WithCancel(w.Context())
	},
	"403, the key was deleted": func(w *payWorld) (context.Context, context.CancelFunc) {
		require.NoError(w, w.Host.DeleteKey(w.Host.Credentials().KeyID))
		return context.WithCancel(w.Context())
	},
	"a deadline that has passed": func(w *payWorld) (context.Context, context.CancelFunc) {
		return context.WithDeadline(w.Context(), time.Now().Add(-time.Second))
	},
	"a deadline that is too short": func(w *payWorld) (context.Context, context.CancelFunc) {
		w.Host.Arm("", "/**", sandbox.Delay(time.Minute).Times(100))
		return context.WithTimeout(w.Context(), time.Second)
	},
	"no network": func(w *payWorld) (context.Context, context.CancelFunc) {
		w.Host.Arm("", "/**", sandbox.DropBefore().Times(1000))
		return context.WithCancel(w.Context())
	},
	"503": func(w *payWorld) (context.Context, context.CancelFunc) {
		w.Host.Arm("", "/**", sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").Times(1000))
		return context.WithCancel(w.Context())
	},
}

// bookingSetbacks are refusals of the booking itself.
var bookingSetbacks = map[string]func(w *payWorld) (context.Context, context.CancelFunc){
	"a contact that is gone": func(w *payWorld) (context.Context, context.CancelFunc) {
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		return context.WithCancel(w.Context())
	},
	"422": func(w *payWorld) (context.Context, context.CancelFunc) {
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusUnprocessableEntity, "validation_failed"))
		w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		return context.WithCancel(w.Context())
	},
}

func paySetbacks() map[string]func(w *payWorld) (context.Context, context.CancelFunc) {
	all := maps.Clone(setbacks)
	maps.Copy(all, bookingSetbacks)
	return all
}

// The first call is told that nothing is known; the money has left. The second call, made as advised, meets something
// else: a refusal speaks for its call, and the payment stays in doubt.
func TestSecondCallOfAPaymentInDoubt(t *testing.T) {
	for name, setback := range paySetbacks() {
		for _, process := range []string{"the same client", "the same client, with an empty store", "another process"} {
			t.Run(name+"/"+process, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newPayWorld(t)
					w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit().Times(4))
					w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(2))
					payment, _ := w.pay(journaled())
					require.Equal(t, moneymovement.PaymentInDoubt, payment.State)
					require.Equal(t, 1, w.Fundings())
					if process == "another process" {
						w.account = w.integrator().Self()
					}
					ctx, cancel := setback(w)
					defer cancel()

					var terms dapi.PayTerms
					if process == "the same client, with an empty store" {
						terms = payTerms(journaled())
					}
					payment, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42", terms)
					w.assertOpen(t, name, payment, err)
					if name == "429" {
						call, _ := errors.CallInfoOf(err)
						assert.WithinDuration(t, time.Now().Add(time.Hour), call.RetryAt, time.Minute)
					}
					if ctx.Err() != nil {
						require.ErrorIs(t, err, ctx.Err())
					}
					time.Sleep(10 * time.Minute) // for a login that its caller left alone
				})
			})
		}
	}
}

// assertOpen asserts that a setback settles no payment that may have been made. Input that never passes needs a
// decision. Everything else is a doubt.
func (w *payWorld) assertOpen(t *testing.T, setback string, payment dapi.Payment, err error) {
	t.Helper()
	if setback != "422" {
		w.assertInDoubt(t, payment, err)
		return
	}
	as[*errors.ValidationFailed](t, refusalIn(err))
	assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
	assert.False(t, payment.Unpaid)
}

func (w *payWorld) assertInDoubt(t *testing.T, payment dapi.Payment, err error) {
	t.Helper()
	require.Error(t, err)
	state := payment.State
	assert.Equal(t, moneymovement.PaymentInDoubt, state, "%T: %v", err, err)
	assert.False(t, payment.Unpaid)
	assertKeyInDoubt(t, err, "invoice-42", "call Pay again with the same key and terms")
}

// assertKeyInDoubt asserts that something may have been done with a key, whatever was refused last.
func assertKeyInDoubt(t *testing.T, err error, key, advice string) {
	t.Helper()
	inDoubt := as[*errors.InDoubt](t, err)
	assert.Equal(t, errors.MaybeMoved, inDoubt.MovedByCall())
	assert.Equal(t, key, inDoubt.IdempotencyKey)
	assert.Contains(t, err.Error(), advice)
	for _, never := range []any{
		new(*errors.Refusal), new(*errors.RateLimited), new(*errors.Forbidden), new(*errors.ContactNotPayable),
		new(*errors.ValidationFailed),
		new(*errors.NotDelivered), new(*errors.DatabaseUnavailable), new(*errors.InvalidInput), new(*errors.Conflict),
		new(*signing.ApprovalRefused), new(*dapi.PriceRefused), new(*dapi.TermsDiffer), new(*dapi.EscrowNotOpened),
	} {
		assert.False(t, errors.As(err, never), "%T: %v", never, err)
	}
	assert.Error(t, inDoubt.Cause, "which is there for a person who looks")
}

// Pay settles a doubt by what it can read before it gives up.
func TestDoubtIsSettledByReading(t *testing.T) {
	t.Run("it is paid", func(t *testing.T) {
		w := newPayWorld(t)
		first, err := w.pay()
		require.NoError(t, err)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		payment, err := w.pay()
		require.NoError(t, err, "this client knows the payout of the key, and reads it")
		assert.Equal(t, first.Payout.ID, payment.Payout.ID)
		assert.Equal(t, moneymovement.PaymentPaid, payment.State)
	})
	t.Run("it was booked by hand and paid by another process, and the ledger cannot be read", func(t *testing.T) {
		w := newPayWorld(t)
		booked, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.IdempotencyKey("invoice-42"))
		require.NoError(t, err)
		_, err = w.integrator().Self().Payouts.Confirm(t.Context(), w.asked, booked)
		require.NoError(t, err)
		w.Host.Arm("GET", "/transactions", sandbox.Respond(http.StatusForbidden, "forbidden").Times(9))
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		payment, err := w.pay()
		require.NoError(t, err)
		assert.Equal(t, booked.ID, payment.Payout.ID)
	})
	t.Run("it is paid, and the reading does not say its key", func(t *testing.T) {
		w := newPayWorld(t)
		_, err := w.pay()
		require.NoError(t, err)
		w.onSuccess("GET", "/payouts/*", without("idempotencyKey"))
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		_, err = w.pay()
		require.NoError(t, err)
	})
	t.Run("it is paid, by another process, and stands in the ledger", func(t *testing.T) {
		w := newPayWorld(t)
		other, err := w.payAs("invoice-41") // of equal terms
		require.NoError(t, err)
		first, err := w.pay()
		require.NoError(t, err)
		require.NotEqual(t, other.Payout.ID, first.Payout.ID)
		w.account = w.integrator().Self()
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		payment, err := w.pay()
		require.NoError(t, err)
		assert.Equal(t, first.Payout.ID, payment.Payout.ID)
	})
	t.Run("the ledger is long, and is not read to its end", func(t *testing.T) {
		w := newPayWorld(t)
		w.Wire.OnResponse(func(r *http.Request, response *http.Response) {
			if r.URL.Path == "/dapi/v1/transactions" {
				cursor := r.URL.Query().Get("cursor") + "x"
				entry := `{"id":"tx_1","type":"payout","direction":"out","amount":"25","currency":"USDC",` +
					`"status":"completed","payoutId":"po_` + cursor + `","createdAt":"2026-01-01T00:00:00Z"}`
				response.StatusCode = http.StatusOK // whatever the host says of such a cursor
				inprocess.SetBody(response, []byte(`{"items":[`+entry+`,`+entry+`],"nextCursor":"`+cursor+`"}`))
			}
		})
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		payment, err := w.pay()
		w.assertInDoubt(t, payment, err)
		assert.Equal(t, 3, w.Sent("ListTransactions"))
		assert.Equal(t, 3, w.Sent("GetPayout"))
	})
	t.Run("it has ended", func(t *testing.T) {
		w := newPayWorld(t)
		first, err := w.pay()
		require.NoError(t, err)
		_, err = w.account.Sandbox.SetPayoutStatus(t.Context(), first.Payout.ID, dapi.PayoutStatusRefunded)
		require.NoError(t, err)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		payment, err := w.pay()
		as[*dapi.PayoutNotCompleted](t, err)
		assert.Equal(t, moneymovement.PaymentEnded, payment.State)
	})
}

// Two clients use one key. While the one whose booking was new waits before it signs, the other pays. Whatever ends the
// first call then, the payment is paid.
func TestAnotherClientPaysBetweenBookingAndRefusal(t *testing.T) {
	for name, refuse := range map[string]func(w *payWorld) error{
		"the hook refuses": func(*payWorld) error { return errors.New("no") },
		"the confirm refuses": func(w *payWorld) error {
			w.refuse(http.StatusForbidden, "signing_policy_refused")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			other := w.integrator().Self()
			payment, err := w.pay(journaled(), beforeSigning(func(ctx context.Context, _ *dapi.Payout) error {
				_, err := other.Payouts.Pay(ctx, w.asked, "invoice-42", dapi.PayTerms{})
				require.NoError(t, err)
				return refuse(w)
			}))
			assert.Equal(t, moneymovement.PaymentPaid, payment.State, "%v", err)
			assert.Equal(t, 1, w.Fundings())
		})
	}
}

// atOnce makes a call, and again a second later, while the first is under way. It returns what both came to.
func atOnce[T any](call func() (T, error)) (first error, value T, err error) {
	slow := make(chan error)
	go func() {
		_, err := call()
		slow <- err
	}()
	time.Sleep(time.Second)
	value, err = call()
	return <-slow, value, err
}

// Two calls with one key at once: the refusal of one says nothing about the payment, which the other may be making.
func TestRefusalBesideAnotherCallWithTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", bookPath, sandbox.Delay(10*time.Second))
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
		slow, payment, err := atOnce(func() (dapi.Payment, error) { return w.pay(journaled()) })
		w.assertInDoubt(t, payment, err)
		require.NoError(t, slow)
		assert.Equal(t, 1, w.Fundings())
	})
}

// Every error after the booking names the payout, and what was booked comes back with it.
func TestErrorsAfterTheBookingNameThePayout(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(w *payWorld)
		options []payOption
	}{
		"refused": {arrange: func(w *payWorld) { w.refuse(http.StatusForbidden, "signing_policy_refused") }},
		"booked again and refused": {arrange: func(w *payWorld) {
			w.refuse(http.StatusConflict, "quote_expired")
			w.Host.Arm("POST", bookPath, sandbox.Delay(time.Nanosecond))
			w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
		}},
		"lost": {arrange: func(w *payWorld) { w.Host.Arm("POST", confirmPath, sandbox.DropBefore().Times(100)) }},
		"another approval": {arrange: func(w *payWorld) {
			w.onBooking(func(payout map[string]any) {
				w.rewritePayload(payout, func(members map[string]any) { members["amount"] = "250" })
			})
		}},
		"no status, and refused": {arrange: func(w *payWorld) {
			w.onBooking(without("status"))
			w.refuse(http.StatusForbidden, "signing_policy_refused")
		}},
		"another amount": {arrange: func(w *payWorld) {
			w.onBooking(func(payout map[string]any) { payout["amount"] = "250" })
		}},
		"too dear": {options: []payOption{maxFee(amount("0.1"))}},
		"declined": {options: []payOption{beforeSigning(func(context.Context, *dapi.Payout) error {
			return errors.New("no")
		})}},
		"the signer fails": {arrange: func(w *payWorld) { w.Key.Fails = errors.New("the key service is down") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				require.NoError(t, read(t.Context(), w.account)) // logged in
				if c.arrange != nil {
					c.arrange(w)
				}
				payment, err := w.pay(c.options...)
				require.Error(t, err)
				as[errors.Failure](t, err)
				require.NotNil(t, payment.Payout, "%T: %v", err, err)
				assert.Regexp(t, "^po_", payment.Payout.ID)
				head, ok := errors.CallInfoOf(err)
				require.True(t, ok, "%T", err)
				assert.Equal(t, string(payment.Payout.ID), head.Resource)
				assert.Equal(t, "invoice-42", head.IdempotencyKey)
				assert.Contains(t, []string{"BookPayout", "ConfirmPayout"}, head.Operation)
				assert.Contains(t, err.Error(), string(payment.Payout.ID))
			})
		})
	}
}

// A payout with equal terms and without a key may be of another payment, so it does not show that this one was made.
func TestPayoutWithEqualTermsIsNotThisPayment(t *testing.T) {
	w := newPayWorld(t)
	_, err := w.payAs("invoice-41")
	require.NoError(t, err)
	w.account = w.integrator().Self()
	w.onSuccess("GET", "/payouts/*", without("idempotencyKey"))
	w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
	payment, err := w.pay()
	assert.Nil(t, payment.Payout)
	w.assertInDoubt(t, payment, err)
}

// A process that only knows the key reads at most ten payouts of the ledger, all of the payment's amount.
func TestPayoutReadsForAKeyAreBounded(t *testing.T) {
	w := newPayWorld(t)
	others := map[string]bool{}
	for i, text := range []string{"5", "6", "5", "5", "5", "6", "5", "5", "5", "5", "5", "5", "5", "5"} {
		w.asked.Amount = amount(text)
		payment, err := w.payAs(moneymovement.DeriveKey("before", strconv.Itoa(i)))
		require.NoError(t, err)
		others["/dapi/v1/payouts/"+string(payment.Payout.ID)] = text != "5"
	}
	w.asked.Amount = amount("5")
	w.account = w.integrator().Self()
	w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusNotFound, "not_found"))
	read := w.Sent("GetPayout")
	payment, err := w.pay()
	w.assertInDoubt(t, payment, err)
	reads := w.Requests("GetPayout")[read:]
	assert.Len(t, reads, 10)
	for _, request := range reads {
		assert.False(t, others[request.Path], "of another amount")
	}
}

// A read that the service refused for its rate window says when to call Pay again, as a refused booking does.
func TestARefusedReadSaysWhenToPayAgain(t *testing.T) {
	w := newPayWorld(t)
	w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
	w.Host.Arm("GET", "/dapi/v1/transactions",
		sandbox.Respond(http.StatusTooManyRequests, "rate_limited").WithHeader("Retry-After", "300"))
	payment, err := w.pay()
	w.assertInDoubt(t, payment, err)
	call, ok := errors.CallInfoOf(err)
	require.True(t, ok)
	assert.WithinDuration(t, time.Now().Add(5*time.Minute), call.RetryAt, 10*time.Second)
	assert.Equal(t, call.RetryAt, payment.RetryAt)
}

// The same for an escrow.
func TestARefusedApprovalOfAnEscrowThatSaysNothing(t *testing.T) {
	for slug, code := range map[string]int{"one_of_tomorrow": 422, "not_found": 404, "gone": 410} {
		for _, readable := range []bool{true, false} {
			t.Run(slug, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newEscrowWorld(t)
					w.Host.Arm("POST", confirmActionPath, sandbox.Respond(code, slug).AfterCommit())
					if !readable {
						w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(9))
					}
					_, err := w.open(journaled())
					if readable {
						require.NoError(t, err, "the escrow shows that its money is held")
						return
					}
					assertEscrowInDoubt(t, err)
				})
			})
		}
	}
}

// A verifier's error can hold one of another payment.
func TestAVerifierWhoseErrorIsOfAnotherPayment(t *testing.T) {
	w := newPayWorld(t)
	self := w.integrator(func(d *dapi.Developer) {
		d.Verifier = func(context.Context, signing.Approval, signing.Intent) error {
			return &errors.AlreadyFunded{Refusal: errors.Refusal{Code: errors.CodeAlreadyFunded, Status: 409}}
		}
	}).Self()
	payment, err := self.Payouts.Pay(t.Context(), w.asked, "invoice-42", payTerms(journaled()))
	require.Error(t, err)
	assert.NotEqual(t, moneymovement.PaymentPaid, payment.State, "%T %v", err, err)
	assert.Zero(t, w.Fundings())
}

// An error of the caller's function can hold one of another payment.
func TestAHookWhoseErrorIsOfAnotherPayment(t *testing.T) {
	w := newPayWorld(t)
	_, err := w.pay(journaled())
	require.NoError(t, err)
	w.Host.ForgetKeys()
	w.account = w.integrator().Self()
	payment, err := w.pay(beforeSigning(func(context.Context, *dapi.Payout) error { return &dapi.KeyTooOld{} }))
	w.assertInDoubt(t, payment, err)

	d := newEscrowWorld(t)
	_, err = d.open(journaled())
	require.NoError(t, err)
	d.Host.ForgetKeys()
	d.account = d.integrator().Self()
	for _, other := range []error{&dapi.KeyTooOld{}, &dapi.EscrowNotOpened{}} {
		_, err = d.open(beforeSigning(func(context.Context, *dapi.Payout) error { return other }))
		assertEscrowInDoubt(t, err)
	}
}

// What a confirm by hand has shown is known to Pay and Open.
func TestAConfirmByHandIsRemembered(t *testing.T) {
	for name, arrange := range map[string]func(w *payWorld){
		"it succeeded": func(*payWorld) {},
		"it failed, and paid": func(w *payWorld) {
			w.Host.Arm("POST", confirmPath,
				sandbox.Respond(http.StatusInternalServerError, "internal_error").AfterCommit())
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			booked, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.IdempotencyKey("invoice-42"))
			require.NoError(t, err)
			arrange(w)
			_, _ = w.account.Payouts.Confirm(t.Context(), w.asked, booked)
			require.Equal(t, 1, w.Fundings())
			w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable").Times(9))
			w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(9))
			payment, err := w.pay(journaled())
			w.assertInDoubt(t, payment, err)
		})
	}
	t.Run("of an escrow", func(t *testing.T) {
		w := newEscrowWorld(t)
		created, err := w.account.Escrows.Create(t.Context(), w.escrow, moneymovement.IdempotencyKey("escrow-1"))
		require.NoError(t, err)
		w.Host.Arm("POST", confirmActionPath,
			sandbox.Respond(http.StatusInternalServerError, "internal_error").AfterCommit())
		_, err = w.account.Escrows.Confirm(t.Context(), w.escrow, created.ID, dapi.EscrowActionTypeApprove,
			created.Action)
		require.Error(t, err)
		w.Host.Arm("POST", escrowPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(9))
		_, err = w.open(journaled())
		assertEscrowInDoubt(t, err)
	})
}

// What the caller's function does to a booking changes nothing of the payment.
func TestAHookThatChangesTheBooking(t *testing.T) {
	w := newPayWorld(t)
	blank := beforeSigning(func(_ context.Context, booked *dapi.Payout) error {
		booked.IdempotencyKey, booked.ID, booked.Approval.ID, booked.Approval.Payload[0] = "", "po_x", "", 'x'
		return nil
	})
	w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusInternalServerError, "internal_error").AfterCommit())
	w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden"))
	payment, err := w.pay(blank)
	w.assertInDoubt(t, payment, err)
	w.Host.DisarmAll()
	w.Host.ForgetKeys()
	_, err = w.pay(blank)
	require.NoError(t, err)
	assert.Equal(t, 1, w.Fundings())
}

// The same for an escrow.
func TestAHookThatChangesTheEscrow(t *testing.T) {
	w := newEscrowWorld(t)
	terms := dapi.EscrowTerms{BeforeSigning: func(_ context.Context, created *dapi.Escrow) error {
		created.Action.IdempotencyKey, created.Action.Approval.ID, created.Action.Approval.Payload[0] = "", "", 'x'
		created.Action.Approval.ExpiresAt, created.Action.Type = time.Time{}, "release"
		created.Action.Approval = nil
		return nil
	}}
	_, err := w.account.Escrows.Open(t.Context(), w.escrow, "escrow-1", terms)
	require.NoError(t, err)
	assert.Equal(t, 1, w.holdings())
}

// An escrow of another key is not the one that was asked for.
func TestOpenWithAnEscrowOfAnotherKey(t *testing.T) {
	w := newEscrowWorld(t)
	first, err := w.open(journaled())
	require.NoError(t, err)
	_, err = w.account.Escrows.Open(t.Context(), w.escrow, "escrow-2", escrowTerms(knownEscrow(first.Escrow.ID)))
	as[*errors.InDoubt](t, err)
	assert.Equal(t, 1, w.holdings())
}

// A confirm paid, and what came in place of its response says nothing about that, whatever it is: a refusal, one behind
// a lost response, or a proxy's page. The payment stays in doubt if the payout cannot be read, and also if the payout
// has moved on since, in words that this version does not know.
func TestConfirmThatPaidStaysInDoubtUntilRead(t *testing.T) {
	refused := func(status int, slug string) []sandbox.Fault {
		return []sandbox.Fault{sandbox.Respond(status, slug).AfterCommit()}
	}
	behind := func(status int, slug string) []sandbox.Fault {
		return []sandbox.Fault{sandbox.DropAfterCommit(), sandbox.Respond(status, slug)}
	}
	page := func(status int) []sandbox.Fault {
		return []sandbox.Fault{sandbox.Respond(status, "").WithBody("<html>No.</html>").
			WithHeader("Content-Type", "text/html").AfterCommit()}
	}
	for name, said := range map[string][]sandbox.Fault{
		"one_of_tomorrow": refused(422, "one_of_tomorrow"), "not_found": refused(404, "not_found"),
		"gone": refused(410, "gone"), "payout_not_fundable": refused(409, "payout_not_fundable"),
		"signing_policy_refused":         refused(403, "signing_policy_refused"),
		"lost, then payout_not_fundable": behind(409, "payout_not_fundable"),
		"lost, then validation_failed":   behind(422, "validation_failed"),
		"lost, then not_found":           behind(404, "not_found"),
		"lost, then invalid_request":     behind(400, "invalid_request"),
		"lost, then forbidden":           behind(403, "forbidden"),
		"a page with 403":                page(403),
		"a page with 404":                page(404),
		"a page with 405":                page(405),
	} {
		for read, hide := range map[string]func(w *payWorld){
			"it cannot be read": func(w *payWorld) {
				w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden"))
			},
			"it has another word": func(w *payWorld) { w.onSuccess("GET", "/payouts/*", settling) },
			"it has no word": func(w *payWorld) {
				w.onSuccess("GET", "/payouts/*", both(settling, without("status")))
			},
		} {
			if read == "it cannot be read" && (name == "payout_not_fundable" || name == "signing_policy_refused") {
				continue // which are known, and say that nothing was paid
			}
			t.Run(name+", "+read, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newPayWorld(t)
					for _, fault := range said {
						w.Host.Arm("POST", confirmPath, fault)
					}
					hide(w)
					payment, err := w.pay(journaled())
					require.Equal(t, 1, w.Fundings())
					w.assertInDoubt(t, payment, err)
					w.Wire.OnResponse(nil)
					payment, err = w.pay()
					require.NoError(t, err)
					assert.Equal(t, moneymovement.PaymentPaid, payment.State)
					assert.Equal(t, 1, w.Fundings())
				})
			})
		}
	}
}
