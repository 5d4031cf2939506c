package dapi_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// A response without an action does not show that one was prepared.
func TestPrepareWithoutAnActionIsInDoubt(t *testing.T) {
	for _, body := range []string{`{}`, `{"action":null}`, `{"action":{}}`, `{"ok":true}`, `{"id":"esc_1"}`,
		`{"type":"release"}`, `{"action":{"type":"release"}}`} {
		t.Run(body, func(t *testing.T) {
			w := newPayWorld(t)
			opened, err := w.account.Escrows.Open(t.Context(), newEscrow(), "escrow-1", dapi.EscrowTerms{})
			require.NoError(t, err)
			w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusCreated, "").WithBody(body))
			_, err = w.account.Escrows.Prepare(t.Context(), opened.Escrow.ID, dapi.EscrowActionTypeRelease,
				moneymovement.IdempotencyKey("release-1"))
			inDoubt := as[*errors.InDoubt](t, err)
			assert.Equal(t, "PrepareEscrowAction", inDoubt.Operation)
			assert.Equal(t, "release-1", inDoubt.IdempotencyKey)
		})
	}
}

// The context can end while Open reads what became of an escrow, or waits for the next chain read, which its error
// shows.
func TestContextThatEndsWhileAnEscrowIsRead(t *testing.T) {
	for name, fault := range map[string]sandbox.Fault{
		"reading": sandbox.Delay(time.Hour),
		"waiting": sandbox.Delay(time.Nanosecond),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				account := w.account()
				w.Host.Arm("POST", "/escrow/*/actions/*/confirm",
					sandbox.Respond(http.StatusInternalServerError, "internal_error"))
				w.Host.Arm("POST", "/escrow/*/sync", fault)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				_, err := account.Escrows.Open(ctx, newEscrow(), "escrow-1", dapi.EscrowTerms{})
				inDoubt := as[*errors.InDoubt](t, err)
				assert.Equal(t, errors.MaybeMoved, inDoubt.MovedByCall(), "the outcome is in doubt, not the read")
				_, nested := errors.AsType[*errors.InDoubt](inDoubt.Cause)
				assert.False(t, nested, "one doubt is told once: %v", err)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
			})
		})
	}
}

// An escrow that does not say how old its projection is may be of before the action, and is read once more when the
// chain was read since.
func TestEscrowOutcomeIsReadTwiceAtMost(t *testing.T) {
	for name, tc := range map[string]struct {
		synced time.Duration // after the call began, or 0 if the escrow does not say
		again  bool
	}{
		"does not say":                                    {0, true},
		"is of before, as clocks may be off":              {3 * time.Second, true},
		"is of after, however much the clocks may be off": {3*time.Second + time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newEscrowWorld(t)
				w.Host.Arm("POST", confirmActionPath, sandbox.DropBefore().Times(100))
				began := time.Now()
				var reads []time.Duration
				w.onSuccess("POST", syncPath, func(escrow map[string]any) {
					reads = append(reads, time.Since(began))
					delete(escrow, "syncedAt")
					if tc.synced > 0 {
						escrow["syncedAt"] = began.Add(tc.synced).UTC().Format(time.RFC3339Nano)
					}
				})
				_, err := w.open(journaled())
				assertEscrowInDoubt(t, err)
				if !tc.again {
					assert.Len(t, reads, 1)
					return
				}
				require.Len(t, reads, 2)
				since := tc.synced
				if since == 0 {
					since = reads[0]
				}
				assert.InDelta(t, (18 * time.Second).Seconds(), (reads[1] - since).Seconds(), 0.5,
					"when the chain was read since")
			})
		})
	}
}

