package dapi_test

import (
	"context"
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

func TestWaitAllGivesEachPayoutAsSoonAsItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t,
			sandbox.WithSettings(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) }))
		account := w.account()
		contact := w.Contact(account.Contacts, wallet())
		var ids []dapi.PayoutID
		for _, value := range []string{"10", "20", "30"} {
			payout, err := account.Payouts.Pay(t.Context(), dapi.PayoutCreate{ContactID: contact, Amount: amount(value),
				Currency: dapi.USDC}, moneymovement.Key("payout-"+value))
			require.NoError(t, err)
			ids = append(ids, payout.ID)
		}
		began := time.Now()
		end := func(id dapi.PayoutID, after time.Duration, status dapi.PayoutStatus) {
			time.AfterFunc(after, func() {
				_, err := account.Sandbox.SetPayoutStatus(t.Context(), id, status)
				assert.NoError(t, err)
			})
		}
		end(ids[2], time.Minute, dapi.PayoutStatusCompleted)
		end(ids[0], 2*time.Minute, dapi.PayoutStatusFailed)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()

		var order []dapi.PayoutID
		var progress []moneymovement.Progress // unguarded: it is called one at a time
		asked := append([]dapi.PayoutID{"po_nobody"}, append(ids, ids...)...)
		for waited := range account.Payouts.WaitAll(ctx, asked,
			moneymovement.OnProgress(func(p moneymovement.Progress) { progress = append(progress, p) })) {
			order = append(order, waited.ID)
			switch waited.ID {
			case "po_nobody":
				as[*errors.NotFound](t, waited.Err)
				assert.Zero(t, time.Since(began))
			case ids[2]:
				require.NoError(t, waited.Err)
				assert.Equal(t, dapi.PayoutStatusCompleted, waited.Payout.Status)
				assert.Less(t, time.Since(began), 2*time.Minute)
			case ids[0]:
				as[*dapi.PayoutNotCompleted](t, waited.Err)
				assert.Equal(t, dapi.PayoutStatusFailed, waited.Payout.Status)
				assert.Less(t, time.Since(began), 3*time.Minute)
			case ids[1]:
				pending := as[*moneymovement.StillPending](t, waited.Err)
				assert.Equal(t, 10*time.Minute, pending.Waited)
				assert.Equal(t, ids[1], waited.Payout.ID)
			}
		}
		assert.Equal(t, []dapi.PayoutID{"po_nobody", ids[2], ids[0], ids[1]}, order, "each once")
		assert.NotEmpty(t, progress)
	})
}
