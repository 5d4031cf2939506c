package dapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/mishaps"
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
