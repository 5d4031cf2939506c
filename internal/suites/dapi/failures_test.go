package dapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// transportFunc is a connection to the service in one function.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var errUnlike = errors.New("an error of the caller's own kind")

func page(status int, kind, body string) transportFunc {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func answersForItsCall(t *testing.T, err error) {
	t.Helper()
	failure, ok := errors.AsType[errors.Failure](err)
	require.True(t, ok, "%T: %v", err, err)
	assert.NotEmpty(t, failure.MovedByCall())
	head, ok := errors.HeadOf(err)
	require.True(t, ok, "%T: %v", err, err)
	assert.NotEmpty(t, head.Operation)
	assert.NotContains(t, err.Error(), "\n")
}

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
		}, false, errUnlike},
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
			answersForItsCall(t, err)
			assert.ErrorIs(t, err, tc.is)
			head, _ := errors.HeadOf(err)
			assert.Equal(t, string(booked.ID), head.Resource)
			assert.Equal(t, "ConfirmPayout", head.Operation)
		})
	}
}

// approvalsFail is a key that signs logins only.
type approvalsFail struct{ signing.Signer }

func (s approvalsFail) Sign(ctx context.Context, message []byte) ([]byte, error) {
	if strings.Contains(string(message), "approvalId") {
		return nil, errUnlike
	}
	return s.Signer.Sign(ctx, message)
}
