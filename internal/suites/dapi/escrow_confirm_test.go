package dapi_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// An approval that says nowhere when it ends has the stated window from when it is confirmed, in another process
// perhaps.
//
// Rule: lifetime.payout-approval, lifetime.escrow-approval
func TestConfirmsByHandWithoutAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDealWorld(t)
		var left []time.Duration
		account := w.integrator(func(d *dapi.Developer) {
			d.Verifier = func(_ context.Context, a signing.Approval, _ signing.Intent) error {
				left = append(left, time.Until(a.ExpiresAt).Round(time.Millisecond))
				return errors.New("not this one")
			}
		}).Self()
		booked, err := account.Payouts.Book(t.Context(), w.asked)
		require.NoError(t, err)
		created, err := account.Escrows.Create(t.Context(), w.deal)
		require.NoError(t, err)
		*booked.Approval = dapi.Approval{ID: booked.Approval.ID, Payload: []byte("opaque")}
		*created.Action.Approval = dapi.Approval{ID: created.Action.Approval.ID, Payload: []byte("opaque")}
		_, err = account.Payouts.Confirm(t.Context(), w.asked, booked)
		as[*signing.ApprovalRefused](t, err)
		_, err = account.Escrows.Confirm(t.Context(), w.deal, created.ID, dapi.EscrowActionTypeApprove, created.Action)
		as[*signing.ApprovalRefused](t, err)
		assert.Equal(t, []time.Duration{2 * time.Minute, time.Minute}, left)
		assert.True(t, booked.Approval.ExpiresAt.IsZero(), "the caller's own stays as it is")
	})
}

// Who confirms by hand learns that the approval is over, and nothing is signed.
func TestConfirmsByHandThatComeTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDealWorld(t)
		booked, err := w.account.Payouts.Book(t.Context(), w.asked)
		require.NoError(t, err)
		created, err := w.account.Escrows.Create(t.Context(), w.deal)
		require.NoError(t, err)
		time.Sleep(121 * time.Second)
		_, err = w.account.Payouts.Confirm(t.Context(), w.asked, booked)
		assert.True(t, as[*signing.ApprovalRefused](t, err).Expired)
		_, err = w.account.Escrows.Confirm(t.Context(), w.deal, created.ID, dapi.EscrowActionTypeApprove,
			created.Action)
		assert.True(t, as[*signing.ApprovalRefused](t, err).Expired)
		w.assertNothingHeld(t)
	})
}

// A confirm by hand whose answer is about another deal, or one of other terms, leaves in doubt what came of it.
func TestEscrowConfirmOfOtherTerms(t *testing.T) {
	for member, value := range map[string]any{"id": "esc_another", "amount": "400"} {
		t.Run(member, func(t *testing.T) {
			w := newDealWorld(t)
			created, err := w.account.Escrows.Create(t.Context(), w.deal)
			require.NoError(t, err)
			w.onSuccess("POST", confirmActionPath, func(deal map[string]any) { deal[member] = value })
			confirmed, err := w.account.Escrows.Confirm(t.Context(), w.deal, created.ID, dapi.EscrowActionTypeApprove,
				created.Action)
			assert.Nil(t, confirmed)
			unknown := as[*errors.OutcomeUnknown](t, err)
			of := errors.CallInfo{Operation: "ConfirmEscrowAction", Resource: string(created.ID),
				IdempotencyKey: created.Action.IdempotencyKey}
			assert.Equal(t, of, unknown.CallInfo)
			if member != "id" {
				assert.Equal(t, of, as[*dapi.TermsDiffer](t, unknown.Cause).CallInfo)
			}
		})
	}
}

// A confirm by hand whose answer shows no deal is settled by reading the deal.
func TestEscrowConfirmThatShowsNoDeal(t *testing.T) {
	for name, tc := range map[string]struct {
		arrange func(w *dealWorld)
		carried bool
		settled bool
	}{
		"it was carried out": {nil, true, true},
		"it was not":         {nil, false, false},
		"the deal cannot be read": {func(w *dealWorld) {
			w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
		}, true, false},
		"the deal read is not asked": {func(w *dealWorld) {
			w.onSuccess("POST", syncPath, func(d map[string]any) { d["id"] = "esc_another" })
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newDealWorld(t)
			created, err := w.account.Escrows.Create(t.Context(), w.deal)
			require.NoError(t, err)
			fault := sandbox.Respond(http.StatusNoContent, "")
			if tc.carried {
				fault = fault.AfterCommit()
			}
			w.Host.Arm("POST", confirmActionPath, fault)
			if tc.arrange != nil {
				tc.arrange(w)
			}
			confirmed, err := w.account.Escrows.Confirm(t.Context(), w.deal, created.ID, dapi.EscrowActionTypeApprove,
				created.Action)
			if tc.settled {
				require.NoError(t, err)
				assert.Equal(t, dapi.EscrowStatusActive, confirmed.Status)
				return
			}
			unknown := as[*errors.OutcomeUnknown](t, err)
			assert.Equal(t, "ConfirmEscrowAction", unknown.Operation)
			assert.Equal(t, string(created.ID), unknown.Resource)
			assert.Nil(t, confirmed)
		})
	}
}
