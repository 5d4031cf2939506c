package signing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing"
)

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

func TestVerifyWithJudgesOpaquePayloads(t *testing.T) {
	signer := &recordingSigner{DeveloperKey: newKey(t)}
	a := signing.Approval{ID: "apr_1", Payload: []byte("\x01opaque"), ExpiresAt: expires}
	no := errors.New("not what I asked for")

	_, err := signing.SignApproval(t.Context(), signer, a, payoutIntent(), now)
	_, ok := errors.AsType[*signing.ApprovalRefused](err)
	require.True(t, ok, "%v", err)

	_, err = signing.SignApproval(t.Context(), signer, a, payoutIntent(), now,
		signing.VerifyWith(func(context.Context, signing.Approval, signing.Intent) error { return no }))
	require.ErrorIs(t, err, no)
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, a.ID, refused.ApprovalID)
	require.ErrorContains(t, err,
		`signing: approval "apr_1" refused: payload: your Verifier refused it: not what I asked for`)
	require.Empty(t, signer.signed)

	own := &signing.ApprovalRefused{ApprovalID: "apr_1", Field: "memo", Reason: "not mine"}
	_, err = signing.SignApproval(t.Context(), signer, a, payoutIntent(), now,
		signing.VerifyWith(func(context.Context, signing.Approval, signing.Intent) error { return own }))
	require.Equal(t, own, err, "a refusal stays what it is")

	signature, err := signing.SignApproval(t.Context(), signer, a, payoutIntent(), now,
		signing.VerifyWith(func(_ context.Context, approval signing.Approval, intent signing.Intent) error {
			assert.Equal(t, a, approval)
			assert.Equal(t, payoutIntent(), intent)
			return nil
		}))
	require.NoError(t, err)
	require.NoError(t, signing.Verify(signer.PublicKey(), a.Payload, signature))
}

func TestNoVerifierIsTheDefault(t *testing.T) {
	a := signing.Approval{ID: "apr_1", Payload: []byte("\x01opaque"), ExpiresAt: expires}
	_, err := signing.SignApproval(t.Context(), newKey(t), a, payoutIntent(), now, signing.VerifyWith(nil))
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "payload", refused.Field)
}

func TestVerifiersDoNotExtendTheWindow(t *testing.T) {
	signer := &recordingSigner{DeveloperKey: newKey(t)}
	yes := signing.VerifyWith(func(context.Context, signing.Approval, signing.Intent) error { return nil })
	for name, a := range map[string]signing.Approval{
		"closed":  {ID: "apr_1", Payload: []byte("opaque"), ExpiresAt: now},
		"no id":   {Payload: []byte("opaque"), ExpiresAt: expires},
		"nothing": {ID: "apr_1", ExpiresAt: expires},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := signing.SignApproval(t.Context(), signer, a, payoutIntent(), now, yes)
			_, ok := errors.AsType[*signing.ApprovalRefused](err)
			require.True(t, ok, "%v", err)
		})
	}
	require.Empty(t, signer.signed)
}

func TestWhatWasCheckedIsWhatIsSigned(t *testing.T) {
	signer := &recordingSigner{DeveloperKey: newKey(t)}
	a := approvalOf(t, payoutTerms())
	original := slices.Clone(a.Payload)
	signature, err := signing.SignApproval(t.Context(), signer, a, payoutIntent(), now,
		signing.VerifyWith(func(_ context.Context, seen signing.Approval, _ signing.Intent) error {
			clear(seen.Payload) // a verifier's own copy
			clear(a.Payload)    // somebody else's, at the wrong moment
			return nil
		}))
	require.NoError(t, err)
	require.NoError(t, signing.Verify(signer.PublicKey(), original, signature))

	a = approvalOf(t, payoutTerms())
	_, err = signing.SignApproval(t.Context(), signer, a, payoutIntent(), now,
		signing.VerifyWith(func(_ context.Context, seen signing.Approval, _ signing.Intent) error {
			clear(a.Payload)
			assert.Equal(t, original, seen.Payload, "what is judged is out of everybody's reach")
			return nil
		}))
	require.NoError(t, err)
}

func TestSignApprovalHonoursTheContext(t *testing.T) {
	signer := &recordingSigner{DeveloperKey: newKey(t)}
	a := approvalOf(t, payoutTerms())

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := signing.SignApproval(ended, signer, a, payoutIntent(), now)
	require.ErrorIs(t, err, context.Canceled)

	// It may also end while a verifier deliberates.
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	_, err = signing.SignApproval(ctx, signer, a, payoutIntent(), now,
		signing.VerifyWith(func(context.Context, signing.Approval, signing.Intent) error { cancel(); return nil }))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, signer.signed)
}

func TestSignApprovalWithoutSigner(t *testing.T) {
	a := approvalOf(t, payoutTerms())
	for name, signer := range map[string]signing.Signer{
		"none": nil, "nil key": (*signing.DeveloperKey)(nil), "zero key": new(signing.DeveloperKey),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := signing.SignApproval(t.Context(), signer, a, payoutIntent(), now)
			require.ErrorIs(t, err, signing.ErrNoKey)
		})
	}
}

// What was checked once can be signed later, without being checked again.
func TestPrepareApprovalDoesNotSign(t *testing.T) {
	signer := &recordingSigner{DeveloperKey: newKey(t)}
	a := approvalOf(t, payoutTerms())
	judged := 0
	checked, err := signing.PrepareApproval(t.Context(), signer, a, payoutIntent(), now,
		signing.VerifyWith(func(context.Context, signing.Approval, signing.Intent) error { judged++; return nil }))
	require.NoError(t, err)
	require.Empty(t, signer.signed)

	original := slices.Clone(a.Payload)
	clear(a.Payload)
	signature, err := checked.Sign(t.Context())
	require.NoError(t, err)
	require.NoError(t, signing.Verify(signer.PublicKey(), original, signature))
	assert.Equal(t, 1, judged)

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = checked.Sign(canceled)
	requireNotSigned(t, err, context.Canceled)
	assert.Len(t, signer.signed, 1)
}

func TestCheckedApprovalPrintsNoSigner(t *testing.T) {
	checked, err := signing.PrepareApproval(t.Context(), telltale{newKey(t), "the-secret"},
		approvalOf(t, payoutTerms()), payoutIntent(), now)
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprintf("%+v %#v", *checked, *checked), "the-secret")
}

// telltale is a signer that keeps its secret where printing packages find it.
type telltale struct {
	signing.Signer
	secret string
}