// A confirm whose response is about another escrow says nothing about this one. The next chain read does.
func TestEscrowConfirmResponseAboutAnotherEscrow(t *testing.T) {
	another := func(escrow map[string]any) { escrow["id"] = "esc_another" }
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.onSuccess("POST", confirmActionPath, another)
		opened, err := w.account().Escrows.Open(t.Context(), newEscrow(), "escrow-1", dapi.EscrowTerms{})
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusOK, "").
			WithBody(`{"id":"esc_another","status":"active"}`))
		_, err := w.account().Escrows.Open(t.Context(), newEscrow(), "escrow-1", dapi.EscrowTerms{})
		inDoubt := as[*errors.InDoubt](t, err)
		assert.Equal(t, "ConfirmEscrowAction", inDoubt.Operation)
		assert.Equal(t, "escrow-1", inDoubt.IdempotencyKey)
		assert.True(t, inDoubt.Retryable(), "as Resolve says")
	})
}

// The chain is read once in 15 seconds, so that an action right behind another returns the status from before it, and
// is a success.
//
// Rule: lifetime.escrow-refresh
func TestEscrowActionBeforeTheNextChainRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		escrows := w.account().Escrows
		opened, err := escrows.Open(t.Context(), newEscrow(), "escrow-1", dapi.EscrowTerms{})
		require.NoError(t, err)
		released, err := escrows.Act(t.Context(), newEscrow(), opened.Escrow.ID, dapi.EscrowActionTypeRelease,
			"action-1", dapi.EscrowTerms{})
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, released.Escrow.Status, "the stored projection")
		ended, err := escrows.Wait(w.Context(), opened.Escrow.ID, []dapi.EscrowStatus{dapi.EscrowStatusReleased})
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusReleased, ended.Status)
		again, err := escrows.Open(t.Context(), newEscrow(), "escrow-1", dapi.EscrowTerms{})
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusReleased, again.Escrow.Status, "opened once, and released since")
	})
}

// Clocks agree within some seconds, so that a projection from just before an action can seem to be from after it.
func TestEscrowOutcomeIsReadFromTheChainInSpiteOfTheClock(t *testing.T) {
	for _, ahead := range []time.Duration{-2400 * time.Millisecond, -1900 * time.Millisecond, 0,
		1900 * time.Millisecond, 2400 * time.Millisecond} {
		t.Run(ahead.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sandbox.WithClock(func() time.Time { return time.Now().Add(ahead) }))
				escrows := w.account().Escrows
				opened, err := escrows.Open(t.Context(), newEscrow(), "escrow-1", dapi.EscrowTerms{})
				require.NoError(t, err)
				w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit())
				released, err := escrows.Act(t.Context(), newEscrow(), opened.Escrow.ID, dapi.EscrowActionTypeRelease,
					"action-1", dapi.EscrowTerms{})
				require.NoError(t, err)
				assert.Equal(t, dapi.EscrowStatusReleased, released.Escrow.Status)
			})
		})
	}
}

const payee = worlds.Payee

func newEscrow() dapi.EscrowCreate {
	return dapi.EscrowCreate{Amount: amount("40"), Currency: dapi.USDC, Payee: payee, HoldFor: "14d"}
}

func newReleaseWorld(t *testing.T) (*escrowWorld, dapi.EscrowID) {
	t.Helper()
	w := newEscrowWorld(t)
	opened, err := w.open()
	require.NoError(t, err)
	return w, opened.Escrow.ID
}

func (w *escrowWorld) release(ctx context.Context, id dapi.EscrowID, options ...payOption) (dapi.EscrowResult, error) {
	return w.account.Escrows.Act(ctx, w.escrow, id, dapi.EscrowActionTypeRelease, "release-1",
		escrowTerms(options...))
}

