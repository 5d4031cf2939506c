package dapi_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
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

// A payout is seen to leave and to arrive, and its money to come back, each soon after it happens.
func TestFollowDeliversWhatHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t,
			sandbox.WithSettings(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) }))
		account := w.account()
		contact := w.Contact(account.Contacts, wallet())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var payout *dapi.Payout
		began := time.Now()
		time.AfterFunc(10*time.Minute, func() {
			var err error
			payout, err = account.Payouts.Pay(ctx,
				dapi.PayoutCreate{ContactID: contact, Amount: amount("20"), Currency: dapi.USDC}, "payout-1")
			assert.NoError(t, err)
		})
		time.AfterFunc(5*time.Hour, func() {
			completed, err := account.Payouts.Get(ctx, payout.ID)
			assert.NoError(t, err)
			assert.True(t, completed.Status.Final())
			_, err = account.Sandbox.SetPayoutStatus(ctx, payout.ID, dapi.PayoutStatusRefunded)
			assert.NoError(t, err)
		})

		var got []string
		var at []time.Duration
		var looks int
		for change, err := range account.Transactions.Follow(ctx, dapi.ChangesParams{},
			moneymovement.PollEvery(time.Second, 30*time.Second),
			moneymovement.OnProgress(func(p moneymovement.Progress) {
				looks++
				assert.Equal(t, "ledger", p.Resource)
				assert.Equal(t, "self", p.ID)
			})) {
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
				got = append(got, "ended")
				continue
			}
			got = append(got, string(change.Transaction.Type)+" "+string(change.Transaction.Status))
			at = append(at, time.Since(began))
			if change.Transaction.Type == dapi.TransactionTypeRefund {
				assert.Equal(t, payout.ID, change.Transaction.PayoutID)
				cancel()
			}
		}
		assert.Equal(t, []string{"deposit completed", "deposit completed", "payout pending", "payout completed",
			"refund completed", "ended"}, got)
		for i, when := range []time.Duration{0, 0, 10 * time.Minute, 130 * time.Minute, 5 * time.Hour} {
			assert.InDelta(t, float64(when), float64(at[i]), float64(31*time.Second))
		}
		assert.Equal(t, looks, w.Sent("ListTransactions"), "a look at a small ledger is one read")
		assert.Less(t, looks, 1300, "they get rarer while nothing changes")
	})
}

// A ledger that changes all the time is not read all the time.
func TestFollowPausesAfterChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.account()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, err := range account.Transactions.Follow(ctx, dapi.ChangesParams{},
			moneymovement.PollEvery(2*time.Second, 10*time.Second)) {
			if err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				break
			}
			_, err := account.Sandbox.Deposit(t.Context(), dapi.DepositCreate{Amount: amount("1"), Currency: dapi.USDC},
				moneymovement.IdempotencyKey(moneymovement.Key(rand.Text())))
			require.NoError(t, err)
		}
		assert.LessOrEqual(t, w.Sent("ListTransactions"), 31)
	})
}

// The loop can be left at any time, and another program goes on from the stored position.
func TestFollowIsTakenUpAgain(t *testing.T) {
	w := newWorld(t)
	account := w.account()
	var params dapi.ChangesParams
	for range 2 {
		for change, err := range account.Transactions.Follow(t.Context(), params) {
			require.NoError(t, err)
			stored, err := json.Marshal(change.Position)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(stored, &params.Position))
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	for change, err := range w.integrator().Self().Transactions.Follow(ctx, params,
		moneymovement.OnProgress(func(moneymovement.Progress) { cancel() })) {
		require.ErrorIs(t, err, context.Canceled)
		assert.Zero(t, change, "both were dealt with")
	}
}

func TestFollowOutlivesFailedLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.account()
		w.Host.Arm("GET", "/transactions", sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").
			Times(20))
		for change, err := range account.Transactions.Follow(t.Context(), dapi.ChangesParams{}) {
			require.NoError(t, err)
			assert.Equal(t, "100", change.Transaction.Amount.String())
			break
		}
		w.Host.Arm("GET", "/transactions", sandbox.Respond(http.StatusForbidden, "forbidden"))
		times := 0
		for _, err := range account.Transactions.Follow(t.Context(), dapi.ChangesParams{}) {
			as[*errors.Forbidden](t, err)
			times++
		}
		assert.Equal(t, 1, times, "it ends")
	})
}

// limiterFunc is a rate limiter that lets every call pass.
type limiterFunc func(moneymovement.RateCall)

func (f limiterFunc) Wait(_ context.Context, call moneymovement.RateCall) error {
	f(call)
	return nil
}

// Looks leave room in the window of reads to other calls, as all waits do.
func TestFollowReadsAsAWait(t *testing.T) {
	w := newWorld(t)
	var classes []moneymovement.RateClass
	account := w.Integrator(w.Developer(), moneymovement.WithRateLimiter(
		limiterFunc(func(call moneymovement.RateCall) {
			if call.Window == moneymovement.WindowReads {
				classes = append(classes, call.Class)
			}
		}))).Self()
	w.Credit(account.Sandbox, "1", dapi.USDC)
	classes = nil
	for _, err := range account.Transactions.Changes(t.Context(), dapi.ChangesParams{}) {
		require.NoError(t, err)
	}
	for _, err := range account.Transactions.Follow(t.Context(), dapi.ChangesParams{}) {
		require.NoError(t, err)
		break
	}
	assert.Equal(t, []moneymovement.RateClass{moneymovement.ClassRead, moneymovement.ClassPoll}, classes)
}

func TestWhatCannotBeFollowed(t *testing.T) {
	w := newWorld(t)
	platform := w.integrator()
	w.Credit(platform.Self().Sandbox, "1", dapi.USDC)
	var own dapi.LedgerPosition
	for change, err := range platform.Self().Transactions.Changes(t.Context(), dapi.ChangesParams{}) {
		require.NoError(t, err)
		own = change.Position
	}
	sent := w.Sent("ListTransactions")
	for field, params := range map[string]dapi.ChangesParams{
		"position": {Position: own}, "lateBy": {LateBy: -1}, "pendingFor": {PendingFor: -1},
	} {
		times := 0
		check := func(_ dapi.TransactionChange, err error) bool {
			times++
			assert.Equal(t, field, as[*errors.InvalidInput](t, err).Fields[0].Field)
			return true
		}
		platform.For("cl_acme").Transactions.Changes(t.Context(), params)(check)
		platform.For("cl_acme").Transactions.Follow(t.Context(), params)(check)
		assert.Equal(t, 2, times)
	}
	assert.Equal(t, sent, w.Sent("ListTransactions"))
}
