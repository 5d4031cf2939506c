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
)

func newReleaseWorld(t *testing.T) (*dealWorld, dapi.EscrowID) {
	t.Helper()
	w := newDealWorld(t)
	opened, err := w.open()
	require.NoError(t, err)
	return w, opened.ID
}

func (w *dealWorld) release(ctx context.Context, id dapi.EscrowID) (*dapi.Escrow, error) {
	released, err := w.account.Escrows.Act(ctx, w.deal, id, dapi.EscrowActionTypeRelease, "release-1")
	w.ended(err)
	return released, err
}

// An action that is not available is a conflict, once the deal tells that it was not taken.
func TestActionThatIsNotAvailable(t *testing.T) {
	t.Run("the deal is refunded", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, id := newReleaseWorld(t)
			time.Sleep(15 * 24 * time.Hour)
			_, err := w.account.Escrows.Act(t.Context(), w.deal, id, dapi.EscrowActionTypeRefund, "refund-1")
			w.ended(err)
			require.NoError(t, err)
			before := len(w.Host.Requests())
			_, err = w.release(t.Context(), id)
			as[*errors.Conflict](t, err)
			_, unknown := errors.AsType[*errors.OutcomeUnknown](err)
			assert.False(t, unknown)
			head, _ := errors.CallInfoOf(err)
			assert.Equal(t, string(id), head.Resource)
			assert.Len(t, w.Host.Requests(), before+2, "the deal was read")
		})
	})
	t.Run("and the deal cannot be read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, id := newReleaseWorld(t)
			w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusConflict, "conflict"))
			w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
			_, err := w.release(t.Context(), id)
			assertUnknown(t, err, "release-1", "call again with the same key and terms")
		})
	})
	t.Run("because it was taken, and its answer was lost", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, id := newReleaseWorld(t)
			w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit().Times(4))
			w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
			_, err := w.release(t.Context(), id)
			assertUnknown(t, err, "release-1", "call again with the same key and terms")
			time.Sleep(time.Minute)
			w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusConflict, "conflict"))
			released, err := w.release(t.Context(), id)
			require.NoError(t, err, "the deal tells")
			assert.Equal(t, dapi.EscrowStatusReleased, released.Status)
		})
	})
}

// An action whose answer was lost stays in doubt, whatever the next call meets.
func TestSecondCallOfAnActionInDoubt(t *testing.T) {
	for name, setback := range setbacks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, id := newReleaseWorld(t)
				w.loseConfirms()
				_, err := w.release(t.Context(), id)
				assertUnknown(t, err, "release-1", "call again with the same key and terms")
				ctx, cancel := setback(w.payWorld)
				defer cancel()
				_, err = w.release(ctx, id)
				assertUnknown(t, err, "release-1", "call again with the same key and terms")
				time.Sleep(10 * time.Minute) // for a login that its caller left alone
			})
		})
	}
}

// An approval that is consumed tells that its action was taken where the words of the deal tell nothing, and only
// there.
func TestActionWhoseApprovalIsConsumed(t *testing.T) {
	for name, tc := range map[string]struct {
		status  string
		actions []any
		taken   bool
	}{
		"in other words, and it cannot be taken again": {"gone", []any{}, true},
		"in other words, and it is offered still":      {"gone", []any{"release"}, false},
		"in words of before":                           {"active", []any{}, false},
		"in words of another action":                   {"refunded", []any{}, false},
		"in words of no action":                        {"expired", []any{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, id := newReleaseWorld(t)
				w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusConflict, "approval_consumed"))
				w.onSuccess("POST", syncPath, func(deal map[string]any) {
					deal["status"], deal["availableActions"] = tc.status, tc.actions
				})
				_, err := w.release(t.Context(), id)
				if tc.taken {
					require.NoError(t, err)
					return
				}
				assertUnknown(t, err, "release-1", "call again with the same key and terms")
			})
		})
	}
}

// An action that this client has seen taken stays taken, whatever the deal is said to be later.
func TestActionThatWasSeenTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, id := newReleaseWorld(t)
		_, err := w.release(t.Context(), id)
		require.NoError(t, err)
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusConflict, "approval_consumed"))
		w.onSuccess("POST", syncPath, func(deal map[string]any) {
			deal["status"], deal["availableActions"] = "gone", []any{"release"}
		})
		_, err = w.release(t.Context(), id)
		require.NoError(t, err)
	})
}

// Of an action that this version has no word for, no status tells that it was taken.
func TestActionOfAnotherVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, id := newReleaseWorld(t)
		w.Host.Arm("POST", "/escrow/*/actions", sandbox.DropBefore().Times(4))
		_, err := w.account.Escrows.Act(t.Context(), w.deal, id, "extend", "extend-1")
		w.ended(err)
		assertUnknown(t, err, "extend-1", "call again with the same key and terms")
	})
}

// What is refused plainly keeps its type.
func TestActionThatIsRefused(t *testing.T) {
	w, id := newReleaseWorld(t)
	w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusForbidden, "forbidden"))
	_, err := w.release(t.Context(), id)
	as[*errors.Forbidden](t, err)
	w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusForbidden, "signing_policy_refused"))
	_, err = w.release(t.Context(), id)
	as[*errors.SigningPolicyRefused](t, err)
	_, err = w.account.Escrows.Act(t.Context(), w.deal, id, dapi.EscrowActionTypeRefund, "release-1")
	w.ended(err)
	assert.Equal(t, string(id), as[*errors.IdempotencyKeyReused](t, err).Resource)
}
