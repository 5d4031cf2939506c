package dapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// settling is a booking of a service with other words, that offers no approval any more: an earlier call has confirmed
// it.
func settling(payout map[string]any) {
	payout["status"] = "settling"
	delete(payout, "approval")
	delete(payout, "transactionHash")
}

// A booking that offers nothing to approve, in words that nobody here knows, is looked at again: the payout itself may
// show what it became.
func TestABookingThatOffersNothingToApprove(t *testing.T) {
	status := func(word string) func(map[string]any) {
		return func(payout map[string]any) { payout["status"] = word }
	}
	for name, tc := range map[string]struct {
		reading func(payout map[string]any)
		state   moneymovement.PaymentState
	}{
		"the payout is on its way":          {status("processing"), moneymovement.PaymentPaid},
		"the payout arrived":                {status("completed"), moneymovement.PaymentPaid},
		"the payout failed":                 {status("failed"), moneymovement.PaymentEnded},
		"the payout was refunded":           {status("refunded"), moneymovement.PaymentEnded},
		"the payout says as little":         {settling, moneymovement.PaymentInDoubt},
		"the payout waits for its approval": {status("awaiting_approval"), moneymovement.PaymentInDoubt},
		"the payout is of another key": {func(payout map[string]any) {
			payout["idempotencyKey"], payout["status"] = "k", "processing"
		}, moneymovement.PaymentInDoubt},
		"the payout is of an amount not due": {func(payout map[string]any) {
			payout["amount"], payout["status"] = "26", "processing"
		}, moneymovement.PaymentInDoubt},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			reads := false
			w.onSuccessOf(payoutAnswers, func(payout map[string]any) {
				if reads = reads || w.Sent("GetPayout") > 0; reads {
					tc.reading(payout)
				} else {
					settling(payout)
				}
			})
			payment, err := w.pay()
			assert.Equal(t, tc.state, payment.State, "%v", err)
			assert.Zero(t, w.Key.Approvals(), "the signer is not called")
			if tc.state == moneymovement.PaymentInDoubt {
				w.assertInDoubt(t, payment, err)
				require.ErrorContains(t, as[*errors.OutcomeUnknown](t, err).Cause,
					`the booking has no approval to sign, and its status is "settling"`)
			}
		})
	}
}

// A payment that this client has seen paid stays paid when its booking is repeated in words that it does not know, also
// where it cannot be read.
func TestAPaymentThatWasSeenPaidOffersNothingToApprove(t *testing.T) {
	for name, readable := range map[string]bool{"it can be read": true, "it cannot be read": false} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			first, err := w.pay(journaled())
			require.NoError(t, err)
			w.onBooking(settling)
			if !readable {
				w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusForbidden, "forbidden"))
			}
			again, err := w.pay(journaled())
			require.NoError(t, err)
			assert.Equal(t, first.Payout.ID, again.Payout.ID)
			assert.Equal(t, moneymovement.PaymentPaid, again.State)
			assert.NotEmpty(t, again.Payout.TransactionHash, "as it stands now, or as it was seen before")
			assert.Equal(t, 1, w.Fundings())
		})
	}
}

// A booking without status and approval is an error of the service if it is new, and else what an earlier call may have
// left.
func TestABookingWithoutStatusAndApproval(t *testing.T) {
	bare := func(payout map[string]any) { settling(payout); delete(payout, "status") }
	w := newPayWorld(t)
	w.onBooking(bare)
	_, err := w.payAs("invoice-41", journaled())
	assert.Equal(t, "approval", as[*signing.ApprovalRefused](t, err).Field, "nothing was paid before")

	w.onBooking(func(map[string]any) {})
	w.refuse(http.StatusForbidden, "signing_policy_refused")
	_, err = w.payAs("invoice-42", journaled())
	as[*errors.SigningPolicyRefused](t, err)
	w.account = w.integrator().Self()
	w.onBooking(bare)
	_, err = w.payAs("invoice-42")
	require.ErrorContains(t, as[*errors.OutcomeUnknown](t, err).Cause, "the booking has no approval to sign")
}
