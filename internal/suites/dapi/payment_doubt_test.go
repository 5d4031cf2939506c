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
				payout, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42")
				w.ended(err)
				w.assertInDoubt(t, payout, err)
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
				payout, err := w.pay(dapi.FirstUse())
				require.Equal(t, 1, w.Fundings())
				w.assertInDoubt(t, payout, err)
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
		payout, err := w.pay()
		w.assertInDoubt(t, payout, err)
		_, err = w.pay()
		require.NoError(t, err)
		assert.Equal(t, 1, w.Fundings())
	})
}

// Who confirms by hand, and does not learn what came of it, leaves the payment in doubt for Pay as well.
func TestDoubtOfAConfirmByHand(t *testing.T) {
	for name, tc := range map[string]struct {
		fault *sandbox.Fault
		state dapi.PaymentState
	}{
		"lost":    {new(sandbox.DropBefore()), dapi.PaymentUnknown},
		"refused": {new(sandbox.Respond(http.StatusForbidden, "signing_policy_refused")), dapi.PaymentNotPaid},
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
				payout, err := w.pay(dapi.FirstUse())
				assert.Equal(t, tc.state, dapi.PaymentStateOf(payout, err), "%v", err)
			})
		})
	}
}

// A function of the caller's that panics ends its call. The payment may have been made, for all that is known.
func TestCallbackThatPanics(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(w *payWorld)
		options []dapi.PayOption
	}{
		"the hook": {options: []dapi.PayOption{dapi.BeforeSigning(func(context.Context, *dapi.Payout) error {
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
				assert.Panics(t, func() { _, _ = w.pay(append(c.options, dapi.FirstUse())...) })
				w.Key.BeforeApproval(nil)
				w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(2))
				payout, err := w.pay(dapi.FirstUse())
				w.assertInDoubt(t, payout, err)

				time.Sleep(8 * 24 * time.Hour)
				payout, err = w.pay(dapi.FirstUse())
				w.assertInDoubt(t, payout, err) // the service may have forgotten the key, this client has not
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
		together := dapi.BeforeSigning(func(context.Context, *dapi.Payout) error {
			booked.Done()
			booked.Wait()
			return nil
		})
		for _, key := range []moneymovement.Key{"invoice-42", "invoice-43"} {
			payments.Go(func() {
				payout, err := w.payAs(key, dapi.FirstUse(), together)
				ended.Done()
				ended.Wait()
				assert.Equal(t, dapi.PaymentNotPaid, dapi.PaymentStateOf(payout, err))
				head, _ := errors.CallInfoOf(err)
				assert.Equal(t, string(payout.ID), head.Resource)
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
	declines := dapi.BeforeSigning(func(context.Context, *dapi.Payout) error { return hooked })
	payout, err := w.pay(dapi.FirstUse(), declines)
	as[*dapi.PaymentDeclined](t, err)
	assert.NotEqual(t, dapi.PaymentPaid, dapi.PaymentStateOf(payout, err))

	w.account = w.integrator().Self()
	payout, err = w.pay(dapi.FirstUse(), declines)
	w.assertInDoubt(t, payout, err)
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
				payout, err := w.pay(dapi.FirstUse())
				w.assertInDoubt(t, payout, err)
				assert.True(t, dapi.MayHavePaid(payout, err))
				assert.Equal(t, 1, w.Fundings())
				payout, err = w.pay()
				require.NoError(t, err)
				assert.Equal(t, dapi.PaymentPaid, dapi.PaymentStateOf(payout, err))
				assert.Equal(t, 1, w.Fundings())
			})
		})
	}
}
