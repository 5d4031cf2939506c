package dapi_test

import (
	"context"
	"net/http"
	"strconv"
	"sync"
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

// A payment that waits until the service has funded it leaves its place to others: 108 may stand between booking and
// confirm.
func TestPaymentsThatWaitForTheServiceLeaveTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.asked.Amount = amount("1")
		waiting, stop := context.WithCancel(t.Context())
		w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusConflict, "funding_in_progress").Times(108))
		var all sync.WaitGroup
		for i := range 108 {
			all.Go(func() {
				_, err := w.account.Payouts.Pay(waiting, w.asked, moneymovement.DeriveKey("waits", strconv.Itoa(i)),
					dapi.PayTerms{})
				assert.ErrorIs(t, err, context.Canceled)
			})
		}
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42", dapi.PayTerms{})
		require.NoError(t, err)
		stop()
		all.Wait()
	})
}

// What was refused leaves its place in the line to others: six deals may be under way.
func TestRefusedDealsLeaveTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, id := newReleaseWorld(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusForbidden, "forbidden").Times(20))
		w.Host.Arm("POST", dealPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(20))
		for i := range 20 {
			key := moneymovement.DeriveKey("refused", strconv.Itoa(i))
			_, err := w.account.Escrows.Act(ctx, w.deal, id, dapi.EscrowActionTypeRelease, key,
				dealTerms(journaled()))
			as[*errors.Forbidden](t, err)
			_, err = w.account.Escrows.Open(ctx, w.deal, key, dealTerms(journaled()))
			as[*errors.Forbidden](t, err)
		}
		_, err := w.release(ctx, id)
		require.NoError(t, err)
	})
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(120))
		for i := range 120 {
			_, err := w.account.Payouts.Pay(ctx, w.asked, moneymovement.DeriveKey("refused", strconv.Itoa(i)),
				payTerms(journaled()))
			as[*errors.Forbidden](t, err)
		}
		_, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42", dapi.PayTerms{})
		require.NoError(t, err)
	})
}
