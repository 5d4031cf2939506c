package dapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
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
	"github.com/moneymovement/moneymovement-go/signing"
)

// Only a response that says that this payout is funded is a success. The payout itself tells.
func TestInconclusiveConfirmResponse(t *testing.T) {
	for name, change := range map[string]func(payout map[string]any){
		"nothing in it": func(payout map[string]any) { clear(payout) },
		"no status": func(payout map[string]any) {
			delete(payout, "status")
			delete(payout, "transactionHash")
		},
		"not funded": func(payout map[string]any) {
			payout["status"] = "awaiting_approval"
			delete(payout, "transactionHash")
		},
		"a new status": func(payout map[string]any) {
			payout["status"] = "rejected"
			delete(payout, "transactionHash")
		},
		"about another payout": func(payout map[string]any) { payout["id"] = "po_another" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			w.onSuccess("POST", confirmPath, change)
			payment, err := w.pay()
			require.NoError(t, err)
			assert.NotEmpty(t, payment.Payout.TransactionHash, "it was read")
			assert.Equal(t, traffic{1, 1, 1}, w.traffic())
			assert.Equal(t, 1, w.Fundings())
		})
		t.Run(name+", and nothing moved", func(t *testing.T) {
			w := newPayWorld(t)
			w.onSuccess("POST", confirmPath, change)
			w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusOK, "").
				WithBody(`{"id":"po_none","status":"awaiting_approval"}`))
			_, err := w.payAs("invoice-42")
			inDoubt := as[*errors.InDoubt](t, err)
			assert.Equal(t, "ConfirmPayout", inDoubt.Operation)
			assert.Equal(t, "invoice-42", inDoubt.IdempotencyKey)
			assert.True(t, inDoubt.Retryable(), "as Resolve says")
			assert.Zero(t, w.Fundings())
		})
	}
}

// A transaction on chain shows that the money left, whatever the status is called.
func TestConfirmResponseWithAnotherStatus(t *testing.T) {
	for _, status := range []string{"", "submitted", "awaiting_approval"} {
		w := newPayWorld(t)
		w.onSuccess("POST", confirmPath, func(payout map[string]any) { payout["status"] = status })
		payment, err := w.pay()
		require.NoError(t, err)
		assert.Equal(t, moneymovement.PaymentPaid, payment.State)
		assert.Equal(t, traffic{1, 1, 0}, w.traffic())
	}
}

func TestInconclusiveConfirmResponseNamesItsKey(t *testing.T) {
	w := newPayWorld(t)
	booked, err := w.account.Payouts.Book(t.Context(), w.asked)
	require.NoError(t, err)
	w.onSuccess("POST", confirmPath, func(payout map[string]any) { payout["id"] = "po_another" })
	_, err = w.account.Payouts.Confirm(t.Context(), w.asked, booked)
	assert.Equal(t, booked.IdempotencyKey, as[*errors.InDoubt](t, err).IdempotencyKey)
}

// A payout that another key anchors is another payment: approving it would pay that one twice and this one never.
//
// Rule: idempotency.echo
func TestBookingOfAnotherPaymentIsRefused(t *testing.T) {
	for name, change := range map[string]func(payout map[string]any){
		"of another key": func(payout map[string]any) { payout["idempotencyKey"] = "invoice-41" },
		"of another key, and funded": func(payout map[string]any) {
			payout["idempotencyKey"], payout["status"] = "invoice-41", "completed"
		},
		"of another kind":              func(payout map[string]any) { payout["id"] = "ct_1" },
		"whose id has no prefix":       func(payout map[string]any) { payout["id"] = "1" },
		"whose id has a line end":      func(payout map[string]any) { payout["id"] = "po_1\nx" },
		"whose id runs backwards":      func(payout map[string]any) { payout["id"] = "po_1\u202e" },
		"whose id is another path":     func(payout map[string]any) { payout["id"] = "po_1/../po_2" },
		"whose id is endless":          func(payout map[string]any) { payout["id"] = strings.Repeat("p", 1000) },
		"that has no id":               func(payout map[string]any) { delete(payout, "id") },
		"that has no id and is funded": func(payout map[string]any) { clear(payout); payout["status"] = "completed" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			w.onBooking(change)
			_, err := w.payAs("invoice-42")
			inDoubt := as[*errors.InDoubt](t, err)
			assert.Equal(t, "invoice-42", inDoubt.IdempotencyKey)
			require.Error(t, inDoubt.Cause, "which says what is wrong with the response")
			w.assertNothingSigned(t)
		})
	}
}

