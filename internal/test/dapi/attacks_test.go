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
	"github.com/moneymovement/moneymovement-go/signing"
)

// A refusal of a confirm is about a repetition of it. If the payout has moved on since, in words that this version does
// not know, the payment may be made.
func TestARefusedConfirmOfAPayoutThatMovedOn(t *testing.T) {
	for _, status := range []string{"settling", ""} {
		for slug, code := range map[string]int{"payout_not_fundable": 409, "one_of_tomorrow": 422, "not_found": 404,
			"signing_policy_refused": 403} {
			t.Run(slug+" "+status, func(t *testing.T) {
				w := newPayWorld(t)
				w.Host.Arm("POST", confirmPath, sandbox.Respond(code, slug).AfterCommit())
				w.onSuccess("GET", "/payouts/*", func(payout map[string]any) {
					payout["status"] = status
					delete(payout, "approval")
					delete(payout, "transactionHash")
				})
				payment, err := w.pay(journaled())
				require.Equal(t, 1, w.Fundings())
				w.assertInDoubt(t, payment, err)
			})
		}
	}
}

// If the payout cannot be read, a refusal with a slug that says nothing about the payout is a doubt, too.
func TestARefusedConfirmThatSaysNothing(t *testing.T) {
	for slug, code := range map[string]int{"one_of_tomorrow": 422, "not_found": 404, "gone": 410} {
		t.Run(slug, func(t *testing.T) {
			w := newPayWorld(t)
			w.Host.Arm("POST", confirmPath, sandbox.Respond(code, slug).AfterCommit())
			w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden").Times(9))
			payment, err := w.pay(journaled())
			w.assertInDoubt(t, payment, err)
		})
	}
}

// The same for a deal.
func TestARefusedApprovalOfADealThatSaysNothing(t *testing.T) {
	for slug, code := range map[string]int{"one_of_tomorrow": 422, "not_found": 404, "gone": 410} {
		for _, readable := range []bool{true, false} {
			t.Run(slug, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newDealWorld(t)
					w.Host.Arm("POST", confirmActionPath, sandbox.Respond(code, slug).AfterCommit())
					if !readable {
						w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(9))
					}
					_, err := w.open(journaled())
					if readable {
						require.NoError(t, err, "the deal shows that its money is held")
						return
					}
					assertDealInDoubt(t, err)
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
	payment, err := w.PayEnded(self.Payouts.Pay(t.Context(), w.asked, "invoice-42", payTerms(journaled())))
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

	d := newDealWorld(t)
	_, err = d.open(journaled())
	require.NoError(t, err)
	d.Host.ForgetKeys()
	d.account = d.integrator().Self()
	for _, other := range []error{&dapi.KeyTooOld{}, &dapi.EscrowNotOpened{}} {
		_, err = d.open(beforeSigning(func(context.Context, *dapi.Payout) error { return other }))
		assertDealInDoubt(t, err)
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
	t.Run("of a deal", func(t *testing.T) {
		w := newDealWorld(t)
		created, err := w.account.Escrows.Create(t.Context(), w.deal, moneymovement.IdempotencyKey("deal-1"))
		require.NoError(t, err)
		w.Host.Arm("POST", confirmActionPath,
			sandbox.Respond(http.StatusInternalServerError, "internal_error").AfterCommit())
		_, err = w.account.Escrows.Confirm(t.Context(), w.deal, created.ID, dapi.EscrowActionTypeApprove,
			created.Action)
		require.Error(t, err)
		w.Host.Arm("POST", dealPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(9))
		_, err = w.open(journaled())
		assertDealInDoubt(t, err)
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

// The same for a deal.
func TestAHookThatChangesTheDeal(t *testing.T) {
	w := newDealWorld(t)
	terms := dapi.DealTerms{BeforeSigning: func(_ context.Context, created *dapi.Escrow) error {
		created.Action.IdempotencyKey, created.Action.Approval.ID, created.Action.Approval.Payload[0] = "", "", 'x'
		created.Action.Approval.ExpiresAt, created.Action.Type = time.Time{}, "release"
		created.Action.Approval = nil
		return nil
	}}
	_, err := w.DealEnded(w.account.Escrows.Open(t.Context(), w.deal, "deal-1", terms))
	require.NoError(t, err)
	assert.Equal(t, 1, w.holdings())
}

// A deal of another key is not the one that was asked for.
func TestOpenWithADealOfAnotherKey(t *testing.T) {
	w := newDealWorld(t)
	first, err := w.open(journaled())
	require.NoError(t, err)
	_, err = w.DealEnded(w.account.Escrows.Open(t.Context(), w.deal, "deal-2", dealTerms(knownDeal(first.Escrow.ID))))
	as[*errors.OutcomeUnknown](t, err)
	assert.Equal(t, 1, w.holdings())
}

// A refusal that names the paid payout of another key pays nothing.
func TestAlreadyFundedOfAnotherPayment(t *testing.T) {
	w := newPayWorld(t)
	paid, err := w.pay(journaled())
	require.NoError(t, err)
	w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "already_funded").
		WithDetails(map[string]any{"payoutId": paid.Payout.ID}))
	payment, err := w.payAs("invoice-43", journaled())
	assert.Equal(t, moneymovement.PaymentInDoubt, payment.State, "%v", err)
}
