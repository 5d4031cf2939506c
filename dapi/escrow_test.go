package dapi_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/surfacetest"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Rule: lifetime.escrow-approval, idempotency.escrow
func TestEscrowOpens(t *testing.T) {
	for name, c := range map[string]struct {
		arrange  func(s *escrowService, key *surfacetest.WatchedKey)
		prepared int // besides the create call's own
		confirms int
		syncs    int
	}{
		"at once": {confirms: 1},
		"although the confirm's answer is lost": {
			arrange: func(s *escrowService, _ *surfacetest.WatchedKey) { s.lose = 1 }, confirms: 2, syncs: 1,
		},
		"although the window closed, by the service's clock": {
			arrange: func(_ *escrowService, key *surfacetest.WatchedKey) {
				key.BeforeApproval(func(n int) {
					if n == 1 {
						time.Sleep(61 * time.Second)
					}
				})
			},
			prepared: 1, confirms: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, key, escrows := newEscrowService(t)
				if c.arrange != nil {
					c.arrange(s, key)
				}
				opened, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
				require.NoError(t, err)
				assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
				assert.Equal(t, []int{1, c.prepared, c.confirms, c.syncs},
					[]int{s.created, s.bodies, s.confirmed, s.synced})
				for _, sent := range s.keys[:len(s.keys)-c.syncs] {
					assert.Equal(t, opened.Escrow.IdempotencyKey, sent, "one key for the deal and its approval")
				}
			})
		})
	}
}

// Rule: idempotency.escrow
func TestEscrowOpensOnce(t *testing.T) {
	for name, pause := range map[string]time.Duration{"at once": 0,
		"when its first approval is too late": 5 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _, escrows := newEscrowService(t)
				first, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
				require.NoError(t, err)
				time.Sleep(pause)
				if pause > 0 {
					s.deal["status"] = "pending_approval" // as if nobody had confirmed it
				}
				second, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
				require.NoError(t, err)
				assert.Equal(t, first.Escrow.ID, second.Escrow.ID)
				assert.Equal(t, dapi.EscrowStatusActive, second.Escrow.Status)
			})
		})
	}
}

func TestEscrowThatExpiredIsNotOpen(t *testing.T) {
	s, key, escrows := newEscrowService(t)
	s.first = []byte(`{"id":"esc_1","status":"expired","availableActions":[],"idempotencyKey":"deal-1"}`)
	_, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
	assert.Equal(t, dapi.EscrowID("esc_1"), as[*dapi.EscrowNotOpened](t, err).Escrow.ID)
	assert.ErrorContains(t, err, "escrow esc_1 expired before it was approved, so it never held money; "+
		"to open a deal, use a new key")
	assert.Zero(t, key.Approvals())
}

// Rule: idempotency.escrow-action, idempotency.echo
func TestEscrowActs(t *testing.T) {
	for action, want := range map[dapi.EscrowActionType]dapi.EscrowStatus{
		dapi.EscrowActionTypeRelease: dapi.EscrowStatusReleased, dapi.EscrowActionTypeRefund: dapi.EscrowStatusRefunded,
	} {
		for name, bare := range map[string]bool{"": false, ", answered bare": true} {
			t.Run(string(action)+name, func(t *testing.T) {
				s, _, escrows := newEscrowService(t)
				s.bare = bare
				opened, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
				require.NoError(t, err)
				ended, err := escrows.Act(t.Context(), deal(), opened.Escrow.ID, action, "action-1", dapi.DealTerms{})
				require.NoError(t, err)
				assert.Equal(t, want, ended.Escrow.Status)
			})
		}
	}
}

// If the service gives the same approval again, only it can say that it is over: this machine's clock may be wrong.
func TestEscrowApprovalThatIsOverAndGivenAgain(t *testing.T) {
	s, key, escrows := newEscrowService(t)
	opened, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
	require.NoError(t, err)
	s.over = true
	signed := key.Approvals()
	released, err := escrows.Act(t.Context(), deal(), opened.Escrow.ID, dapi.EscrowActionTypeRelease, "action-1",
		dapi.DealTerms{})
	require.NoError(t, err)
	assert.Equal(t, dapi.EscrowStatusReleased, released.Escrow.Status)
	assert.Equal(t, signed+1, key.Approvals(), "the first time it is not signed")
	assert.Equal(t, 2, s.bodies)
}

// The confirm of such an approval waits for its room: no end that this machine believes in ends the wait.
func TestEscrowApprovalThatIsOverWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, escrows := newEscrowService(t)
		opened, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
		require.NoError(t, err)
		for range 116 { // with two writes before, and two that prepare, these fill the window
			_, err := escrows.Create(t.Context(), deal(), moneymovement.IdempotencyKey("deal-1"))
			require.NoError(t, err)
		}
		s.over = true
		began := time.Now()
		released, err := escrows.Act(t.Context(), deal(), opened.Escrow.ID, dapi.EscrowActionTypeRelease, "action-1",
			dapi.DealTerms{})
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusReleased, released.Escrow.Status)
		assert.Greater(t, time.Since(began), 30*time.Second)
	})
}