// Without a journal, a refused action may have been taken by an earlier call. A zero history proves nothing.
func TestARefusedActionIsInDoubtWithoutAJournal(t *testing.T) {
	w, id := newReleaseWorld(t)
	w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit().Times(4))
	w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
	_, err := w.release(t.Context(), id)
	as[*errors.InDoubt](t, err)
	for name, refuse := range map[string]func() payOption{
		"by the caller": func() payOption {
			return beforeSigning(func(context.Context, *dapi.Payout) error { return errors.New("no") })
		},
		"for its rate": func() payOption {
			w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
				WithHeader("Retry-After", "3600"))
			return nil
		},
	} {
		w.account = w.integrator().Self() // another process
		again, err := w.release(t.Context(), id, refuse())
		as[*errors.InDoubt](t, err)
		assert.Equal(t, moneymovement.PaymentInDoubt, again.State, name)
		assert.False(t, again.Unpaid, name)
	}
}

// What a confirm by hand leaves in doubt is remembered for the key of its action.
func TestAnActionThatWasConfirmedByHand(t *testing.T) {
	w, id := newReleaseWorld(t)
	prepared, err := w.account.Escrows.Prepare(t.Context(), id, dapi.EscrowActionTypeRelease,
		moneymovement.IdempotencyKey("release-1"))
	require.NoError(t, err)
	w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit().Times(4))
	_, err = w.account.Escrows.Confirm(t.Context(), w.escrow, id, dapi.EscrowActionTypeRelease, prepared)
	as[*errors.InDoubt](t, err)
	w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
	_, err = w.release(t.Context(), id, journaled())
	as[*errors.InDoubt](t, err)
	assert.Equal(t, 1, w.Sent("PrepareEscrowAction"), "the escrow is read first, and nothing is prepared without it")
}

// An action in doubt of an escrow that has other terms now is not prepared.
func TestAnActionInDoubtOfAnEscrowWithOtherTerms(t *testing.T) {
	w, id := newReleaseWorld(t)
	w.onSuccess("POST", syncPath, func(escrow map[string]any) { escrow["amount"] = "31" })
	history := dapi.History{FirstUsed: time.Now(), EscrowID: id}
	taken, err := w.release(t.Context(), id, func(t *dapi.PayTerms) { t.History = history })
	as[*errors.InDoubt](t, err)
	assert.Equal(t, moneymovement.PaymentInDoubt, taken.State)
	assert.Zero(t, w.Sent("PrepareEscrowAction"))
}

// Every approval has expired when it is confirmed. Another call has opened the escrow meanwhile.
func TestAnEscrowThatAnotherCallOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEscrowWorld(t)
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusGone, "approval_expired").Times(2))
		w.onSuccess("POST", syncPath, func(escrow map[string]any) {
			escrow["status"], escrow["availableActions"] = "active", []string{"release"}
		})
		opened, err := w.open(journaled())
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
	})
}

// The confirm of an escrow was lost, or was accepted with an escrow from before it. An escrow that says that it has
// expired proves nothing until the chain was read again.
func TestExpiredEscrowIsReadFromTheChainAgain(t *testing.T) {
	const confirm, sync = "POST " + confirmActionPath, "POST " + syncPath
	for name, c := range map[string]struct {
		lost    bool
		expired []string // the responses that say so
		synced  string   // empty for after the confirm
		state   moneymovement.PaymentState
	}{
		"lost, and stored before": {true, []string{sync}, "2000-01-01T00:00:00Z", moneymovement.PaymentInDoubt},
		"lost, and read since":    {true, []string{sync}, "", moneymovement.PaymentEnded},
		"accepted, and stored before": {false, []string{confirm, sync}, "2000-01-01T00:00:00Z",
			moneymovement.PaymentInDoubt},
		"accepted, and read since": {false, []string{confirm}, "2000-01-01T00:00:00Z", moneymovement.PaymentPaid},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newEscrowWorld(t)
				if c.lost {
					w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit().Times(4))
				}
				w.onSuccessOf(c.expired, func(escrow map[string]any) {
					escrow["status"], escrow["availableActions"] = "expired", []string{}
					if escrow["syncedAt"] = c.synced; c.synced == "" {
						escrow["syncedAt"] = time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
					}
				})
				opened, err := w.open()
				assert.Equal(t, c.state, opened.State, "%v", err)
				assert.Equal(t, c.state == moneymovement.PaymentEnded, opened.Unpaid)
			})
		})
	}
}