// A refusal that names the paid payout of another key pays nothing.
func TestAlreadyFundedThatNamesAnotherPayout(t *testing.T) {
	for _, at := range []string{bookPath, confirmPath} {
		w := newPayWorld(t)
		other, err := w.payAs("invoice-41")
		require.NoError(t, err)
		w.Host.Arm("POST", at, sandbox.Respond(http.StatusConflict, "already_funded").
			WithDetails(map[string]any{"payoutId": string(other.Payout.ID),
				"transactionHash": other.Payout.TransactionHash}))
		payment, err := w.payAs("invoice-42", journaled())
		inDoubt := as[*errors.InDoubt](t, err)
		assert.Equal(t, string(other.Payout.ID), as[*errors.AlreadyFunded](t, inDoubt.Cause).PayoutID)
		assert.Equal(t, moneymovement.PaymentInDoubt, payment.State, at)
		if at == confirmPath {
			assert.NotEqual(t, other.Payout.ID, payment.Payout.ID, "another payment is not this one")
		}
	}
}

// Where the funded payout cannot be read, the refusal is the proof, and what was booked or seen before comes back with
// it.
func TestAlreadyFundedThatCannotBeRead(t *testing.T) {
	unreadable := func(w *payWorld) {
		w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden"))
	}
	t.Run("of a booking", func(t *testing.T) {
		for _, named := range []bool{true, false} {
			w := newPayWorld(t)
			booked, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.IdempotencyKey("invoice-42"))
			require.NoError(t, err)
			details := map[string]any{}
			if named {
				details["payoutId"] = string(booked.ID)
			}
			w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusConflict, "already_funded").WithDetails(details))
			unreadable(w)
			payment, err := w.pay()
			require.NoError(t, err)
			assert.Equal(t, moneymovement.PaymentPaid, payment.State)
			assert.Equal(t, booked.ID, payment.Payout.ID)
			assert.Equal(t, booked.Amount, payment.Payout.Amount, "as it was booked")
		}
	})
	t.Run("before a booking, of a payout that this client has seen", func(t *testing.T) {
		w := newPayWorld(t)
		first, err := w.pay()
		require.NoError(t, err)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "already_funded").
			WithDetails(map[string]any{}))
		again, err := w.pay()
		require.NoError(t, err, "the refusal names no payout, and this client knows which it is")
		assert.Equal(t, first.Payout.ID, again.Payout.ID)
		assert.Equal(t, first.Payout.Amount, again.Payout.Amount)
	})
	t.Run("before a booking, of a payout that only the refusal names", func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "already_funded").
			WithDetails(map[string]any{"payoutId": "po_1"}))
		unreadable(w)
		payment, err := w.pay()
		require.NoError(t, err)
		assert.Equal(t, &dapi.Payout{ID: "po_1"}, payment.Payout, "of which no more is known than its id")
		assert.Equal(t, moneymovement.PaymentPaid, payment.State)
	})
	t.Run("before a booking, of a payout that this client has seen and cannot read again", func(t *testing.T) {
		w := newPayWorld(t)
		first, err := w.pay()
		require.NoError(t, err)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "already_funded").
			WithDetails(map[string]any{}))
		unreadable(w)
		payment, err := w.pay()
		require.NoError(t, err)
		assert.Equal(t, &dapi.Payout{ID: first.Payout.ID}, payment.Payout)
		assert.Equal(t, moneymovement.PaymentPaid, payment.State)
	})
	t.Run("before a booking, of a payout that nobody knows", func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "already_funded").
			WithDetails(map[string]any{}))
		payment, err := w.pay()
		require.NoError(t, err)
		assert.Equal(t, &dapi.Payout{}, payment.Payout, "it is never nil if the state is paid")
		assert.Equal(t, moneymovement.PaymentPaid, payment.State)
		assert.Zero(t, w.Sent("GetPayout"))
	})
}

