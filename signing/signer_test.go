package signing_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneyerrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/internal/ecsig"
)

// keyService stands for a key-management service: it takes its time, and stops when the caller's context does.
type keyService struct {
	private crypto.Signer
	latency time.Duration
}

func (s keyService) Sign(ctx context.Context, digestOrMessage []byte, opts crypto.SignerOpts) ([]byte, error) {
	select {
	case <-time.After(s.latency):
		return s.private.Sign(rand.Reader, digestOrMessage, opts)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestRemoteSignersOfEveryKind(t *testing.T) {
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	for _, private := range []crypto.Signer{p256, edwards, rsaKey} {
		key, err := signing.FromRemote(private.Public(), keyService{private: private}.Sign)
		require.NoError(t, err)
		t.Run(string(key.Algorithm()), func(t *testing.T) {
			message := []byte("message")
			signature, err := key.Sign(t.Context(), message)
			require.NoError(t, err)
			require.NoError(t, signing.Verify(key.PublicKey(), message, signature))
			require.ErrorIs(t, key.Save(t.TempDir()+"/key.pem"), signing.ErrNotExportable)
			require.ErrorIs(t, key.SaveEncrypted(t.TempDir()+"/key.pem", []byte("p")), signing.ErrNotExportable)
		})
	}
}

func TestRemoteSignerStopsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		key, err := signing.FromRemote(private.Public(), keyService{private: private, latency: time.Hour}.Sign)
		require.NoError(t, err)

		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		_, err = key.Sign(ctx, []byte("message"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 2*time.Second, time.Since(start))
	})
}

// p256Signature is a signature with the form of S that the caller wants.
func p256Signature(t *testing.T, private *ecdsa.PrivateKey, digest []byte, high bool) []byte {
	t.Helper()
	der, err := ecdsa.SignASN1(rand.Reader, private, digest)
	require.NoError(t, err)
	var sig struct{ R, S *big.Int }
	_, err = asn1.Unmarshal(der, &sig)
	require.NoError(t, err)
	order := elliptic.P256().Params().N
	if isHigh := sig.S.Cmp(new(big.Int).Rsh(order, 1)) > 0; isHigh != high {
		sig.S.Sub(order, sig.S)
	}
	der, err = asn1.Marshal(sig)
	require.NoError(t, err)
	return der
}

func TestRemoteHighSIsNormalized(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	message := []byte("message")
	for name, high := range map[string]bool{"low": false, "high": true} {
		t.Run(name, func(t *testing.T) {
			var answered []byte
			key, err := signing.FromRemote(private.Public(),
				func(_ context.Context, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
					answered = p256Signature(t, private, digest, high)
					return answered, nil
				})
			require.NoError(t, err)
			signature, err := key.Sign(t.Context(), message)
			require.NoError(t, err)
			require.NoError(t, signing.Verify(key.PublicKey(), message, signature))

			err = signing.Verify(key.PublicKey(), message, answered)
			if high {
				require.ErrorIs(t, err, signing.ErrSignatureMalleable)
			} else {
				require.NoError(t, err)
			}
		})
	}
}

func TestRemoteSignaturesThatDoNotVerifyAreRefused(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	down := errors.New("the service is down")
	for name, tc := range map[string]struct {
		public   crypto.PublicKey
		response func(digest []byte) ([]byte, error)
		is       error // nil: *signing.RemoteSignatureRefused
	}{
		"another key": {private.Public(), func(digest []byte) ([]byte, error) {
			return ecdsa.SignASN1(rand.Reader, other, digest)
		}, nil},
		"another message": {private.Public(), func([]byte) ([]byte, error) {
			digest := sha256.Sum256([]byte("another"))
			return ecdsa.SignASN1(rand.Reader, private, digest[:])
		}, nil},
		"nothing": {private.Public(), func([]byte) ([]byte, error) { return nil, nil }, nil},
		"raw R and S": {private.Public(), func(digest []byte) ([]byte, error) {
			return make([]byte, 64), nil
		}, nil},
		"PSS padding": {rsaKey.Public(), func(digest []byte) ([]byte, error) {
			return rsa.SignPSS(rand.Reader, rsaKey, crypto.SHA256, digest, nil)
		}, nil},
		"its own error": {private.Public(), func([]byte) ([]byte, error) { return nil, down }, down},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := signing.FromRemote(tc.public,
				func(_ context.Context, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
					return tc.response(digest)
				})
			require.NoError(t, err)
			signature, err := key.Sign(t.Context(), []byte("message"))
			assert.Nil(t, signature)
			if tc.is != nil {
				require.ErrorIs(t, err, tc.is)
				return
			}
			refused, ok := errors.AsType[*signing.RemoteSignatureRefused](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, key.Algorithm(), refused.Algorithm)
			assert.ErrorIs(t, err, refused.Err)
			assert.Equal(t, name == "nothing" || name == "raw R and S", errors.Is(err, ecsig.ErrEncoding), "%v", err)
			assert.ErrorContains(t, err, string(key.Algorithm()))
		})
	}
}

func TestFromRemoteRefuses(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	_, err = signing.FromRemote(private.Public(), nil)
	_, ok := errors.AsType[*signing.KeyRefused](err)
	require.True(t, ok, "%v", err)
	for _, public := range []crypto.PublicKey{nil, (*ecdsa.PublicKey)(nil), "text", private.PublicKey} {
		_, err = signing.FromRemote(public, keyService{}.Sign)
		_, ok = errors.AsType[*signing.KeyRefused](err)
		require.True(t, ok, "%v", err)
	}
}

func TestFromRemoteWithoutAFunction(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	_, err = signing.FromRemote(private.Public(), nil)
	refused, ok := errors.AsType[*signing.KeyRefused](err)
	require.True(t, ok)
	assert.Equal(t, "nil", refused.Kind)
	assert.Equal(t, "there is no signing function", refused.Reason)
}

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
func TestRetryableAndMovementOfSigningErrors(t *testing.T) {
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

// FuzzVerify: no bytes verify as the signature of a key that did not make it, and what does not verify says so by a
// documented error.
func FuzzVerify(f *testing.F) {
	keys := map[string]bool{}
	for _, file := range []string{"p256-pkcs8.pem", "ed25519-pkcs8.pem", "rsa-pkcs1.pem"} {
		key, err := signing.ParseDeveloperKey(testdata(f, file))
		require.NoError(f, err)
		signature, err := key.Sign(f.Context(), []byte("message"))
		require.NoError(f, err)
		f.Add(key.PublicKey(), signature)
		f.Add(key.PublicKey(), signature[:len(signature)-1])
		keys[string(key.PublicKey())] = true
	}
	block, _ := pem.Decode(testdata(f, "secp256k1-encrypted.pem"))
	f.Add(block.Bytes, []byte{})
	f.Fuzz(func(t *testing.T, public, signature []byte) {
		err := signing.Verify(public, []byte("message"), signature)
		if err == nil {
			if !keys[string(public)] {
				t.Fatalf("%x is a forgery by %x", signature, public)
			}
			return
		}
		if _, refused := errors.AsType[*signing.KeyRefused](err); !refused &&
			!errors.Is(err, signing.ErrSignatureInvalid) || len(err.Error()) > 1000 {
			t.Fatalf("refused by %v", err)
		}
	})
}