// An action that is not available is a conflict, once the escrow tells that it was not taken.
func TestActionThatIsNotAvailable(t *testing.T) {
	t.Run("the escrow is refunded", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, id := newReleaseWorld(t)
			time.Sleep(15 * 24 * time.Hour)
			_, err := w.account.Escrows.Act(t.Context(), w.escrow, id, dapi.EscrowActionTypeRefund,
				"refund-1", dapi.EscrowTerms{})
			require.NoError(t, err)
			before := len(w.Host.Requests())
			_, err = w.release(t.Context(), id)
			as[*errors.Conflict](t, err)
			_, inDoubt := errors.AsType[*errors.InDoubt](err)
			assert.False(t, inDoubt)
			head, _ := errors.CallInfoOf(err)
			assert.Equal(t, string(id), head.Resource)
			assert.Len(t, w.Host.Requests(), before+2, "the escrow was read")
		})
	})
	t.Run("and the escrow cannot be read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, id := newReleaseWorld(t)
			w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusConflict, "conflict"))
			w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
			_, err := w.release(t.Context(), id)
			assertKeyInDoubt(t, err, "release-1", "call again with the same key and terms")
		})
	})
	t.Run("because it was taken, which the escrow shows later", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, id := newReleaseWorld(t)
			w.loseConfirms()
			_, err := w.release(t.Context(), id)
			assertKeyInDoubt(t, err, "release-1", "call again with the same key and terms")
			time.Sleep(time.Minute)
			reads := 0
			w.onSuccess("POST", syncPath, func(escrow map[string]any) {
				if reads++; reads == 1 {
					escrow["status"] = "active"
				}
			})
			w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusConflict, "conflict"))
			released, err := w.release(t.Context(), id)
			require.NoError(t, err)
			assert.Equal(t, dapi.EscrowStatusReleased, released.Escrow.Status)
			assert.Equal(t, 2, reads)
		})
	})
	t.Run("because it was taken, and its response was lost", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, id := newReleaseWorld(t)
			w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit().Times(4))
			w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
			_, err := w.release(t.Context(), id)
			assertKeyInDoubt(t, err, "release-1", "call again with the same key and terms")
			time.Sleep(time.Minute)
			w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusConflict, "conflict"))
			released, err := w.release(t.Context(), id)
			require.NoError(t, err, "the escrow tells")
			assert.Equal(t, dapi.EscrowStatusReleased, released.Escrow.Status)
		})
	})
}

// An action whose response was lost stays in doubt, whatever the next call meets.
func TestSecondCallOfAnActionInDoubt(t *testing.T) {
	for name, setback := range setbacks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, id := newReleaseWorld(t)
				w.loseConfirms()
				_, err := w.release(t.Context(), id)
				assertKeyInDoubt(t, err, "release-1", "call again with the same key and terms")
				ctx, cancel := setback(w.payWorld)
				defer cancel()
				_, err = w.release(ctx, id)
				assertKeyInDoubt(t, err, "release-1", "call again with the same key and terms")
				time.Sleep(10 * time.Minute) // for a login that its caller left alone
			})
		})
	}
}

// An approval that is consumed tells that its action was taken where the words of the escrow tell nothing, and only
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
				w.onSuccess("POST", syncPath, func(escrow map[string]any) {
					escrow["status"], escrow["availableActions"] = tc.status, tc.actions
				})
				_, err := w.release(t.Context(), id)
				if tc.taken {
					require.NoError(t, err)
					return
				}
				assertKeyInDoubt(t, err, "release-1", "call again with the same key and terms")
				as[*errors.ApprovalConsumed](t, refusalIn(err))
			})
		})
	}
}

