package dapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
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

// payoutAnswers are the requests that are answered by a payout.
var payoutAnswers = []string{"POST /payouts", "POST /payouts/*/confirm", "GET /payouts/*"}

// The words of a payout's status are assumed. A service with other words is paid through all the same, once, by
// whatever process.
func TestAPaymentWithWordsOfAnotherService(t *testing.T) {
	for name, word := range map[string]any{"another word": "settling", "none": nil, "a number": 7,
		"an object": map[string]any{"code": "settling"}} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			other := func(payout map[string]any) {
				if payout["status"] != "awaiting_approval" {
					payout["status"] = word
				}
			}
			w.onSuccessOf(payoutAnswers, other)
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

// Where no transaction hash is shown either, the confirm that the service took counts, and nothing contradicts it.
func TestAPaymentOfWhichOnlyTheConfirmTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		veiled := func(payout map[string]any) {
			delete(payout, "transactionHash")
			if payout["status"] != "awaiting_approval" {
				payout["status"] = "settling"
			}
		}
		w.onSuccessOf(payoutAnswers, veiled)
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
	for name, answer := range map[string]struct {
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
				fault := sandbox.Respond(answer.status, "").WithBody(answer.body)
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
		var unknown *errors.OutcomeUnknown
		require.ErrorAs(t, err, &unknown)
		assert.Equal(t, string(booked.ID), unknown.Resource)
		assert.Nil(t, payout)
		assert.Equal(t, 1, w.Fundings())
	})
}

// While the service funds and says so in words of its own, a payment waits for no longer than the stated window.
func TestFundingInProgressInWordsOfAnotherService(t *testing.T) {
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

// A fee that is said and cannot be read keeps no bound.
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
			w.onSuccess("POST", "/escrow", func(deal map[string]any) {
				deal["action"].(map[string]any)["approval"].(map[string]any)["expiresAt"] = end
			})
			opened, err := w.DealEnded(account.Escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{}))
			require.NoError(t, err)
			assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
		})
	}
}

// The words of a deal's status are assumed. What can be done next is stated, and tells whether the money is held.
func TestADealWithWordsOfAnotherService(t *testing.T) {
	for name, word := range map[string]any{"another word": "held", "none": nil, "a number": 7} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			account := w.account()
			other := func(deal map[string]any) { deal["status"] = word }
			w.onSuccessOf([]string{"POST /escrow", "POST /escrow/*/actions/*/confirm", "POST /escrow/*/sync"}, other)
			opened, err := w.DealEnded(account.Escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{}))
			require.NoError(t, err)
			for _, account := range []*dapi.Account{account, w.integrator().Self()} {
				again, err := w.DealEnded(account.Escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{}))
				require.NoError(t, err)
				assert.Equal(t, opened.Escrow.ID, again.Escrow.ID)
			}
			_, err = w.DealEnded(account.Escrows.Act(t.Context(), deal(), opened.Escrow.ID,
				dapi.EscrowActionTypeRelease, "release-1", dapi.DealTerms{}))
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
func TestANewBookingIsNotPaidByAWord(t *testing.T) {
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

// A deal that is new and offers its approval is not held, whatever its status is called.
func TestANewDealIsNotHeldByAWord(t *testing.T) {
	for _, word := range []string{"active", "released", "refunded"} {
		w := newWorld(t)
		account := w.account()
		w.onSuccess("POST", "/escrow", func(deal map[string]any) { deal["status"] = word })
		_, err := w.DealEnded(account.Escrows.Open(t.Context(), deal(), "deal-1", dealTerms(journaled())))
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

// Windows are compared in full before a deal is signed, also where the words of its status are not known.
func TestWindowsOfADealWithAnotherWord(t *testing.T) {
	w := newWorld(t)
	account := w.account()
	asked := deal()
	asked.ApproveWithin = "30d"
	w.onSuccess("POST", "/escrow", func(deal map[string]any) {
		deal["status"] = "open"
		ends, err := time.Parse(time.RFC3339, deal["approveBy"].(string))
		require.NoError(t, err)
		deal["holdUntil"] = ends.Add(time.Minute).Format(time.RFC3339)
	})
	_, err := w.DealEnded(account.Escrows.Open(t.Context(), asked, "deal-1", dealTerms(journaled())))
	require.Error(t, err)
	assert.Zero(t, w.Key.Approvals(), "nothing was signed")
}

// The first price is a bound that an amount which cannot be read does not lift.
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

// A fee that cannot be read keeps no bound, however much else of the answer could not be read.
func TestAFeeAmongMuchThatCannotBeRead(t *testing.T) {
	w := newPayWorld(t)
	w.onBooking(func(payout map[string]any) {
		payout["documentIds"] = slices.Repeat([]any{map[string]any{}}, 1000)
		payout["quote"].(map[string]any)["fee"] = map[string]any{"amount": "24"}
	})
	_, err := w.pay(journaled(), maxFee(amount("2")))
	assert.Equal(t, dapi.BoundReadable, as[*dapi.PriceRefused](t, err).Bound)
	w.assertNothingSigned(t)
}

// A confirm that the service took and that changed nothing is no payment, whatever the word for waiting is.
func TestAConfirmWithoutEffectInWordsOfAnotherService(t *testing.T) {
	w := newPayWorld(t)
	w.onSuccessOf(payoutAnswers, func(payout map[string]any) {
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
