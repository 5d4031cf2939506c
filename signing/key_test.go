package signing_test

import (
	"context"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"io"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/signing"
)

func TestSignaturesVerifyAndNothingElseDoes(t *testing.T) {
	eachKind(t, func(t *testing.T, key *signing.DeveloperKey) {
		other := newKey(t)
		rapid.Check(t, func(t *rapid.T) {
			message := rapid.SliceOf(rapid.Byte()).Draw(t, "message")
			signature, err := key.Sign(context.Background(), message)
			require.NoError(t, err)
			require.NoError(t, signing.Verify(key.PublicKey(), message, signature))

			damaged := append([]byte(nil), signature...)
			damaged[rapid.IntRange(0, len(damaged)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			require.ErrorIs(t, signing.Verify(key.PublicKey(), message, damaged), signing.ErrSignatureInvalid)
			require.ErrorIs(t, signing.Verify(key.PublicKey(), append(message, 0), signature),
				signing.ErrSignatureInvalid)
			require.ErrorIs(t, signing.Verify(other.PublicKey(), message, signature), signing.ErrSignatureInvalid)
		})
	})
}

// Programs store these names.
func TestNamesOfAlgorithms(t *testing.T) {
	for algorithm, name := range map[signing.Algorithm]string{
		signing.ECDSAP256SHA256: "ecdsa-p256-sha256", signing.Ed25519: "ed25519",
		signing.RSAPKCS1v15SHA256: "rsa-pkcs1v15-sha256", signing.ECDSASecp256k1SHA256: "ecdsa-secp256k1-sha256",
	} {
		assert.Equal(t, name, string(algorithm))
	}
}

func TestSignatureLengths(t *testing.T) {
	eachKind(t, func(t *testing.T, key *signing.DeveloperKey) {
		signature, err := key.Sign(t.Context(), []byte("message"))
		require.NoError(t, err)
		switch key.Algorithm() {
		case signing.Ed25519:
			assert.Len(t, signature, 64)
		case signing.RSAPKCS1v15SHA256:
			assert.Len(t, signature, 256)
		case signing.ECDSAP256SHA256:
			assert.LessOrEqual(t, len(signature), 72)
		}
	})
}

func TestPublicKeyIsTheCallersOwnCopy(t *testing.T) {
	eachKind(t, func(t *testing.T, key *signing.DeveloperKey) {
		first := key.PublicKey()
		assert.Equal(t, base64.StdEncoding.EncodeToString(first), key.PublicKeyBase64())
		clear(first)
		assert.NotEqual(t, first, key.PublicKey())
	})
}

func TestZeroKeySignsNothing(t *testing.T) {
	for name, key := range map[string]*signing.DeveloperKey{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			_, err := key.Sign(t.Context(), []byte("message"))
			require.ErrorIs(t, err, signing.ErrNoKey)
			require.ErrorIs(t, key.Save(t.TempDir()+"/key.pem"), signing.ErrNoKey)
			require.ErrorIs(t, key.SaveEncrypted(t.TempDir()+"/key.pem", []byte("p")), signing.ErrNoKey)
			assert.Nil(t, key.PublicKey())
			assert.Empty(t, key.PublicKeyBase64())
			assert.Empty(t, key.Algorithm())
			assert.Empty(t, key.Fingerprint())
		})
	}
}

// countingSigner is a crypto.Signer that counts its calls.
type countingSigner struct {
	crypto.Signer
	calls int
}

func (s *countingSigner) Sign(random io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	s.calls++
	return s.Signer.Sign(random, digest, opts)
}