// An action that this client has seen taken stays taken, whatever the escrow is said to be later.
func TestActionSeenAsTakenStaysTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, id := newReleaseWorld(t)
		_, err := w.release(t.Context(), id)
		require.NoError(t, err)
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusConflict, "approval_consumed"))
		w.onSuccess("POST", syncPath, func(escrow map[string]any) {
			escrow["status"], escrow["availableActions"] = "gone", []any{"release"}
		})
		_, err = w.release(t.Context(), id)
		require.NoError(t, err)
	})
}

// For an action that this version does not know, the status does not tell whether it was taken.
func TestActionOfAnUnknownType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, id := newReleaseWorld(t)
		w.Host.Arm("POST", "/escrow/*/actions", sandbox.DropBefore().Times(4))
		_, err := w.account.Escrows.Act(t.Context(), w.escrow, id, "extend", "extend-1", dapi.EscrowTerms{})
		assertKeyInDoubt(t, err, "extend-1", "call again with the same key and terms")
	})
}

// An action that the service prepares as another one is not signed, and needs a decision. Nobody says that it was taken
// before.
func TestActionThatIsPreparedAsAnother(t *testing.T) {
	w, id := newReleaseWorld(t)
	approvals := w.Key.Approvals()
	w.onSuccess("POST", "/escrow/*/actions", func(prepared map[string]any) {
		prepared["action"].(map[string]any)["type"] = "refund"
	})
	taken, err := w.release(t.Context(), id, journaled())
	assert.Equal(t, "action.type", as[*dapi.TermsDiffer](t, err).Member)
	assert.Equal(t, moneymovement.PaymentNeedsDecision, taken.State)
	assert.Equal(t, approvals, w.Key.Approvals())
}

// If the journal of an action fails, another process may take the action. This holds whatever type the journal's error
// has, also if the escrow cannot be read then.
func TestAnActionWhoseJournalFails(t *testing.T) {
	w, id := newReleaseWorld(t)
	w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
	taken, err := w.account.Escrows.Act(t.Context(), w.escrow, id, dapi.EscrowActionTypeRelease, "release-1",
		dapi.EscrowTerms{Journal: func(context.Context, dapi.History) error { return &errors.ApprovalExpired{} }})
	assertKeyInDoubt(t, err, "release-1", "call again with the same key and terms")
	assert.Equal(t, moneymovement.PaymentInDoubt, taken.State)
	assert.False(t, taken.Unpaid)
}

// What is refused plainly keeps its type.
func TestActionThatIsRefused(t *testing.T) {
	w, id := newReleaseWorld(t)
	w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusForbidden, "forbidden"))
	_, err := w.release(t.Context(), id, journaled())
	as[*errors.Forbidden](t, err)
	w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusForbidden, "signing_policy_refused"))
	_, err = w.release(t.Context(), id, journaled())
	as[*errors.SigningPolicyRefused](t, err)
	_, err = w.account.Escrows.Act(t.Context(), w.escrow, id, dapi.EscrowActionTypeRefund, "release-1",
		dapi.EscrowTerms{})
	assert.Equal(t, string(id), as[*errors.IdempotencyKeyReused](t, refusalIn(err)).Resource)
}

// An approval that says nowhere when it ends has the stated window from when it is confirmed, in another process
// perhaps.
//
// Rule: lifetime.payout-approval, lifetime.escrow-approval
func TestConfirmByHandOfAnApprovalWithoutExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEscrowWorld(t)
		var left []time.Duration
		account := w.integrator(func(d *dapi.Developer) {
			d.Verifier = func(_ context.Context, a signing.Approval, _ signing.Intent) error {
				left = append(left, time.Until(a.ExpiresAt).Round(time.Millisecond))
				return errors.New("not this one")
			}
		}).Self()
		booked, err := account.Payouts.Book(t.Context(), w.asked)
		require.NoError(t, err)
		created, err := account.Escrows.Create(t.Context(), w.escrow)
		require.NoError(t, err)
		*booked.Approval = dapi.Approval{ID: booked.Approval.ID, Payload: []byte("opaque")}
		*created.Action.Approval = dapi.Approval{ID: created.Action.Approval.ID, Payload: []byte("opaque")}
		_, err = account.Payouts.Confirm(t.Context(), w.asked, booked)
		as[*signing.ApprovalRefused](t, err)
		_, err = account.Escrows.Confirm(t.Context(), w.escrow, created.ID, dapi.EscrowActionTypeApprove,
			created.Action)
		as[*signing.ApprovalRefused](t, err)
		assert.Equal(t, []time.Duration{2 * time.Minute, time.Minute}, left)
		assert.True(t, booked.Approval.ExpiresAt.IsZero(), "the caller's own stays as it is")
	})
}

