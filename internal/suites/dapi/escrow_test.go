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
	"github.com/moneymovement/moneymovement-go/internal/suites/worlds"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// An answer without an action does not show that one was prepared.
func TestPrepareWithoutAnActionIsUnknown(t *testing.T) {
	for _, body := range []string{`{}`, `{"action":null}`, `{"action":{}}`, `{"ok":true}`, `{"id":"esc_1"}`,
		`{"type":"release"}`, `{"action":{"type":"release"}}`} {
		t.Run(body, func(t *testing.T) {
			w := newPayWorld(t)
			opened, err := w.account.Escrows.Open(t.Context(), deal(), "deal-1")
			w.ended(err)
			require.NoError(t, err)
			w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusCreated, "").WithBody(body))
			_, err = w.account.Escrows.Prepare(t.Context(), opened.ID, dapi.EscrowActionTypeRelease,
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
	opened, err := w.account.Escrows.Open(t.Context(), deal(), "...")
	w.ended(err)
	require.NoError(t, err)
	for _, key := range []moneymovement.Key{".", ".."} {
		sent := len(w.Host.Requests())
		option := moneymovement.IdempotencyKey(key)
		for name, call := range map[string]func() error{
			"open":   func() error { _, err := w.account.Escrows.Open(t.Context(), deal(), key); return err },
			"create": func() error { _, err := w.account.Escrows.Create(t.Context(), deal(), option); return err },
			"act": func() error {
				_, err := w.account.Escrows.Act(t.Context(), deal(), opened.ID, dapi.EscrowActionTypeRelease, key)
				w.ended(err)
				return err
			},
			"prepare": func() error {
				_, err := w.account.Escrows.Prepare(t.Context(), opened.ID, dapi.EscrowActionTypeRelease, option)
				return err
			},
			"check": func() error { return dapi.CheckOpen(deal(), key) },
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
				_, err := account.Escrows.Open(ctx, deal(), "deal-1")
				w.ended(err)
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
				_, err := w.open(dapi.FirstUse())
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
		opened, err := w.account().Escrows.Open(t.Context(), deal(), "deal-1")
		w.ended(err)
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, opened.Status)
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusOK, "").
			WithBody(`{"id":"esc_another","status":"active"}`))
		_, err := w.account().Escrows.Open(t.Context(), deal(), "deal-1")
		w.ended(err)
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
		opened, err := escrows.Open(t.Context(), deal(), "deal-1")
		require.NoError(t, err)
		released, err := escrows.Act(t.Context(), deal(), opened.ID, dapi.EscrowActionTypeRelease, "action-1")
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, released.Status, "the stored projection")
		ended, err := escrows.Wait(t.Context(), opened.ID, []dapi.EscrowStatus{dapi.EscrowStatusReleased})
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
				opened, err := escrows.Open(t.Context(), deal(), "deal-1")
				require.NoError(t, err)
				w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit())
				released, err := escrows.Act(t.Context(), deal(), opened.ID, dapi.EscrowActionTypeRelease, "action-1")
				require.NoError(t, err)
				assert.Equal(t, dapi.EscrowStatusReleased, released.Status)
			})
		})
	}
}

const payee = worlds.Payee

func deal() dapi.EscrowCreate {
	return dapi.EscrowCreate{Amount: amount("40"), Currency: dapi.USDC, Payee: payee, HoldFor: "14d"}
}