// A payout of other terms is not this payment, whatever the service says of it.
func TestAlreadyFundedWithOtherTerms(t *testing.T) {
	w := newPayWorld(t)
	w.asked.Amount = amount("24")
	other, err := w.payAs("invoice-41")
	require.NoError(t, err)
	w.asked.Amount = amount("25")
	w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "already_funded").
		WithDetails(map[string]any{"payoutId": string(other.Payout.ID),
			"transactionHash": other.Payout.TransactionHash}))
	w.onSuccess("GET", "/payouts/*", func(payout map[string]any) { payout["idempotencyKey"] = "invoice-42" })
	payment, err := w.payAs("invoice-42", journaled())
	assert.Equal(t, moneymovement.PaymentInDoubt, payment.State)
	assert.Equal(t, "amount", as[*dapi.TermsDiffer](t, as[*errors.InDoubt](t, err).Cause).Member)
}

// A reading that is about another payout tells nothing about this one.
func TestReadOfAnotherPayoutIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", confirmPath, sandbox.DropBefore().Times(4))
		w.onSuccess("GET", "/payouts/*", func(payout map[string]any) {
			payout["id"], payout["status"] = "po_another", "completed"
		})
		_, err := w.pay()
		as[*errors.InDoubt](t, err)
		assert.Zero(t, w.Fundings())
	})
}

// A funding attempt that another call began and that came to nothing ends with the approval's window.
//
// Rule: lifetime.payout-approval
func TestFundingInProgressThatEndsUnpaid(t *testing.T) {
	for name, status := range map[string]string{"expired": "expired", "still awaiting approval": "awaiting_approval"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				w.refuse(http.StatusConflict, "funding_in_progress")
				w.onSuccess("GET", "/payouts/*", func(payout map[string]any) {
					if payout["status"] == "expired" {
						payout["status"] = status
					}
				})
				started := time.Now()
				payment, err := w.pay()
				require.NoError(t, err)
				assert.NotEmpty(t, payment.Payout.TransactionHash)
				assert.Less(t, time.Since(started), 3*time.Minute)
				assert.Equal(t, 1, w.Fundings())
			})
		})
	}
	t.Run("when half of the approval's window has passed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newPayWorld(t)
			w.Configure(func(s *sandbox.Settings) { s.QuoteLifetime = sandbox.DefaultSettings().QuoteLifetime })
			w.refuse(http.StatusConflict, "funding_in_progress")
			w.onSuccess("GET", "/payouts/*", func(payout map[string]any) { payout["status"] = "awaiting_approval" })
			started := time.Now()
			slept := false
			_, err := w.pay(beforeSigning(func(context.Context, *dapi.Payout) error {
				if !slept {
					slept = true
					time.Sleep(80 * time.Second)
				}
				return nil
			}))
			require.NoError(t, err)
			assert.InDelta(t, 130, time.Since(started).Seconds(), 20, "it is the approval's end that counts")
		})
	})
	t.Run("for a booking that this call has not seen", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newPayWorld(t)
			w.Host.Arm("POST", confirmPath, sandbox.DropBefore().Times(4))
			payment, err := w.pay()
			w.assertInDoubt(t, payment, err)
			w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "funding_in_progress"))
			started := time.Now()
			_, err = w.pay()
			require.NoError(t, err)
			assert.InDelta(t, 130, time.Since(started).Seconds(), 20, "the stated window is waited for")
			assert.Equal(t, 1, w.Fundings())
		})
	})
	t.Run("a reading from before the funding is none that came to nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newPayWorld(t)
			w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(30 * time.Second) })
			w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit()) // and its repetition finds it in progress
			reads := 0
			w.onSuccess("GET", "/payouts/*", func(payout map[string]any) {
				if reads++; reads <= 2 { // behind the doubt, and then while it waits
					payout["status"] = "awaiting_approval"
					delete(payout, "transactionHash")
				}
			})
			payment, err := w.pay()
			require.NoError(t, err)
			assert.NotEmpty(t, payment.Payout.TransactionHash)
			assert.Equal(t, 1, w.Sent("BookPayout"), "it is not booked again while its approval is open")
			assert.Equal(t, 2, w.Sent("ConfirmPayout"))
			assert.Greater(t, w.Sent("GetPayout"), 2)
		})
	})
	t.Run("each time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newPayWorld(t)
			w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusConflict, "funding_in_progress").Times(4))
			payment, _ := w.pay()
			assert.Equal(t, moneymovement.PaymentInDoubt, payment.State)
			assert.Equal(t, 4, w.Sent("ConfirmPayout"), "it is not tried for ever")
			assert.Zero(t, w.Fundings())
			_, err := w.pay()
			require.NoError(t, err, "the key still pays")
			assert.Equal(t, 1, w.Fundings())
		})
	})
}