// Who confirms by hand learns that the approval is over, and nothing is signed.
func TestConfirmsByHandThatComeTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEscrowWorld(t)
		booked, err := w.account.Payouts.Book(t.Context(), w.asked)
		require.NoError(t, err)
		created, err := w.account.Escrows.Create(t.Context(), w.escrow)
		require.NoError(t, err)
		time.Sleep(121 * time.Second)
		_, err = w.account.Payouts.Confirm(t.Context(), w.asked, booked)
		assert.True(t, as[*signing.ApprovalRefused](t, err).Expired)
		_, err = w.account.Escrows.Confirm(t.Context(), w.escrow, created.ID, dapi.EscrowActionTypeApprove,
			created.Action)
		assert.True(t, as[*signing.ApprovalRefused](t, err).Expired)
		w.assertNothingHeld(t)
	})
}

// A confirm by hand whose response is about another escrow, or one of other terms, leaves in doubt what came of it.
func TestEscrowConfirmOfOtherTerms(t *testing.T) {
	for member, value := range map[string]any{"id": "esc_another", "amount": "400"} {
		t.Run(member, func(t *testing.T) {
			w := newEscrowWorld(t)
			created, err := w.account.Escrows.Create(t.Context(), w.escrow)
			require.NoError(t, err)
			w.onSuccess("POST", confirmActionPath, func(escrow map[string]any) { escrow[member] = value })
			confirmed, err := w.account.Escrows.Confirm(t.Context(), w.escrow, created.ID, dapi.EscrowActionTypeApprove,
				created.Action)
			assert.Nil(t, confirmed)
			inDoubt := as[*errors.InDoubt](t, err)
			of := errors.CallInfo{Operation: "ConfirmEscrowAction", Resource: string(created.ID),
				IdempotencyKey: created.Action.IdempotencyKey}
			assert.Equal(t, of, inDoubt.CallInfo)
			if member != "id" {
				assert.Equal(t, of, as[*dapi.TermsDiffer](t, inDoubt.Cause).CallInfo)
			}
		})
	}
}

// A confirm by hand whose response shows no escrow is settled by reading the escrow.
func TestEscrowConfirmThatShowsNoEscrow(t *testing.T) {
	for name, tc := range map[string]struct {
		arrange func(w *escrowWorld)
		carried bool
		settled bool
	}{
		"it was carried out": {nil, true, true},
		"it was not":         {nil, false, false},
		"the escrow cannot be read": {func(w *escrowWorld) {
			w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
		}, true, false},
		"the escrow read is not asked": {func(w *escrowWorld) {
			w.onSuccess("POST", syncPath, func(d map[string]any) { d["id"] = "esc_another" })
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEscrowWorld(t)
			created, err := w.account.Escrows.Create(t.Context(), w.escrow)
			require.NoError(t, err)
			fault := sandbox.Respond(http.StatusNoContent, "")
			if tc.carried {
				fault = fault.AfterCommit()
			}
			w.Host.Arm("POST", confirmActionPath, fault)
			if tc.arrange != nil {
				tc.arrange(w)
			}
			confirmed, err := w.account.Escrows.Confirm(t.Context(), w.escrow, created.ID, dapi.EscrowActionTypeApprove,
				created.Action)
			if tc.settled {
				require.NoError(t, err)
				assert.Equal(t, dapi.EscrowStatusActive, confirmed.Status)
				return
			}
			inDoubt := as[*errors.InDoubt](t, err)
			assert.Equal(t, "ConfirmEscrowAction", inDoubt.Operation)
			assert.Equal(t, string(created.ID), inDoubt.Resource)
			assert.Nil(t, confirmed)
		})
	}
}