func TestEndedContextIsNotSigned(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	signer := &countingSigner{Signer: private}
	key, err := signing.FromSigner(signer)
	require.NoError(t, err)

	cause := errors.New("the caller hung up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err = key.Sign(ctx, []byte("message"))
	require.ErrorIs(t, err, cause)
	//lint:ignore SA1012 a nil context must not panic
	_, err = key.Sign(nil, []byte("message")) //nolint:staticcheck // as above
	require.Error(t, err)
	assert.Zero(t, signer.calls)

	_, err = key.Sign(t.Context(), []byte("message"))
	require.NoError(t, err)
	assert.Equal(t, 1, signer.calls)
}

func TestFromSignerRefusesOtherKeys(t *testing.T) {
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	offCurve, curveless, withoutX, withoutY, unnamed := *p256, *p256, *p256, *p256, *p256
	offCurve.X = big.NewInt(1)
	curveless.Curve, withoutX.X, withoutY.Y, unnamed.Curve = nil, nil, nil, nameless{}
	for name, tc := range map[string]struct {
		signer crypto.Signer
		reason string
	}{
		"none":                {nil, "there is no signer"},
		"nil ECDSA key":       {(*ecdsa.PrivateKey)(nil), "there is no signer"},
		"nil RSA key":         {(*rsa.PrivateKey)(nil), "there is no signer"},
		"empty ECDSA key":     {new(ecdsa.PrivateKey), "(ECDSA): the public key is empty"},
		"ECDSA without curve": {&curveless, "empty"},
		"ECDSA without point": {&ecdsa.PrivateKey{PublicKey: ecdsa.PublicKey{Curve: elliptic.P256()}}, "empty"},
		"ECDSA without X":     {&withoutX, "empty"},
		"ECDSA without Y":     {&withoutY, "empty"},
		"ECDSA off the curve": {&offCurve, "not valid"},
		"P-384":               {p384, "(ECDSA P-384): the curve must be P-256"},
		"a nameless curve":    {&unnamed, "(ECDSA an unnamed curve)"},
		"empty RSA key":       {new(rsa.PrivateKey), "(RSA): the public key is empty"},
		"RSA of 1024 bits": {&rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 1023),
			E: 65537}}, "2048"},
		"RSA of 2047 bits": {&rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 2046),
			E: 65537}}, "(RSA 2047)"},
		"RSA of 8193 bits": {&rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 8192),
			E: 65537}}, "(RSA 8193)"},
		"RSA of 16384 bits": {&rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 16383),
			E: 65537}}, "8192"},
		"short Ed25519 key":    {ed25519.PrivateKey{1, 2, 3}, "wrong length"},
		"no public key":        {publicOnly{nil}, "(nil): there is no public key"},
		"short Ed25519 public": {publicOnly{ed25519.PublicKey{1}}, "1 bytes"},
		"a key agreement key":  {publicOnly{new(ecdh.PublicKey)}, "(*ecdh.PublicKey): it must be an ECDSA P-256"},
		"RSA without modulus": {&rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int), E: 65537}},
			"(RSA): the public key is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := signing.FromSigner(tc.signer)
			refused, ok := errors.AsType[*signing.KeyRefused](err)
			require.True(t, ok, "%v", err)
			assert.Contains(t, refused.Error(), tc.reason)
			assert.NotEmpty(t, refused.Kind)
			assert.Nil(t, key)
			if tc.reason == "not valid" {
				assert.ErrorContains(t, refused, errors.Unwrap(err).Error(), "why the standard library thinks so")
			}
		})
	}
}

func TestRSAKeysWithinTheirBounds(t *testing.T) {
	for _, bits := range []uint{2048, 8192} {
		key, err := signing.FromSigner(publicOnly{&rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), bits-1),
			E: 65537}})
		require.NoError(t, err)
		assert.Equal(t, signing.RSAPKCS1v15SHA256, key.Algorithm())
	}
}

// nameless is a curve that does not say which.
type nameless struct{ elliptic.Curve }

func (nameless) Params() *elliptic.CurveParams { return nil }

// publicOnly is a signer of which only the public key matters.
type publicOnly struct{ public crypto.PublicKey }

func (s publicOnly) Public() crypto.PublicKey { return s.public }

func (s publicOnly) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return nil, errors.New("not reached")
}

func TestGenerateRSARefusesLengths(t *testing.T) {
	for _, bits := range []int{-1, 0, 1024, 2047, 8193} {
		_, err := signing.GenerateRSA(bits)
		_, ok := errors.AsType[*signing.KeyRefused](err)
		require.True(t, ok, "%d bits: %v", bits, err)
	}
}

func TestEd25519KeyIsCopied(t *testing.T) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	key, err := signing.FromSigner(private)
	require.NoError(t, err)
	clear(private)
	_, err = key.Sign(t.Context(), []byte("message"))
	require.NoError(t, err)

	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	key, err = signing.FromRemote(public, keyService{private: private}.Sign)
	require.NoError(t, err)
	clear(public)
	_, err = key.Sign(t.Context(), []byte("message"))
	require.NoError(t, err, "the signature is checked with the key's own copy")
}
