package dapi_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/mishaps"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Flows end in types as well, also when the key or the caller's own judge of approvals fails.
func TestErrorsOfSigningHaveATypeAndNameThePayout(t *testing.T) {
	judge := errors.New("over the day's limit")
	for name, tc := range map[string]struct {
		developer func(*dapi.Developer)
		cancel    bool
		is        error
	}{
		"the signer fails": {func(d *dapi.Developer) {
			d.Key = approvalsFail{d.Key}
		}, false, mishaps.ErrUnlike},
		"the judge refuses": {func(d *dapi.Developer) {
			d.Verifier = func(context.Context, signing.Approval, signing.Intent) error { return judge }
		}, false, judge},
		"the context ends": {func(*dapi.Developer) {}, true, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			account := w.integrator(tc.developer).Self()
			booked, err := account.Payouts.Book(t.Context(), w.asked, key42)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.cancel {
				cancel()
			}

			_, err = account.Payouts.Confirm(ctx, w.asked, booked)
			mishaps.Check(t, err)
			assert.ErrorIs(t, err, tc.is)
			head, _ := errors.CallInfoOf(err)
			assert.Equal(t, string(booked.ID), head.Resource)
			assert.Equal(t, "ConfirmPayout", head.Operation)
		})
	}
}

// approvalsFail is a key that signs logins only.
type approvalsFail struct{ signing.Signer }

func (s approvalsFail) Sign(ctx context.Context, message []byte) ([]byte, error) {
	if strings.Contains(string(message), "approvalId") {
		return nil, mishaps.ErrUnlike
	}
	return s.Signer.Sign(ctx, message)
}

// provoked are the errors without a slug that docs/errors.md says how to provoke on the sandbox host alone.
var provoked = map[string]func(w *payWorld) error{
	"errors.InvalidInput": func(w *payWorld) error {
		_, err := w.account.Payouts.Pay(w.Context(), w.asked, "", dapi.PayTerms{})
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
		_, err := w.pay(journaled(), maxFee(amount("0")))
		return err
	},
	"dapi.PaymentDeclined": func(w *payWorld) error {
		_, err := w.pay(journaled(),
			beforeSigning(func(context.Context, *dapi.Payout) error { return errors.New("no") }))
		return err
	},
	"dapi.KeyTooOld": func(w *payWorld) error {
		payment, _ := w.pay(firstUsedAt(time.Now().Add(-8 * 24 * time.Hour)))
		return payment.Refusal
	},
	"moneymovement.StillPending": func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) })
		payment, err := w.pay()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		_, err = w.account.Payouts.Wait(ctx, payment.Payout.ID)
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
				err := provoke(newPayWorld(t))
				if both, ok := err.(interface{ Unwrap() []error }); ok {
					err = both.Unwrap()[0]
				}
				assert.Equal(t, "*"+name, fmt.Sprintf("%T", err))
			})
		})
		assert.Contains(t, string(page), "\n### "+name+"\n")
	}
}