// classes keeps which class each read of a payout was counted in.
type classes struct {
	mu   sync.Mutex
	seen []moneymovement.RateClass
}

func (c *classes) Wait(_ context.Context, call moneymovement.RateCall) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call.Window == moneymovement.WindowReads {
		c.seen = append(c.seen, call.Class)
	}
	return nil
}

// Only the reads of a wait give way to others: the one behind a refusal is a read that somebody waits for.
func TestReadAfterARefusalIsNotAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		limiter := &classes{}
		w.account = w.Integrator(w.Developer(), moneymovement.WithRateLimiter(limiter)).Self()
		w.refuse(http.StatusConflict, "funding_in_progress") // and the payout expires while it is waited for
		w.refuse(http.StatusForbidden, "signing_policy_refused")
		_, err := w.pay()
		require.Error(t, err)
		require.GreaterOrEqual(t, len(limiter.seen), 3)
		last := len(limiter.seen) - 1
		assert.Equal(t, moneymovement.ClassPoll, limiter.seen[last-1])
		assert.Equal(t, moneymovement.ClassRead, limiter.seen[last])
	})
}

// What came of a confirm is in doubt until the payout was read. A later refusal does not say that no money moved.
func TestDoubtOutlivesLaterRefusals(t *testing.T) {
	unreadable := func(w *payWorld) {
		w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
	}
	for name, arrange := range map[string]func(w *payWorld){
		"booking again is refused": func(w *payWorld) {
			w.Host.Arm("POST", bookPath, sandbox.Delay(time.Nanosecond)) // the first booking passes
			w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
		},
		"the second confirm has to wait": func(w *payWorld) {
			w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
				WithHeader("Retry-After", "3600"))
		},
		"the second approval is not what was asked for": func(w *payWorld) {
			books := 0
			w.onBooking(func(payout map[string]any) {
				if books++; books > 1 {
					w.rewritePayload(payout, func(members map[string]any) { members["amount"] = "250" })
				}
			})
		},
		"the fresh quote is worse": func(w *payWorld) {
			books := 0
			w.onBooking(func(payout map[string]any) {
				if books++; books > 1 {
					payout["quote"].(map[string]any)["destinationAmount"] = "1"
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusConflict, "approval_consumed").AfterCommit())
			unreadable(w)
			arrange(w)
			_, err := w.pay()
			require.Error(t, err)
			assert.Equal(t, 1, w.Fundings())
			failure := as[errors.Failure](t, err)
			assert.Equal(t, errors.MaybeMoved, failure.MovedByCall(), "%v", err)
		})
	}
	t.Run("until the payout can be read", func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusConflict, "approval_consumed").AfterCommit())
		w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden"))
		w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
			WithHeader("Retry-After", "3600"))
		payment, err := w.pay()
		require.NoError(t, err)
		assert.NotEmpty(t, payment.Payout.TransactionHash)
		assert.Equal(t, 1, w.Fundings())
	})
}

