package dapi_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// provoked are the errors without a slug that docs/errors.md says how to provoke on the sandbox host alone.
var provoked = map[string]func(w *payWorld) error{
	"errors.InvalidInput": func(w *payWorld) error {
		_, err := w.account.Payouts.Pay(w.Context(), w.asked, "")
		return err
	},
	"errors.NotDelivered": func(w *payWorld) error {
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		return read(ctx, w.account)
	},
	"errors.OutcomeUnknown": func(w *payWorld) error {
		w.Host.Arm("POST", "/payouts", sandbox.DropAfterCommit().Times(4))
		_, err := w.account.Payouts.Book(w.Context(), w.asked, key42)
		return err
	},
	"errors.UnexpectedResponse": func(w *payWorld) error {
		w.Host.Arm("GET", "/chains", sandbox.Garbage().Times(4))
		return read(w.Context(), w.account)
	},
	"errors.Unrecognized": func(w *payWorld) error { return w.scripted(http.StatusConflict, "a_new_slug") },
	"dapi.PriceRefused": func(w *payWorld) error {
		_, err := w.pay(dapi.FirstUse(), dapi.MaxFee(amount("0")))
		return err
	},
	"dapi.PaymentDeclined": func(w *payWorld) error {
		_, err := w.pay(dapi.FirstUse(),
			dapi.BeforeSigning(func(context.Context, *dapi.Payout) error { return errors.New("no") }))
		return err
	},
	"dapi.KeyTooOld": func(w *payWorld) error {
		_, err := w.pay(dapi.FirstUsedAt(time.Now().Add(-8 * 24 * time.Hour)))
		return err
	},
	"moneymovement.StillPending": func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) })
		payout, err := w.pay()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		_, err = w.account.Payouts.Wait(ctx, payout.ID)
		return err
	},
	"dapi.RailNotListed": func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.RailsHidden = []string{"sepa"} })
		_, err := w.readyClient().Rails.WaitActive(w.Context(), "sepa", "EUR")
		return err
	},
}

// What the page says provokes an error provokes it.
func TestErrorsWithoutASlugCanBeProvoked(t *testing.T) {
	page, err := os.ReadFile("../../../docs/errors.md")
	require.NoError(t, err)
	for name, provoke := range provoked {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				assert.Equal(t, "*"+name, fmt.Sprintf("%T", provoke(newPayWorld(t))))
			})
		})
		assert.Contains(t, string(page), "\n### "+name+"\n")
	}
}
