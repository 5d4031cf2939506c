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

const confirmActionPath = "/escrow/*/actions/*/confirm"

// escrowSteps are the requests of an action, with what has to happen for the last two.
var escrowSteps = map[string]struct {
	path string
	lead func(host *sandbox.Host)
}{
	"create":  {"/escrow", nil},
	"confirm": {confirmActionPath, nil},
	"prepare": {"/escrow/*/actions", func(host *sandbox.Host) {
		host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusGone, "approval_expired"))
	}},
	"sync": {"/escrow/*/sync", func(host *sandbox.Host) {
		host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusConflict, "approval_consumed"))
	}},
}

// escrowActing is one action of a deal, tried any number of times with one key.
type escrowActing struct {
	*world
	account *dapi.Account
	action  dapi.EscrowActionType
	deal    dapi.EscrowID // for all but the first action
}

func newEscrowActing(t *testing.T, action dapi.EscrowActionType) *escrowActing {
	t.Helper()
	w := newWorld(t)
	e := &escrowActing{world: w, account: w.account(), action: action}
	if action == dapi.EscrowActionTypeApprove {
		return e
	}
	opened, err := e.account.Escrows.Open(t.Context(), deal(), "deal-0")
	e.ended(err)
	require.NoError(t, err)
	e.deal = opened.ID
	if action == dapi.EscrowActionTypeRefund {
		time.Sleep(15 * 24 * time.Hour) // past the hold window
	}
	return e
}

// moved is how often the action moved the deal's money.
func (e *escrowActing) moved() (count int) {
	kind := map[dapi.EscrowActionType]string{"approve": "escrow_active", "release": "escrow_released",
		"refund": "escrow_refunded"}[e.action]
	for _, entry := range e.Host.Ledger().Entries {
		if entry.Kind == kind && entry.Amount.IsNegative() {
			count++
		}
	}
	return count
}

// attempt acts once and judges what came back by the ledger.
func (e *escrowActing) attempt(timeout time.Duration) (done bool) {
	ctx, cancel := context.WithTimeout(e.Context(), timeout)
	defer cancel()
	key := moneymovement.Key("deal-1")
	before := e.moved()
	var came *dapi.Escrow
	var err error
	if e.action == dapi.EscrowActionTypeApprove {
		came, err = e.account.Escrows.Open(ctx, deal(), key)
	} else {
		came, err = e.account.Escrows.Act(ctx, deal(), e.deal, e.action, key)
	}
	e.ended(err)
	after := e.moved()
	if err == nil {
		assert.Equal(e, 1, after, "a success is one")
		assert.NotEmpty(e, came.ID)
		return true
	}
	if after > before {
		assert.NotEqual(e, errors.NotMoved, as[errors.Failure](e.T, err).MovedByCall(), "%v", err)
	}
	return false
}

// TestEveryFaultAtEveryStepOfAnEscrow is [TestEveryFaultAtEveryStep] for a deal and its actions.
//
// Rule: idempotency.escrow, idempotency.escrow-action
func TestEveryFaultAtEveryStepOfAnEscrow(t *testing.T) {
	courses := map[string]struct {
		times   int
		timeout time.Duration
	}{"once": {1, time.Hour}, "for long, the caller leaves": {6, 5 * time.Second}}
	for _, action := range []dapi.EscrowActionType{dapi.EscrowActionTypeApprove, dapi.EscrowActionTypeRelease,
		dapi.EscrowActionTypeRefund} {
		for step, at := range escrowSteps {
			if step == "create" && action != dapi.EscrowActionTypeApprove {
				continue
			}
			for fault, goesWrong := range faults {
				for course, c := range courses {
					t.Run(string(action)+"/"+step+"/"+fault+"/"+course, func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							e := newEscrowActing(t, action)
							if at.lead != nil {
								at.lead(e.Host)
							}
							armed := e.Host.Arm("POST", at.path, goesWrong.Times(c.times))
							done := e.attempt(c.timeout)
							assert.Positive(t, armed.Consumed(), "it did happen")
							for range 20 {
								if done {
									break
								}
								time.Sleep(time.Minute)
								e.account = e.integrator().Self() // a restarted process knows the key and the terms
								done = e.attempt(24 * time.Hour)
							}
							assert.True(t, done)
							assert.Equal(t, 1, e.moved())
							time.Sleep(10 * time.Minute) // for a login that its caller left alone
						})
					})
				}
			}
		}
	}
}

// The confirm was carried out and its answer lost; sent again, it is told that the window is over. What then keeps a
// new approval from being made says nothing about the first.
func TestAnExpiredWindowAfterALostAnswerIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEscrowActing(t, dapi.EscrowActionTypeApprove)
		e.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit())
		e.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusGone, "approval_expired"))
		e.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		opened, err := e.account.Escrows.Open(t.Context(), deal(), "deal-1")
		e.ended(err)
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, opened.Status)
		assert.Equal(t, 1, e.moved())
	})
}
