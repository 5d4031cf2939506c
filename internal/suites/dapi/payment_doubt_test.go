package dapi_test

import (
	"context"
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
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// The context can end while Pay reads what became of a payment, which its error shows.
func TestContextThatEndsWhileADoubtIsSettled(t *testing.T) {
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
				assert.Same(t, as[*errors.OutcomeUnknown](t, err), err, "nothing around it")
			})
		})
	}
}

// The answer of a confirm that paid is lost, and what the repetition meets says nothing about that, whatever it is.
func TestRefusalAfterALostConfirm(t *testing.T) {
	for slug, status := range map[string]int{
		"payout_not_fundable": 409, "validation_failed": 422, "not_found": 404, "invalid_request": 400,
		"forbidden": 403,
	} {
		t.Run(slug, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit())
				w.refuse(status, slug)
				w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden"))
				payment, err := w.pay(journaled())
				require.Equal(t, 1, w.Fundings())
				w.assertInDoubt(t, payment, err)
			})
		})
	}
}

// A payout whose approval closed reads as expired. Its key can still pay: the payment has not come to its end.
func TestExpiredApprovalIsNoEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", confirmPath, sandbox.DropBefore().Times(4))
		_, err := w.pay()
		as[*errors.OutcomeUnknown](t, err)
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
func TestDoubtOfAConfirmByHand(t *testing.T) {
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
func TestDoubtOfACallThatTheHookMade(t *testing.T) {
	w := newPayWorld(t)
	hooked := &errors.OutcomeUnknown{CallInfo: errors.CallInfo{Operation: "CreateContact", IdempotencyKey: "contact-1"},
		Cause: errors.New("lost")}
	declines := beforeSigning(func(context.Context, *dapi.Payout) error { return hooked })
	payment, err := w.pay(journaled(), declines)
	as[*dapi.PaymentDeclined](t, err)
	assert.NotEqual(t, moneymovement.PaymentPaid, payment.State)

	w.account = w.integrator().Self()
	payment, err = w.pay(declines)
	w.assertInDoubt(t, payment, err)
	as[*dapi.PaymentDeclined](t, as[*errors.OutcomeUnknown](t, err).Cause)
	assert.Equal(t, "contact-1", hooked.IdempotencyKey, "the hook's error is its own")
}

// A proxy's page in place of the response to a confirm does not show what the service did, whatever its status. The
// payment stays in doubt, also if the payout cannot be read.
func TestAPageInPlaceOfAConfirmsResponseLeavesADoubt(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				page := sandbox.Respond(status, "").WithBody("<html>No.</html>").WithHeader("Content-Type", "text/html")
				w.Host.Arm("POST", confirmPath, page.AfterCommit())
				w.Host.Arm("GET", "/payouts/*", page)
				payment, err := w.pay(journaled())
				w.assertInDoubt(t, payment, err)
				assert.False(t, payment.Unpaid)
				assert.Equal(t, 1, w.Fundings())
				payment, err = w.pay()
				require.NoError(t, err)
				assert.Equal(t, moneymovement.PaymentPaid, payment.State)
				assert.Equal(t, 1, w.Fundings())
			})
		})
	}
}