// A confirm that has succeeded is not of an expired payout: its response is older than the confirm. The payout is read.
func TestAConfirmWhoseResponseSaysThatThePayoutHasExpired(t *testing.T) {
	w := newPayWorld(t)
	w.onSuccess("POST", confirmPath, func(payout map[string]any) {
		payout["status"] = "expired"
		delete(payout, "transactionHash")
	})
	payment, err := w.pay()
	require.NoError(t, err)
	assert.Equal(t, moneymovement.PaymentPaid, payment.State)
	assert.Equal(t, 1, w.Fundings())
}

// payoutResponses are the requests whose response is a payout.
var payoutResponses = []string{"POST /payouts", "POST /payouts/*/confirm", "GET /payouts/*"}

// The words of a payout's status are assumed. A service with other words is paid through all the same, once, by
// whatever process.
func TestPaymentWithUnknownStatuses(t *testing.T) {
	for name, word := range map[string]any{"another word": "settling", "none": nil, "a number": 7,
		"an object": map[string]any{"code": "settling"}} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			other := func(payout map[string]any) {
				if payout["status"] != "awaiting_approval" {
					payout["status"] = word
				}
			}
			w.onSuccessOf(payoutResponses, other)
			first, err := w.pay()
			require.NoError(t, err)
			again, err := w.pay()
			require.NoError(t, err)
			assert.Equal(t, first.Payout.ID, again.Payout.ID)
			w.account = w.integrator().Self() // as after a restart
			later, err := w.pay()
			require.NoError(t, err)
			assert.Equal(t, first.Payout.ID, later.Payout.ID)
			assert.Equal(t, moneymovement.PaymentPaid, later.State)
			assert.Equal(t, 1, w.Fundings())
		})
	}
}

// Where the transaction hash is missing as well, the accepted confirm counts, unless something contradicts it.
func TestPaymentShownOnlyByItsConfirm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		veiled := func(payout map[string]any) {
			delete(payout, "transactionHash")
			if payout["status"] != "awaiting_approval" {
				payout["status"] = "settling"
			}
		}
		w.onSuccessOf(payoutResponses, veiled)
		payment, err := w.pay()
		require.NoError(t, err)
		assert.Equal(t, dapi.PayoutStatus("settling"), payment.Payout.Status)
		assert.Equal(t, moneymovement.PaymentPaid, payment.State)
		assert.Equal(t, traffic{1, 1, 1}, w.traffic(), "the payout was asked, too")
		again, err := w.pay()
		require.NoError(t, err)
		assert.Equal(t, payment.Payout.ID, again.Payout.ID)
		w.account = w.integrator().Self()
		payment, _ = w.pay() // a process that saw no confirm asks again, once the stated window has closed
		assert.Equal(t, moneymovement.PaymentPaid, payment.State)
		assert.Equal(t, 1, w.Fundings())
	})
}