func TestEscrowApprovalOfAnythingElseIsNotSigned(t *testing.T) {
	for name, c := range map[string]struct {
		distort func(action, members map[string]any)
		field   string
	}{
		"another action, openly": {func(_, m map[string]any) { m["operation"] = "escrow.approve" }, "operation"},
		"another action, hidden": {func(_, m map[string]any) { m["operation"] = "escrow.refund" }, "operation"},
		"a payout":               {func(_, m map[string]any) { m["operation"] = "payout.fund" }, "operation"},
		"another deal":           {func(_, m map[string]any) { m["resourceId"] = "esc_2" }, "resourceId"},
		"another account":        {func(_, m map[string]any) { m["account"] = "cl_1" }, "account"},
		"another amount":         {func(_, m map[string]any) { m["amount"] = "400" }, "amount"},
		"another asset":          {func(_, m map[string]any) { m["currency"] = "EURC" }, "currency"},
		"another payee": {func(_, m map[string]any) {
			m["destination"] = map[string]any{"address": "0x1"}
		}, "destination.address"},
		"a contact for the payee": {func(_, m map[string]any) {
			m["destination"] = map[string]any{"contactId": "ct_1"}
		}, "destination.contactId"},
	} {
		t.Run(name, func(t *testing.T) {
			s, key, escrows := newEscrowService(t)
			opened, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
			require.NoError(t, err)
			s.distort = c.distort
			refused, err := escrows.Act(t.Context(), deal(), opened.Escrow.ID, dapi.EscrowActionTypeRelease, "action-1",
				dapi.DealTerms{})
			require.Error(t, err)
			assert.Equal(t, c.field, as[*signing.ApprovalRefused](t, refused.Refusal).Field)
			assert.Equal(t, 1, key.Approvals(), "only the opening was signed")
			assert.Equal(t, 1, s.confirmed)
		})
	}
}

func TestEscrowConfirmOfNothing(t *testing.T) {
	s, key, escrows := newEscrowService(t)
	for _, prepared := range []*dapi.EscrowAction{nil, {}, {Approval: &dapi.Approval{}}} {
		_, err := escrows.Confirm(t.Context(), deal(), "esc_1", dapi.EscrowActionTypeApprove, prepared)
		as[*signing.ApprovalRefused](t, err)
	}
	assert.Zero(t, key.Approvals()+s.confirmed)
}

func TestEscrowOutcomeThatCannotBeReadIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, escrows := newEscrowService(t)
		s.lose, s.readable = 100, false
		_, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
		unknown := as[*errors.OutcomeUnknown](t, err)
		as[*errors.ApprovalConsumed](t, unknown.Cause)
		assert.Equal(t, errors.MaybeMoved, unknown.MovedByCall())
	})
}

// Rule: lifetime.escrow-refresh
func TestEscrowWaitKeepsThePaceOfTheChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, escrows := newEscrowService(t)
		opened, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
		require.NoError(t, err)
		time.AfterFunc(10*time.Minute, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.deal["status"] = "released"
		})
		var last time.Duration
		ended, err := escrows.Wait(t.Context(), opened.Escrow.ID,
			[]dapi.EscrowStatus{dapi.EscrowStatusReleased, dapi.EscrowStatusRefunded},
			moneymovement.OnProgress(func(p moneymovement.Progress) {
				if p.Reads > 1 {
					assert.GreaterOrEqual(t, p.Waited-last, 15*time.Second,
						"a deal is read from chain once in 15 seconds")
					assert.LessOrEqual(t, p.Waited-last, time.Minute, "and not much less often")
				}
				switch {
				case p.Reads == 2:
					assert.LessOrEqual(t, p.Waited, 30*time.Second)
				case p.Reads > 3:
					assert.GreaterOrEqual(t, p.Waited-last, 30*time.Second, "less often once it takes long")
				}
				last = p.Waited
			}))
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusReleased, ended.Status)
	})
}

// What is prepared once more, since the first approval was over, is looked at as the first was.
func TestActionThatIsPreparedAgainForAnotherKeyIsNotSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, key, escrows := newEscrowService(t)
		opened, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
		require.NoError(t, err)
		signed := key.Approvals()
		key.BeforeApproval(func(int) { // the first is over when it is sent
			time.Sleep(61 * time.Second)
			s.distort = func(action, _ map[string]any) { action["idempotencyKey"] = "action-2" }
		})
		_, err = escrows.Act(t.Context(), deal(), opened.Escrow.ID, dapi.EscrowActionTypeRelease, "action-1",
			dapi.DealTerms{})
		unknown := as[*errors.OutcomeUnknown](t, err)
		require.ErrorContains(t, unknown.Cause, "the action has another idempotency key")
		assert.Equal(t, signed+1, key.Approvals(), "the second is not signed")
		assert.Equal(t, "active", s.deal["status"])
	})
}
