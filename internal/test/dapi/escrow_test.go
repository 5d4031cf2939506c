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
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// An answer without an action does not show that one was prepared.
func TestPrepareWithoutAnActionIsUnknown(t *testing.T) {
	for _, body := range []string{`{}`, `{"action":null}`, `{"action":{}}`, `{"ok":true}`, `{"id":"esc_1"}`,
		`{"type":"release"}`, `{"action":{"type":"release"}}`} {
		t.Run(body, func(t *testing.T) {
			w := newPayWorld(t)
			opened, err := w.DealEnded(w.account.Escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{}))
			require.NoError(t, err)
			w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusCreated, "").WithBody(body))
			_, err = w.account.Escrows.Prepare(t.Context(), opened.Escrow.ID, dapi.EscrowActionTypeRelease,
				moneymovement.IdempotencyKey("release-1"))
			unknown := as[*errors.OutcomeUnknown](t, err)
			assert.Equal(t, "PrepareEscrowAction", unknown.Operation)
			assert.Equal(t, "release-1", unknown.IdempotencyKey)
		})
	}
}

// The key of an action is part of the path of its confirm. The keys . and .. match the stated pattern, but would make
// it another path: they are refused before a deal is there that nobody can approve.
func TestAKeyThatNoPathCanHave(t *testing.T) {
	w := newPayWorld(t)
	opened, err := w.DealEnded(w.account.Escrows.Open(t.Context(), deal(), "...", dapi.DealTerms{}))
	require.NoError(t, err)
	for _, key := range []moneymovement.Key{".", ".."} {
		sent := len(w.Host.Requests())
		option := moneymovement.IdempotencyKey(key)
		for name, call := range map[string]func() error{
			"open": func() error {
				_, err := w.account.Escrows.Open(t.Context(), deal(), key, dapi.DealTerms{})
				return err
			},
			"create": func() error { _, err := w.account.Escrows.Create(t.Context(), deal(), option); return err },
			"act": func() error {
				_, err := w.DealEnded(w.account.Escrows.Act(t.Context(), deal(), opened.Escrow.ID,
					dapi.EscrowActionTypeRelease, key, dapi.DealTerms{}))
				return err
			},
			"prepare": func() error {
				_, err := w.account.Escrows.Prepare(t.Context(), opened.Escrow.ID, dapi.EscrowActionTypeRelease, option)
				return err
			},
		} {
			invalid := as[*errors.InvalidInput](t, call())
			assert.Equal(t, "Idempotency-Key", invalid.Fields[0].Field, name)
			assert.Contains(t, invalid.Fields[0].Message, "use another key")
		}
		assert.Len(t, w.Host.Requests(), sent, "nothing was sent")
		_, err := w.payAs(key) // which is in no path
		require.NoError(t, err)
	}
}

// The context can end while Open reads what became of a deal, or waits for the next chain read, which its error shows.
func TestContextThatEndsWhileADealIsRead(t *testing.T) {
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
				_, err := w.DealEnded(account.Escrows.Open(ctx, deal(), "deal-1", dapi.DealTerms{}))
				unknown := as[*errors.OutcomeUnknown](t, err)
				assert.Equal(t, errors.MaybeMoved, unknown.MovedByCall(), "it is not the reading that is unknown")
				_, nested := errors.AsType[*errors.OutcomeUnknown](unknown.Cause)
				assert.False(t, nested, "one doubt is told once: %v", err)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
			})
		})
	}
}

// A deal that does not say how old its projection is may be of before the action, and is read once more when the chain
// was read since.
func TestEscrowOutcomeIsReadTwiceAtMost(t *testing.T) {
	for name, tc := range map[string]struct {
		synced time.Duration // after the call began, or 0 if the deal does not say
		again  bool
	}{
		"does not say":                                    {0, true},
		"is of before, as clocks may be off":              {3 * time.Second, true},
		"is of after, however much the clocks may be off": {3*time.Second + time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newDealWorld(t)
				w.Host.Arm("POST", confirmActionPath, sandbox.DropBefore().Times(100))
				began := time.Now()
				var reads []time.Duration
				w.onSuccess("POST", syncPath, func(deal map[string]any) {
					reads = append(reads, time.Since(began))
					delete(deal, "syncedAt")
					if tc.synced > 0 {
						deal["syncedAt"] = began.Add(tc.synced).UTC().Format(time.RFC3339Nano)
					}
				})
				_, err := w.open(journaled())
				assertDealInDoubt(t, err)
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

// A confirm whose answer is about another deal says nothing about this one. The next chain read does.
func TestEscrowConfirmAnswerAboutAnotherDeal(t *testing.T) {
	another := func(deal map[string]any) { deal["id"] = "esc_another" }
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.onSuccess("POST", confirmActionPath, another)
		opened, err := w.DealEnded(w.account().Escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{}))
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusOK, "").
			WithBody(`{"id":"esc_another","status":"active"}`))
		_, err := w.DealEnded(w.account().Escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{}))
		unknown := as[*errors.OutcomeUnknown](t, err)
		assert.Equal(t, "ConfirmEscrowAction", unknown.Operation)
		assert.Equal(t, "deal-1", unknown.IdempotencyKey)
		assert.True(t, unknown.Retryable(), "as Resolve says")
	})
}