// What a confirm returns is not described: any success is one, and the payout tells.
func TestAConfirmIsSettledByReadingThePayout(t *testing.T) {
	for name, response := range map[string]struct {
		status int
		body   string
	}{
		"no content": {http.StatusNoContent, ""}, "accepted": {http.StatusAccepted, ""},
		"an acknowledgement": {http.StatusOK, `{"ok":true}`},
		"an envelope":        {http.StatusOK, `{"data":{"id":"po_other","status":"failed"}}`},
		"a word":             {http.StatusOK, `"ok"`}, "null": {http.StatusOK, `null`},
		"a list": {http.StatusCreated, `[]`}, "no id": {http.StatusOK, `{"status":"funding"}`},
	} {
		for _, carriedOut := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				w := newPayWorld(t)
				fault := sandbox.Respond(response.status, "").WithBody(response.body)
				if carriedOut {
					fault = fault.AfterCommit()
				}
				w.Host.Arm("POST", confirmPath, fault)
				payment, err := w.pay()
				if !carriedOut { // a success that was none
					w.assertInDoubt(t, payment, err)
					assert.Zero(t, w.Fundings())
					payment, err = w.pay()
				}
				require.NoError(t, err)
				assert.NotEmpty(t, payment.Payout.TransactionHash)
				assert.Equal(t, 1, w.Fundings())
			})
		}
	}
}

// A confirm that was taken, of a payout that cannot be read then, may have paid.
func TestAConfirmWhosePayoutCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		booked, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.IdempotencyKey("invoice-42"))
		require.NoError(t, err)
		w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusNoContent, "").AfterCommit())
		w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusInternalServerError, "internal_error").Times(10))
		payout, err := w.account.Payouts.Confirm(t.Context(), w.asked, booked)
		var inDoubt *errors.InDoubt
		require.ErrorAs(t, err, &inDoubt)
		assert.Equal(t, string(booked.ID), inDoubt.Resource)
		assert.Nil(t, payout)
		assert.Equal(t, 1, w.Fundings())
	})
}

// While the service funds and says so in words of its own, a payment waits for no longer than the stated window.
func TestFundingInProgressWithAnUnknownStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.refuse(http.StatusConflict, "funding_in_progress")
		w.onSuccess("GET", "/payouts/*", func(payout map[string]any) { payout["status"] = "working" })
		started := time.Now()
		payment, err := w.pay()
		require.NoError(t, err)
		assert.NotEmpty(t, payment.Payout.TransactionHash)
		assert.Less(t, time.Since(started), 3*time.Minute)
		assert.Equal(t, 2, w.Sent("BookPayout"), "booking again asks the service")
		assert.Equal(t, 1, w.Fundings())
	})
}

// A fee in a form that cannot be read meets no bound.
func TestAFeeThatCannotBeRead(t *testing.T) {
	for _, fee := range []any{map[string]any{"amount": "0.10"}, "ten", true, []any{"0.10"}, nil} {
		w := newPayWorld(t)
		w.onBooking(func(payout map[string]any) { payout["quote"].(map[string]any)["fee"] = fee })
		_, err := w.pay(journaled(), maxFee(amount("5")))
		assert.Equal(t, dapi.BoundReadable, as[*dapi.PriceRefused](t, err).Bound, "%v", fee)
		w.assertNothingSigned(t)
	}
	w := newPayWorld(t)
	w.onBooking(func(payout map[string]any) {
		quote := payout["quote"].(map[string]any)
		quote["fee"] = json.Number(quote["fee"].(string))
	})
	_, err := w.pay(journaled(), maxFee(amount("5")))
	require.NoError(t, err, "a fee as a number")
}