// A confirm did not return the escrow. If the read of it is refused for the rate window, it is read no more: that read
// would be refused as well. The next call waits as long as the service asks.
func TestAnEscrowWhoseReadIsLimitedIsReadOnce(t *testing.T) {
	w := newEscrowWorld(t)
	w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusNoContent, "").AfterCommit())
	w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
		WithHeader("Retry-After", "300").Times(9))
	opened, err := w.open()
	assertEscrowInDoubt(t, err)
	assert.Equal(t, 1, w.Sent("SyncEscrow"))
	assert.WithinDuration(t, time.Now().Add(5*time.Minute), opened.RetryAt, 10*time.Second)
}

const confirmActionPath = "/escrow/*/actions/*/confirm"

// The confirm was carried out and its response lost; sent again, it is told that the window is over. What then keeps a
// new approval from being made says nothing about the first.
func TestAnExpiredWindowAfterALostResponseIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEscrowWorld(t)
		w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit())
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusGone, "approval_expired"))
		w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		opened, err := w.open()
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
		assert.Equal(t, 1, w.holdings())
	})
}

// What Open settles by itself. One key is that of the escrow, of its action and of its confirm.
// Rule: lifetime.escrow-approval, idempotency.escrow
func TestOpenEndsInOneEscrow(t *testing.T) {
	for name, c := range map[string]struct {
		arrange                   func(w *escrowWorld)
		prepared, confirms, syncs int // besides the action of the escrow's creation
	}{
		"nothing in the way": {confirms: 1},
		"the confirm's response is lost": {arrange: func(w *escrowWorld) {
			w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit())
		}, confirms: 2, syncs: 1},
		"its approval closes while it is signed": {arrange: func(w *escrowWorld) {
			w.waitBeforeSigning(61*time.Second, 1)
		}, prepared: 1, confirms: 2},
		"it was created before, and its first approval is over": {arrange: func(w *escrowWorld) {
			_, err := w.account.Escrows.Create(w.Context(), w.escrow, moneymovement.IdempotencyKey("escrow-1"))
			require.NoError(w, err)
			time.Sleep(5 * time.Minute)
		}, prepared: 1, confirms: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newEscrowWorld(t)
				if c.arrange != nil {
					c.arrange(w)
				}
				opened, err := w.open()
				require.NoError(t, err)
				assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
				assert.True(t, opened.Escrow.Can(dapi.EscrowActionTypeRelease))
				assert.Equal(t, 1, w.holdings())
				prepared, confirms := w.Requests("PrepareEscrowAction"), w.Requests("ConfirmEscrowAction")
				assert.Equal(t, []int{c.prepared, c.confirms, c.syncs},
					[]int{len(prepared), len(confirms), w.Sent("SyncEscrow")})
				for _, request := range append(prepared, confirms...) {
					assert.Equal(t, "escrow-1", request.IdempotencyKey)
				}
			})
		})
	}
}

// The response to a prepare can be the action itself.
// Rule: idempotency.escrow-action, idempotency.echo
func TestPrepareThatReturnsTheActionItself(t *testing.T) {
	w, id := newReleaseWorld(t)
	w.onSuccess("POST", "/escrow/*/actions", func(prepared map[string]any) {
		action := prepared["action"].(map[string]any)
		clear(prepared)
		maps.Copy(prepared, action)
	})
	_, err := w.release(t.Context(), id)
	require.NoError(t, err)
}

