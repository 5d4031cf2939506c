package signing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneyerrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// failing is a signer of the caller's own.
type failing struct {
	signing.Signer
	signature []byte
	err       error
}

func (f failing) Sign(context.Context, []byte) ([]byte, error) { return f.signature, f.err }

// Whatever kept a signature from being made, the error has a type and leads to its cause.
func TestNotSignedHasATypeAndACause(t *testing.T) {
	key := newKey(t)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	shutdown := errors.New("the program ends")
	stopped, stop := context.WithCancelCause(t.Context())
	stop(shutdown)
	down := errors.New("the key service is down")
	already := &signing.NotSigned{Err: down}

	for name, tc := range map[string]struct {
		ctx    context.Context
		signer signing.Signer
		is     []error
	}{
		"no context":        {nil, key, nil},
		"canceled":          {canceled, key, []error{context.Canceled}},
		"canceled, and why": {stopped, key, []error{context.Canceled, shutdown}},
		"no signer":         {t.Context(), nil, []error{signing.ErrNoKey}},
		"a nil key":         {t.Context(), (*signing.DeveloperKey)(nil), []error{signing.ErrNoKey}},
		"an empty key":      {t.Context(), new(signing.DeveloperKey), []error{signing.ErrNoKey}},
		"a signer's error":  {t.Context(), failing{key, nil, down}, []error{down}},
		"typed already":     {t.Context(), failing{key, nil, already}, []error{already}},
		"no signature":      {t.Context(), failing{key, nil, nil}, nil},
		"an empty one":      {t.Context(), failing{key, []byte{}, nil}, nil},
	} {
		for what, sign := range map[string]func() ([]byte, error){
			"approval": func() ([]byte, error) {
				return signing.SignApproval(tc.ctx, tc.signer, approvalOf(t, payoutTerms()), payoutIntent(), now)
			},
			"challenge": func() ([]byte, error) {
				return signing.SignChallenge(tc.ctx, tc.signer, signing.Challenge{ID: "ch_1", Payload: []byte("login")},
					nil)
			},
		} {
			t.Run(name+" / "+what, func(t *testing.T) {
				signature, err := sign()
				requireNotSigned(t, err, tc.is...)
				assert.Nil(t, signature)
				switch name {
				case "no context":
					assert.ErrorContains(t, err, "Sign")
				case "typed already":
					assert.Same(t, already, err)
				}
			})
		}
	}
	_, err := new(signing.DeveloperKey).Sign(t.Context(), []byte("message"))
	requireNotSigned(t, err, signing.ErrNoKey)
	_, err = key.Sign(stopped, []byte("message"))
	requireNotSigned(t, err, context.Canceled, shutdown)
	_, err = new(signing.CheckedApproval).Sign(t.Context())
	requireNotSigned(t, err)
	assert.ErrorContains(t, &signing.NotSigned{}, "signing: not signed - see ")
}

// Nothing moves by a signature that was not made. What may help is to try again where only the signer or the time is to
// blame.
func TestFailuresOfSigningSayWhatTheyMean(t *testing.T) {
	for failure, again := range map[moneyerrors.Failure]bool{
		&signing.ApprovalRefused{}:              false,
		&signing.ApprovalRefused{Expired: true}: true,
		&signing.ChallengeRefused{}:             false,
		&signing.NotSigned{}:                    true,
		&signing.RemoteSignatureRefused{}:       false,
	} {
		assert.Equal(t, again, failure.Retryable(), "%T", failure)
		assert.Equal(t, moneyerrors.NotMoved, failure.MovedByCall(), "%T", failure)
	}
}

func requireNotSigned(t *testing.T, err error, is ...error) {
	t.Helper()
	notSigned, ok := errors.AsType[*signing.NotSigned](err)
	require.True(t, ok, "%v", err)
	require.Error(t, notSigned.Err)
	assert.Contains(t, err.Error(), "signing: not signed: ")
	for _, cause := range is {
		assert.ErrorIs(t, err, cause)
	}
}

// A context that ends while a verifier decides does not count as its refusal.
func TestVerifierWhoseContextEnded(t *testing.T) {
	signer := &recordingSigner{DeveloperKey: newKey(t)}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := signing.SignApproval(ctx, signer, approvalOf(t, payoutTerms()), payoutIntent(), now,
		signing.VerifyWith(func(ctx context.Context, _ signing.Approval, _ signing.Intent) error {
			cancel()
			return ctx.Err()
		}))
	requireNotSigned(t, err, context.Canceled)

	ctx, cancel = context.WithCancel(t.Context())
	checked, err := signing.PrepareApproval(ctx, signer, approvalOf(t, payoutTerms()), payoutIntent(), now,
		signing.VerifyWith(func(ctx context.Context, _ signing.Approval, _ signing.Intent) error {
			cancel()
			return ctx.Err()
		}))
	requireNotSigned(t, err, context.Canceled)
	assert.Nil(t, checked, "nothing that another context could sign")

	ctx, cancel = context.WithCancel(t.Context())
	_, err = signing.SignChallenge(ctx, signer, signing.Challenge{ID: "ch_1", Payload: []byte("login")}, nil,
		signing.VerifyChallengeWith(func(ctx context.Context, _ signing.Challenge, _ error) error {
			cancel()
			return ctx.Err()
		}))
	requireNotSigned(t, err, context.Canceled)
	assert.Empty(t, signer.signed)
}