// An approval that does not say when it ends has the stated window, whatever form its payload has.
func TestApprovalsWithoutAnEnd(t *testing.T) {
	trusting := func(d *dapi.Developer) {
		d.Verifier = func(_ context.Context, a signing.Approval, _ signing.Intent) error {
			if left := time.Until(a.ExpiresAt); left <= 0 || left > 2*time.Minute {
				return errors.New("no window")
			}
			return nil
		}
	}
	for name, end := range map[string]any{"absent": nil, "no time": "soon", "a number": 1767323045} {
		t.Run(name+", payout", func(t *testing.T) {
			w := newPayWorld(t)
			w.onBooking(func(payout map[string]any) { payout["approval"].(map[string]any)["expiresAt"] = end })
			_, err := w.pay(journaled())
			require.NoError(t, err)
			assert.Equal(t, 1, w.Fundings())
		})
		t.Run(name+", payout, opaque", func(t *testing.T) {
			w := newPayWorld(t)
			w.account = w.integrator(trusting).Self()
			w.onBooking(func(payout map[string]any) {
				approval := payout["approval"].(map[string]any)
				approval["expiresAt"], approval["payload"] = end, []byte("\x00opaque")
			})
			_, err := w.pay(journaled())
			// it was signed and sent; only this host knows that it is not its payload
			var refused *errors.SignatureInvalid
			assert.ErrorAs(t, err, &refused)
		})
		t.Run(name+", escrow", func(t *testing.T) {
			w := newWorld(t)
			account := w.account()
			w.onSuccess("POST", "/escrow", func(escrow map[string]any) {
				escrow["action"].(map[string]any)["approval"].(map[string]any)["expiresAt"] = end
			})
			opened, err := account.Escrows.Open(t.Context(), newEscrow(), "escrow-1", dapi.EscrowTerms{})
			require.NoError(t, err)
			assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
		})
	}
}

// The words of an escrow's status are assumed. What can be done next is stated, and tells whether the money is held.
func TestEscrowWithUnknownStatuses(t *testing.T) {
	for name, word := range map[string]any{"another word": "held", "none": nil, "a number": 7} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			account := w.account()
			other := func(escrow map[string]any) { escrow["status"] = word }
			w.onSuccessOf([]string{"POST /escrow", "POST /escrow/*/actions/*/confirm", "POST /escrow/*/sync"}, other)
			opened, err := account.Escrows.Open(t.Context(), newEscrow(), "escrow-1", dapi.EscrowTerms{})
			require.NoError(t, err)
			for _, account := range []*dapi.Account{account, w.integrator().Self()} {
				again, err := account.Escrows.Open(t.Context(), newEscrow(), "escrow-1", dapi.EscrowTerms{})
				require.NoError(t, err)
				assert.Equal(t, opened.Escrow.ID, again.Escrow.ID)
			}
			_, err = account.Escrows.Act(t.Context(), newEscrow(), opened.Escrow.ID,
				dapi.EscrowActionTypeRelease, "release-1", dapi.EscrowTerms{})
			require.NoError(t, err)
			held, released := 0, 0
			for _, entry := range w.Host.Ledger().Entries {
				if entry.Amount.IsNegative() && entry.Kind == "escrow_active" {
					held++
				} else if entry.Amount.IsNegative() && entry.Kind == "escrow_released" {
					released++
				}
			}
			assert.Equal(t, []int{1, 1}, []int{held, released})
		})
	}
}

// A booking that is new and waits for its approval is not paid, whatever its status is called, and whatever stands in
// the place of a hash.
func TestNewBookingIsNotPaidWhateverItsStatus(t *testing.T) {
	for name, change := range map[string]func(payout map[string]any){
		"processing":      func(payout map[string]any) { payout["status"] = "processing" },
		"completed":       func(payout map[string]any) { payout["status"] = "completed" },
		"a hash of 0":     func(payout map[string]any) { payout["transactionHash"] = 0 },
		"a hash of zeros": func(payout map[string]any) { payout["transactionHash"] = "0x" + strings.Repeat("0", 64) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			w.onBooking(change)
			payment, err := w.pay(journaled())
			require.NoError(t, err)
			assert.Equal(t, moneymovement.PaymentPaid, payment.State)
			assert.Equal(t, 1, w.Fundings())
		})
	}
}