// The chain is read once in 15 seconds, so that an action right behind another answers the status from before it, and
// is a success.
//
// Rule: lifetime.escrow-refresh
func TestEscrowActsFasterThanTheChainIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		escrows := w.account().Escrows
		opened, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
		require.NoError(t, err)
		released, err := escrows.Act(t.Context(), deal(), opened.Escrow.ID, dapi.EscrowActionTypeRelease, "action-1",
			dapi.DealTerms{})
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, released.Escrow.Status, "the stored projection")
		ended, err := escrows.Wait(w.Context(), opened.Escrow.ID, []dapi.EscrowStatus{dapi.EscrowStatusReleased})
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusReleased, ended.Status)
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
				opened, err := escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{})
				require.NoError(t, err)
				w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit())
				released, err := escrows.Act(t.Context(), deal(), opened.Escrow.ID, dapi.EscrowActionTypeRelease,
					"action-1", dapi.DealTerms{})
				require.NoError(t, err)
				assert.Equal(t, dapi.EscrowStatusReleased, released.Escrow.Status)
			})
		})
	}
}

const payee = worlds.Payee

func deal() dapi.EscrowCreate {
	return dapi.EscrowCreate{Amount: amount("40"), Currency: dapi.USDC, Payee: payee, HoldFor: "14d"}
}

func newReleaseWorld(t *testing.T) (*dealWorld, dapi.EscrowID) {
	t.Helper()
	w := newDealWorld(t)
	opened, err := w.open()
	require.NoError(t, err)
	return w, opened.Escrow.ID
}

func (w *dealWorld) release(ctx context.Context, id dapi.EscrowID, options ...payOption) (dapi.Deal, error) {
	return w.DealEnded(w.account.Escrows.Act(ctx, w.deal, id, dapi.EscrowActionTypeRelease, "release-1",
		dealTerms(options...)))
}

// Without a journal, a refused action may have been taken by an earlier call. A zero history proves nothing.
func TestARefusedActionIsInDoubtWithoutAJournal(t *testing.T) {
	w, id := newReleaseWorld(t)
	w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit().Times(4))
	w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
	_, err := w.release(t.Context(), id)
	as[*errors.OutcomeUnknown](t, err)
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
		as[*errors.OutcomeUnknown](t, err)
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
	_, err = w.account.Escrows.Confirm(t.Context(), w.deal, id, dapi.EscrowActionTypeRelease, prepared)
	as[*errors.OutcomeUnknown](t, err)
	w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
	_, err = w.release(t.Context(), id, journaled())
	as[*errors.OutcomeUnknown](t, err)
	assert.Equal(t, 1, w.Sent("PrepareEscrowAction"), "the deal is read first, and nothing is prepared without it")
}

// An action in doubt of a deal that has other terms now is not prepared.
func TestAnActionInDoubtOfADealWithOtherTerms(t *testing.T) {
	w, id := newReleaseWorld(t)
	w.onSuccess("POST", syncPath, func(deal map[string]any) { deal["amount"] = "31" })
	history := dapi.History{FirstUsed: time.Now(), EscrowID: id}
	taken, err := w.release(t.Context(), id, func(t *dapi.PayTerms) { t.History = history })
	as[*errors.OutcomeUnknown](t, err)
	assert.Equal(t, moneymovement.PaymentInDoubt, taken.State)
	assert.Zero(t, w.Sent("PrepareEscrowAction"))
}

// Every approval has expired when it is confirmed. Another call has opened the deal meanwhile.
func TestADealThatAnotherCallOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDealWorld(t)
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusGone, "approval_expired").Times(2))
		w.onSuccess("POST", syncPath, func(deal map[string]any) {
			deal["status"], deal["availableActions"] = "active", []string{"release"}
		})
		opened, err := w.open(journaled())
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
	})
}