func TestActionsApprovalOfAnythingElseIsNotSigned(t *testing.T) {
	set := func(name string, value any) func(map[string]any) {
		return func(members map[string]any) { members[name] = value }
	}
	for name, c := range map[string]struct {
		change func(members map[string]any)
		field  string
	}{
		"another action":          {set("operation", "escrow.refund"), "operation"},
		"a payout":                {set("operation", "payout.fund"), "operation"},
		"another escrow":          {set("resourceId", "esc_2"), "resourceId"},
		"another account":         {set("account", "cl_1"), "account"},
		"another amount":          {set("amount", "400"), "amount"},
		"another asset":           {set("currency", "EURC"), "currency"},
		"another payee":           {set("destination", map[string]any{"address": "0x1"}), "destination.address"},
		"a contact for the payee": {set("destination", map[string]any{"contactId": "ct_1"}), "destination.contactId"},
	} {
		t.Run(name, func(t *testing.T) {
			w, id := newReleaseWorld(t)
			signed := w.Key.Approvals()
			w.onSuccess("POST", "/escrow/*/actions", func(prepared map[string]any) {
				w.rewritePayload(prepared["action"].(map[string]any), c.change)
			})
			refused, err := w.release(t.Context(), id)
			require.Error(t, err)
			assert.Equal(t, c.field, as[*signing.ApprovalRefused](t, refused.Refusal).Field)
			assert.Equal(t, signed, w.Key.Approvals())
		})
	}
}

// What is prepared once more, since the first approval was over, is compared as the first was.
func TestActionThatIsPreparedAgainForAnotherKeyIsNotSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, id := newReleaseWorld(t)
		signed := w.Key.Approvals()
		w.waitBeforeSigning(61*time.Second, signed+1)
		w.onSuccess("POST", "/escrow/*/actions", func(prepared map[string]any) {
			if w.Sent("PrepareEscrowAction") > 1 {
				prepared["action"].(map[string]any)["idempotencyKey"] = "action-2"
			}
		})
		_, err := w.release(t.Context(), id)
		require.ErrorContains(t, as[*errors.InDoubt](t, err).Cause, "the action has another idempotency key")
		assert.Equal(t, signed+1, w.Key.Approvals(), "the second is not signed")
	})
}

// Without a Date header only the service can say that an approval is over: this machine's clock may be ahead. If the
// service gives it again, it is signed, and its confirm waits for room in the rate window.
func TestActionApprovalThatIsReturnedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		behind := sandbox.WithClock(func() time.Time { return time.Now().Add(-130 * time.Second) })
		w := &escrowWorld{newPayWorld(t, behind), newEscrow()}
		opened, err := w.open()
		require.NoError(t, err)
		w.Wire.OnResponse(func(_ *http.Request, response *http.Response) { response.Header.Del("Date") })
		var first *httptest.ResponseRecorder
		prepares, next := 0, w.Wire.Handler
		w.Wire.Handler = http.HandlerFunc(func(response http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/actions") {
				next.ServeHTTP(response, r)
				return
			}
			if prepares++; prepares == 1 {
				first = httptest.NewRecorder()
				next.ServeHTTP(first, r)
			}
			maps.Copy(response.Header(), first.Header())
			response.WriteHeader(first.Code)
			_, _ = response.Write(first.Body.Bytes())
		})
		w.account = w.Integrator(w.Developer()).Self()
		for range 118 { // with two that prepare, these fill the window
			_, err := w.account.Escrows.Create(t.Context(), w.escrow, moneymovement.IdempotencyKey("escrow-1"))
			require.NoError(t, err)
		}
		time.Sleep(25 * time.Second) // so that there is room again while the approval is open
		signed, began := w.Key.Approvals(), time.Now()
		_, err = w.release(t.Context(), opened.Escrow.ID)
		require.NoError(t, err)
		assert.Equal(t, 2, prepares)
		assert.Equal(t, signed+1, w.Key.Approvals(), "the first time it is not signed")
		assert.Greater(t, time.Since(began), 30*time.Second)
	})
}