// An escrow that is new and offers its approval is not held, whatever its status is called.
func TestNewEscrowIsNotHeldWhateverItsStatus(t *testing.T) {
	for _, word := range []string{"active", "released", "refunded"} {
		w := newWorld(t)
		account := w.account()
		w.onSuccess("POST", "/escrow", func(escrow map[string]any) { escrow["status"] = word })
		_, err := account.Escrows.Open(t.Context(), newEscrow(), "escrow-1", escrowTerms(journaled()))
		require.NoError(t, err)
		held := 0
		for _, entry := range w.Host.Ledger().Entries {
			if entry.Amount.IsNegative() && entry.Kind == "escrow_active" {
				held++
			}
		}
		assert.Equal(t, 1, held, word)
	}
}

// Windows are compared in full before an escrow is signed, also where the words of its status are not known.
func TestEscrowWindowsWithAnUnknownStatus(t *testing.T) {
	w := newWorld(t)
	account := w.account()
	asked := newEscrow()
	asked.ApproveWithin = "30d"
	w.onSuccess("POST", "/escrow", func(escrow map[string]any) {
		escrow["status"] = "open"
		ends, err := time.Parse(time.RFC3339, escrow["approveBy"].(string))
		require.NoError(t, err)
		escrow["holdUntil"] = ends.Add(time.Minute).Format(time.RFC3339)
	})
	_, err := account.Escrows.Open(t.Context(), asked, "escrow-1", escrowTerms(journaled()))
	require.Error(t, err)
	assert.Zero(t, w.Key.Approvals(), "nothing was signed")
}

// The first price stays a bound if a later amount cannot be read.
func TestAFirstPriceThatCannotBeRead(t *testing.T) {
	for name, change := range map[string]func(booking int, quote map[string]any){
		"what arrives, first": func(booking int, quote map[string]any) {
			if quote["destinationAmount"] = "1.00"; booking == 1 {
				quote["destinationAmount"] = map[string]any{"value": "22.42"}
			}
		},
		"what leaves, then": func(booking int, quote map[string]any) {
			if booking > 1 {
				quote["sourceAmount"] = []any{"2500"}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			bookings := 0
			w.onSuccess("POST", bookPath, func(payout map[string]any) {
				bookings++
				change(bookings, payout["quote"].(map[string]any))
			})
			w.waitBeforeSigning(31*time.Second, 1)
			_, err := w.pay(journaled())
			refused := as[*dapi.PriceRefused](t, err)
			assert.Equal(t, dapi.BoundReadable, refused.Bound)
			assert.NotNil(t, refused.Reference, "the first price")
			assert.Zero(t, w.Fundings())
		})
	}
}

// A fee that cannot be read meets no bound, also if much else of the response cannot be read.
func TestUnreadableFeeInAnUnreadableResponse(t *testing.T) {
	w := newPayWorld(t)
	w.onBooking(func(payout map[string]any) {
		payout["documentIds"] = slices.Repeat([]any{map[string]any{}}, 1000)
		payout["quote"].(map[string]any)["fee"] = map[string]any{"amount": "24"}
	})
	_, err := w.pay(journaled(), maxFee(amount("2")))
	assert.Equal(t, dapi.BoundReadable, as[*dapi.PriceRefused](t, err).Bound)
	w.assertNothingSigned(t)
}

// A confirm was accepted and changed nothing. Then nothing is paid, even if the status of the payout is
// unknown.
func TestConfirmWithoutEffectWithAnUnknownStatus(t *testing.T) {
	w := newPayWorld(t)
	w.onSuccessOf(payoutResponses, func(payout map[string]any) {
		if payout["status"] == "awaiting_approval" {
			payout["status"] = "pending"
		}
	})
	w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusOK, "").WithBody(`{"ok":true}`))
	payment, err := w.pay()
	w.assertInDoubt(t, payment, err)
	payment, err = w.pay()
	require.NoError(t, err)
	assert.Equal(t, moneymovement.PaymentPaid, payment.State)
	assert.Equal(t, 1, w.Fundings())
}