// The confirm of a deal was lost, or was accepted with a deal from before it. A deal that says that it has expired
// proves nothing until the chain was read again.
func TestAnExpiredDealFromBeforeItsConfirm(t *testing.T) {
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
				w := newDealWorld(t)
				if c.lost {
					w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit().Times(4))
				}
				w.onSuccessOf(c.expired, func(deal map[string]any) {
					deal["status"], deal["availableActions"] = "expired", []string{}
					if deal["syncedAt"] = c.synced; c.synced == "" {
						deal["syncedAt"] = time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
					}
				})
				opened, err := w.open()
				assert.Equal(t, c.state, opened.State, "%v", err)
				assert.Equal(t, c.state == moneymovement.PaymentEnded, opened.Unpaid)
			})
		})
	}
}

// An action that is not available is a conflict, once the deal tells that it was not taken.
func TestActionThatIsNotAvailable(t *testing.T) {
	t.Run("the deal is refunded", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, id := newReleaseWorld(t)
			time.Sleep(15 * 24 * time.Hour)
			_, err := w.DealEnded(w.account.Escrows.Act(t.Context(), w.deal, id, dapi.EscrowActionTypeRefund,
				"refund-1", dapi.DealTerms{}))
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
	t.Run("because it was taken, which the deal shows later", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, id := newReleaseWorld(t)
			w.loseConfirms()
			_, err := w.release(t.Context(), id)
			assertUnknown(t, err, "release-1", "call again with the same key and terms")
			time.Sleep(time.Minute)
			reads := 0
			w.onSuccess("POST", syncPath, func(deal map[string]any) {
				if reads++; reads == 1 {
					deal["status"] = "active"
				}
			})
			w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusConflict, "conflict"))
			released, err := w.release(t.Context(), id)
			require.NoError(t, err)
			assert.Equal(t, dapi.EscrowStatusReleased, released.Escrow.Status)
			assert.Equal(t, 2, reads)
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
			assert.Equal(t, dapi.EscrowStatusReleased, released.Escrow.Status)
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
		_, err := w.DealEnded(w.account.Escrows.Act(t.Context(), w.deal, id, "extend", "extend-1", dapi.DealTerms{}))
		assertUnknown(t, err, "extend-1", "call again with the same key and terms")
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
// has, also if the deal cannot be read then.
func TestAnActionWhoseJournalFails(t *testing.T) {
	w, id := newReleaseWorld(t)
	w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
	taken, err := w.DealEnded(w.account.Escrows.Act(t.Context(), w.deal, id, dapi.EscrowActionTypeRelease, "release-1",
		dapi.DealTerms{Journal: func(context.Context, dapi.History) error { return &errors.ApprovalExpired{} }}))
	assertUnknown(t, err, "release-1", "call again with the same key and terms")
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
	_, err = w.DealEnded(w.account.Escrows.Act(t.Context(), w.deal, id, dapi.EscrowActionTypeRefund, "release-1",
		dapi.DealTerms{}))
	assert.Equal(t, string(id), as[*errors.IdempotencyKeyReused](t, refusalIn(err)).Resource)
}

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

// If the deal that a confirm did not return cannot be read for its rate, it is read no more: that read would be refused
// as well. The next call waits as long as the service asks.
func TestADealWhoseReadIsLimitedIsReadOnce(t *testing.T) {
	w := newDealWorld(t)
	w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusNoContent, "").AfterCommit())
	w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
		WithHeader("Retry-After", "300").Times(9))
	opened, err := w.open()
	assertDealInDoubt(t, err)
	assert.Equal(t, 1, w.Sent("SyncEscrow"))
	assert.WithinDuration(t, time.Now().Add(5*time.Minute), opened.RetryAt, 10*time.Second)
}

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
	opened, err := e.DealEnded(e.account.Escrows.Open(t.Context(), deal(), "deal-0", dapi.DealTerms{}))
	require.NoError(t, err)
	e.deal = opened.Escrow.ID
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
	var came dapi.Deal
	var err error
	if e.action == dapi.EscrowActionTypeApprove {
		came, err = e.DealEnded(e.account.Escrows.Open(ctx, deal(), key, dapi.DealTerms{}))
	} else {
		came, err = e.DealEnded(e.account.Escrows.Act(ctx, deal(), e.deal, e.action, key, dapi.DealTerms{}))
	}
	after := e.moved()
	if err == nil {
		assert.Equal(e, 1, after, "a success is one")
		assert.NotEmpty(e, came.Escrow.ID)
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
		opened, err := e.DealEnded(e.account.Escrows.Open(t.Context(), deal(), "deal-1", dapi.DealTerms{}))
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
		assert.Equal(t, 1, e.moved())
	})
}
