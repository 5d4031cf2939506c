package dapi_test

import (
	"context"
	"maps"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

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
		for _, process := range []string{"the same client", "another process"} {
			t.Run(name+"/"+process, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newPayWorld(t)
					w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit().Times(4))
					w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(2))
					payout, err := w.pay(dapi.FirstUse())
					require.Equal(t, dapi.PaymentUnknown, dapi.PaymentStateOf(payout, err))
					require.Equal(t, 1, w.Fundings())
					if process == "another process" {
						w.account = w.integrator().Self()
					}
					ctx, cancel := setback(w)
					defer cancel()

					payout, err = w.account.Payouts.Pay(ctx, w.asked, "invoice-42")
					w.ended(err)
					w.assertOpen(t, name, payout, err)
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

// A process was killed after the money had left. Its successor has nothing but the key.
func TestFirstCallOfAProcessAfterAKill(t *testing.T) {
	for name, setback := range paySetbacks() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				_, err := w.pay()
				require.NoError(t, err)
				w.account = w.integrator().Self()
				ctx, cancel := setback(w)
				defer cancel()
				payout, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42")
				w.ended(err)
				w.assertOpen(t, name, payout, err)
				time.Sleep(10 * time.Minute) // for a login that its caller left alone
			})
		})
	}
}

// assertOpen asserts that a setback settles no payment that may have been made. Input that never passes needs a
// decision. Everything else is a doubt.
func (w *payWorld) assertOpen(t *testing.T, setback string, payout *dapi.Payout, err error) {
	t.Helper()
	if setback != "422" {
		w.assertInDoubt(t, payout, err)
		return
	}
	as[*errors.ValidationFailed](t, err)
	assert.Equal(t, dapi.PaymentNeedsDecision, dapi.PaymentStateOf(payout, err))
	assert.True(t, dapi.MayHavePaid(payout, err))
}

func (w *payWorld) assertInDoubt(t *testing.T, payout *dapi.Payout, err error) {
	t.Helper()
	require.Error(t, err)
	state := dapi.PaymentStateOf(payout, err)
	assert.Equal(t, dapi.PaymentUnknown, state, "%T: %v", err, err)
	assert.True(t, dapi.MayHavePaid(payout, err))
	assertUnknown(t, err, "invoice-42", "call Pay again with the same key and terms")
}

// assertUnknown says that something may have been done with a key, whatever was refused last.
func assertUnknown(t *testing.T, err error, key, advice string) {
	t.Helper()
	unknown := as[*errors.OutcomeUnknown](t, err)
	assert.Equal(t, errors.MaybeMoved, unknown.MovedByCall())
	assert.Equal(t, key, unknown.IdempotencyKey)
	assert.Contains(t, err.Error(), advice)
	for _, never := range []any{
		new(*errors.Refusal), new(*errors.RateLimited), new(*errors.Forbidden), new(*errors.ContactNotPayable),
		new(*errors.ValidationFailed),
		new(*errors.NotDelivered), new(*errors.DatabaseUnavailable), new(*errors.InvalidInput), new(*errors.Conflict),
		new(*signing.ApprovalRefused), new(*dapi.PriceRefused), new(*dapi.TermsDiffer), new(*dapi.EscrowNotOpened),
	} {
		assert.False(t, errors.As(err, never), "%T: %v", never, err)
	}
	assert.Error(t, unknown.Cause, "which is there for a person who looks")
}

// Pay settles a doubt by what it can read before it gives up.
func TestDoubtIsSettledByReading(t *testing.T) {
	t.Run("it is paid", func(t *testing.T) {
		w := newPayWorld(t)
		first, err := w.pay()
		require.NoError(t, err)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		payout, err := w.pay()
		require.NoError(t, err, "this client knows the payout of the key, and reads it")
		assert.Equal(t, first.ID, payout.ID)
		assert.Equal(t, dapi.PaymentPaid, dapi.PaymentStateOf(payout, err))
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
		require.NotEqual(t, other.ID, first.ID)
		w.account = w.integrator().Self()
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		payout, err := w.pay()
		require.NoError(t, err)
		assert.Equal(t, first.ID, payout.ID)
	})
	t.Run("the ledger is long, and is not read to its end", func(t *testing.T) {
		w := newPayWorld(t)
		w.Wire.OnAnswer(func(r *http.Request, answer *http.Response) {
			if r.URL.Path == "/dapi/v1/transactions" {
				cursor := r.URL.Query().Get("cursor") + "x"
				entry := `{"id":"tx_1","type":"payout","direction":"out","amount":"25","currency":"USDC",` +
					`"status":"completed","payoutId":"po_` + cursor + `","createdAt":"2026-01-01T00:00:00Z"}`
				answer.StatusCode = http.StatusOK // whatever the host says of such a cursor
				inprocess.SetBody(answer, []byte(`{"items":[`+entry+`,`+entry+`],"nextCursor":"`+cursor+`"}`))
			}
		})
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		payout, err := w.pay()
		w.assertInDoubt(t, payout, err)
		assert.Equal(t, 3, w.Sent("ListTransactions"))
		assert.Equal(t, 3, w.Sent("GetPayout"))
	})
	t.Run("it has ended", func(t *testing.T) {
		w := newPayWorld(t)
		first, err := w.pay()
		require.NoError(t, err)
		_, err = w.account.Sandbox.SetPayoutStatus(t.Context(), first.ID, dapi.PayoutStatusRefunded)
		require.NoError(t, err)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		payout, err := w.pay()
		as[*dapi.PayoutNotCompleted](t, err)
		assert.Equal(t, dapi.PaymentEnded, dapi.PaymentStateOf(payout, err))
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
			payout, err := w.pay(dapi.FirstUse(), dapi.BeforeSigning(func(ctx context.Context, _ *dapi.Payout) error {
				_, err := other.Payouts.Pay(ctx, w.asked, "invoice-42")
				w.ended(err)
				require.NoError(t, err)
				return refuse(w)
			}))
			assert.Equal(t, dapi.PaymentPaid, dapi.PaymentStateOf(payout, err), "%v", err)
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
		slow, payout, err := atOnce(func() (*dapi.Payout, error) { return w.pay(dapi.FirstUse()) })
		w.assertInDoubt(t, payout, err)
		require.NoError(t, slow)
		assert.Equal(t, 1, w.Fundings())
	})
}

// Every error after the booking names the payout, and what was booked comes back with it.
func TestErrorsAfterTheBookingNameThePayout(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(w *payWorld)
		options []dapi.PayOption
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
		"too dear": {options: []dapi.PayOption{dapi.MaxFee(amount("0.1"))}},
		"declined": {options: []dapi.PayOption{dapi.BeforeSigning(func(context.Context, *dapi.Payout) error {
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
				payout, err := w.pay(c.options...)
				require.Error(t, err)
				as[errors.Failure](t, err)
				require.NotNil(t, payout, "%T: %v", err, err)
				assert.Regexp(t, "^po_", payout.ID)
				head, ok := errors.CallInfoOf(err)
				require.True(t, ok, "%T", err)
				assert.Equal(t, string(payout.ID), head.Resource)
				assert.Equal(t, "invoice-42", head.IdempotencyKey)
				assert.Contains(t, []string{"BookPayout", "ConfirmPayout"}, head.Operation)
				assert.Contains(t, err.Error(), string(payout.ID))
			})
		})
	}
}
