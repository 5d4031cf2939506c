package dapi_test

import (
	"context"
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
)

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
			needs:   func(t *testing.T, err error) { t.Helper(); as[*dapi.KeyTooOld](t, err) },
		},
		"a key with other terms": {
			arrange: func(w *payWorld) {
				w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "idempotency_key_reused"))
			},
			needs: func(t *testing.T, err error) { t.Helper(); as[*errors.IdempotencyKeyReused](t, err) },
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

// A program that stores the result before and after each call, as the documentation says, is never wrong: whatever it
// meets, it pays once, and a refusal at the end keeps its type if nothing was paid.
func TestUnpaidIsStoredOverCalls(t *testing.T) {
	faults := map[string]func(w *payWorld) []payOption{
		"lost response": func(w *payWorld) []payOption {
			w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit().Times(4))
			w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(2))
			return nil
		},
		"refused booking": func(w *payWorld) []payOption {
			w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
			return nil
		},
		"refused confirm": func(w *payWorld) []payOption {
			w.refuse(http.StatusForbidden, "signing_policy_refused")
			return nil
		},
		"wrong input": func(*payWorld) []payOption { return []payOption{maxFee(amount("-1"))} },
		"price":       func(*payWorld) []payOption { return []payOption{maxFee(amount("0.1"))} },
	}
	for first, one := range faults {
		for second, two := range faults {
			for _, process := range []string{"the same client", "another process"} {
				t.Run(first+", "+second+", "+process, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := newPayWorld(t)
						unpaid := true
						call := func(options ...payOption) dapi.Payment {
							if process == "another process" {
								w.account = w.integrator().Self()
							}
							if unpaid {
								options = append(options, journaled())
							}
							payment, err := w.pay(options...)
							unpaid = payment.Unpaid
							assert.True(t, !unpaid || w.Fundings() == 0, "%v", err)
							return payment
						}
						for _, fault := range []func(*payWorld) []payOption{one, two} {
							call(fault(w)...)
						}
						w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
						w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden"))
						state := call().State
						switch {
						case w.Fundings() == 1:
							assert.Equal(t, moneymovement.PaymentInDoubt, state)
						case process == "the same client": // another one cannot know who booked the payout
							assert.Equal(t, moneymovement.PaymentNotPaid, state)
						}
						time.Sleep(10 * time.Minute) // for what is still under way
					})
				})
			}
		}
	}
}
