package signing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing"
)

// approvalUntil is an approval of an operation, with its intent, that ends at a time.
func approvalUntil(t require.TestingT, operation string, end time.Time) (signing.Approval, signing.Intent) {
	members, want := payoutTerms(), payoutIntent()
	members["operation"], want.Operation = operation, operation
	members["expiresAt"] = end.UTC().Format(time.RFC3339Nano)
	return signing.Approval{ID: "apr_1", Payload: canonical(t, members), ExpiresAt: end}, want
}

// Source: Limits, Lifetimes (120 seconds for payouts and transfers, 60 for escrow actions). 30 more are for clocks
// that differ.
func TestWindowIsNoLongerThanStated(t *testing.T) {
	key := newKey(t)
	anything := signing.VerifyWith(func(context.Context, signing.Approval, signing.Intent) error { return nil })
	for operation, longest := range map[string]time.Duration{
		"payout.fund": 150 * time.Second, "escrow.approve": 90 * time.Second, "escrow.release": 90 * time.Second,
		"transfer.fund": 150 * time.Second, "escrowed.fund": 150 * time.Second,
	} {
		t.Run(operation, func(t *testing.T) {
			a, want := approvalUntil(t, operation, now.Add(longest))
			_, err := signing.SignApproval(t.Context(), key, a, want, now)
			require.NoError(t, err)

			for _, end := range []time.Time{
				now.Add(longest + time.Nanosecond), now.Add(24 * time.Hour),
				time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
			} {
				a, want := approvalUntil(t, operation, end)
				refused := requireRefused(t, key, a, want, "expiresAt")
				assert.False(t, refused.Expired, "time does not mend it")
				assert.Contains(t, refused.Reason, "longer")
				assert.Equal(t, refused.Want, "at most "+now.Add(longest).UTC().Format(time.RFC3339Nano))
				assert.Equal(t, end.UTC().Format(time.RFC3339Nano), refused.Got)

				_, err := signing.SignApproval(t.Context(), key, a, want, now, anything)
				require.ErrorAs(t, err, &refused, "a verifier does not extend it")
				_, err = signing.SignApproval(t.Context(), key, a, want, now, signing.AllowExpired())
				require.ErrorAs(t, err, &refused, "it is not over")
			}
		})
	}
}

func TestAllowExpiredLetsNothingElseThrough(t *testing.T) {
	signer := &recordingSigner{DeveloperKey: newKey(t)}
	a, want := approvalUntil(t, "payout.fund", now.Add(-time.Hour))
	_, err := signing.SignApproval(t.Context(), signer, a, want, now)
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	require.True(t, ok, "%v", err)
	require.True(t, refused.Expired)

	signature, err := signing.SignApproval(t.Context(), signer, a, want, now, signing.AllowExpired())
	require.NoError(t, err)
	require.NoError(t, signing.Verify(signer.PublicKey(), a.Payload, signature))

	signer.signed = nil
	for field, change := range map[string]func(){
		"amount":     func() { want.Amount = want.Amount.Add(want.Amount) },
		"expiresAt":  func() { a.ExpiresAt = a.ExpiresAt.Add(time.Second) },
		"approvalId": func() { a.ID = "" },
		"payload":    func() { a.Payload = nil },
	} {
		t.Run(field, func(t *testing.T) {
			a, want = approvalUntil(t, "payout.fund", now.Add(-time.Hour))
			change()
			_, err := signing.SignApproval(t.Context(), signer, a, want, now, signing.AllowExpired())
			refused, ok := errors.AsType[*signing.ApprovalRefused](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, field, refused.Field)
			assert.Empty(t, signer.signed)
		})
	}
}
