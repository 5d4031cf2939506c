package signing_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/internal/codec"
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

// Making an RSA key takes long, so all tests here share two, and each test reads its own copies.
var rsaKeys = sync.OnceValues(func() (der [2][]byte, err error) {
	for i := range der {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return der, err
		}
		der[i] = x509.MarshalPKCS1PrivateKey(key)
	}
	return der, nil
})

// privateKeys are two keys of each kind.
func privateKeys(t *testing.T) (p256 [2]*ecdsa.PrivateKey, edwards [2]ed25519.PrivateKey, rsas [2]*rsa.PrivateKey) {
	t.Helper()
	der, err := rsaKeys()
	require.NoError(t, err)
	for i := range 2 {
		p256[i], err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		_, edwards[i], err = ed25519.GenerateKey(rand.Reader)
		require.NoError(t, err)
		rsas[i], err = x509.ParsePKCS1PrivateKey(der[i])
		require.NoError(t, err)
	}
	return p256, edwards, rsas
}

// halves are a key with the private half of one key and the public half of another.
func halves(t *testing.T) map[string]crypto.Signer {
	t.Helper()
	p256, edwards, rsas := privateKeys(t)
	mixed, empty := *p256[0], *p256[0]
	mixed.PublicKey = p256[1].PublicKey
	//lint:ignore SA1019 such keys exist
	empty.D = nil //nolint:staticcheck // as above
	beyond := *p256[0]
	//lint:ignore SA1019 such keys exist
	beyond.D = elliptic.P256().Params().N //nolint:staticcheck // as above
	return map[string]crypto.Signer{
		"ECDSA":                  &mixed,
		"ECDSA without a scalar": &empty,
		"ECDSA beyond the order": &beyond,
		"Ed25519":                slices.Concat(edwards[0][:32], edwards[1][32:]),
		"RSA":                    &rsa.PrivateKey{PublicKey: rsas[1].PublicKey, D: rsas[0].D, Primes: rsas[0].Primes},
		"RSA with another D":     &rsa.PrivateKey{PublicKey: rsas[0].PublicKey, D: rsas[1].D, Primes: rsas[0].Primes},
		"RSA with another E":     &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: rsas[0].N, E: 3}, D: rsas[0].D},
		"RSA without primes":     &rsa.PrivateKey{PublicKey: rsas[1].PublicKey, D: rsas[0].D},
		"RSA without a prime": &rsa.PrivateKey{PublicKey: rsas[0].PublicKey, D: rsas[0].D,
			Primes: make([]*big.Int, 2)},
		"RSA without private half": &rsa.PrivateKey{PublicKey: rsas[0].PublicKey},
	}
}

func TestMismatchedKeyPairIsRefused(t *testing.T) {
	for name, signer := range halves(t) {
		t.Run(name, func(t *testing.T) {
			key, err := signing.FromSigner(signer)
			refused, ok := errors.AsType[*signing.KeyRefused](err)
			require.True(t, ok, "%v", err)
			assert.Nil(t, key)
			assert.NotEmpty(t, refused.Kind)
			assert.Contains(t, []string{"the private and the public half do not belong together",
				"the private key is not valid"}, refused.Reason)
			assert.Error(t, refused.Err)
		})
	}
}

// An RSA file has both halves. That of an ECDSA or Ed25519 key has the public half at most for information, and
// crypto/x509 calculates it from the private half.
func TestKeyFileWithMismatchedPairIsRefused(t *testing.T) {
	_, _, rsas := privateKeys(t)
	modulus := rsas[0].N.Bytes()
	der := x509.MarshalPKCS1PrivateKey(rsas[0])
	require.Equal(t, 1, bytes.Count(der, modulus))
	path := filepath.Join(t.TempDir(), "key.der")
	for name, tc := range map[string]struct {
		modulus []byte
		refused bool
	}{"the same": {modulus, false}, "of another key": {rsas[1].N.Bytes(), true}} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, bytes.Replace(der, modulus, tc.modulus, 1), 0o600))
			key, err := signing.LoadDeveloperKey(path)
			refused, ok := errors.AsType[*signing.KeyRefused](err)
			require.Equal(t, tc.refused, ok, "%v", err)
			require.Equal(t, !tc.refused, key != nil)
			if tc.refused {
				require.Error(t, refused.Err)
			}
		})
	}
}

// An RSA key signs with its exponent alone, and a third prime is allowed.
func TestRSAKeysWithoutTwoPrimes(t *testing.T) {
	_, _, rsas := privateKeys(t)
	//lint:ignore SA1019 such keys exist
	three, err := rsa.GenerateMultiPrimeKey(rand.Reader, 3, 2048) //nolint:staticcheck // as above
	require.NoError(t, err)
	for name, private := range map[string]*rsa.PrivateKey{
		"no primes": {PublicKey: rsas[0].PublicKey, D: rsas[0].D}, "three primes": three,
	} {
		t.Run(name, func(t *testing.T) {
			key, err := signing.FromSigner(private)
			require.NoError(t, err)
			requireSigns(t, key)
		})
	}
}

func requireSigns(t *testing.T, key *signing.DeveloperKey) {
	t.Helper()
	message := []byte("message")
	signature, err := key.Sign(t.Context(), message)
	require.NoError(t, err)
	require.NoError(t, signing.Verify(key.PublicKey(), message, signature))
}

func TestLaterChangesOfTheCallersKeyHaveNoEffect(t *testing.T) {
	p256, edwards, rsas := privateKeys(t)
	for name, tc := range map[string]struct {
		private crypto.Signer
		change  func()
	}{
		"ECDSA": {p256[0], func() {
			//lint:ignore SA1019 a program may do it
			p256[0].D.SetInt64(1) //nolint:staticcheck // as above
			p256[0].X.Set(p256[1].X)
			p256[0].Y.Set(p256[1].Y)
		}},
		"Ed25519": {edwards[0], func() { copy(edwards[0], edwards[1]) }},
		"RSA": {rsas[0], func() {
			for _, n := range []*big.Int{rsas[0].N, rsas[0].D, rsas[0].Primes[0], rsas[0].Primes[1],
				rsas[0].Precomputed.Dp, rsas[0].Precomputed.Dq, rsas[0].Precomputed.Qinv} {
				n.SetInt64(3)
			}
			rsas[0].E = 3
		}},
	} {
		t.Run(name, func(t *testing.T) {
			own, err := signing.FromSigner(tc.private)
			require.NoError(t, err)
			before := own.PublicKey()
			tc.change()
			requireSigns(t, own)
			assert.Equal(t, before, own.PublicKey())

			path := filepath.Join(t.TempDir(), "key.pem")
			require.NoError(t, own.Save(path))
			saved, err := signing.LoadDeveloperKey(path)
			require.NoError(t, err)
			assert.Equal(t, before, saved.PublicKey())
		})
	}
}

func TestLaterChangesOfARemotePublicKeyHaveNoEffect(t *testing.T) {
	p256, _, _ := privateKeys(t)
	public := p256[0].PublicKey
	//lint:ignore SA1019 a program may do it
	public.X, public.Y = new(big.Int).Set(public.X), new(big.Int).Set(public.Y) //nolint:staticcheck // as above
	key, err := signing.FromRemote(&public, keyService{private: p256[0]}.Sign)
	require.NoError(t, err)
	//lint:ignore SA1019 a program may do it
	public.X.Set(p256[1].X) //nolint:staticcheck // as above
	//lint:ignore SA1019 a program may do it
	public.Y.Set(p256[1].Y) //nolint:staticcheck // as above
	requireSigns(t, key)
}

// module is a signer of another library, which may sign with another key than it shows.
type module struct {
	crypto.Signer

	signs crypto.Signer
}

func (m module) Sign(random io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return m.signs.Sign(random, digest, opts)
}

func TestSignaturesOfOtherSignersAreVerifiedEachTime(t *testing.T) {
	p256, edwards, rsas := privateKeys(t)
	for name, pair := range map[string][2]crypto.Signer{
		"ECDSA":     {p256[0], p256[1]},
		"Ed25519":   {edwards[0], edwards[1]},
		"RSA":       {rsas[0], rsas[1]},
		"a pointer": {&edwards[0], &edwards[1]},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := signing.FromSigner(&module{pair[0], pair[1]})
			require.NoError(t, err, "the pair is not checked before it signs")
			signature, err := key.Sign(t.Context(), []byte("message"))
			assert.Nil(t, signature)
			refused, ok := errors.AsType[*signing.RemoteSignatureRefused](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, key.Algorithm(), refused.Algorithm)
			require.ErrorIs(t, err, signing.ErrSignatureInvalid)

			key, err = signing.FromSigner(&module{pair[0], pair[0]})
			require.NoError(t, err)
			requireSigns(t, key)
			require.ErrorIs(t, key.Save(filepath.Join(t.TempDir(), "key.pem")), signing.ErrNotExportable)
		})
	}
}

// renderings is everything that could print v.
func renderings(t *testing.T, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T|%v"} {
		if verb == "%T|%v" {
			out[verb] = fmt.Sprintf(verb, v, v)
			continue
		}
		out[verb] = fmt.Sprintf(verb, v)
	}
	encoded, err := json.Marshal(v)
	require.NoError(t, err)
	out["json"] = string(encoded)
	encoded, err = codec.Marshal(v)
	require.NoError(t, err)
	out["json v2"] = string(encoded)
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"slog json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var b bytes.Buffer
		slog.New(handler(&b)).Info("message", "key", v)
		out[name] = b.String()
	}
	return out
}

func TestPrivateKeysNeverPrint(t *testing.T) {
	// Known private bytes, so that their traces can be looked for.
	secret := bytes.Repeat([]byte{0xAB, 0x5C}, 16)
	p256, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), secret)
	require.NoError(t, err)
	fromP256, err := signing.FromSigner(p256)
	require.NoError(t, err)
	fromEdwards, err := signing.FromSigner(ed25519.NewKeyFromSeed(secret))
	require.NoError(t, err)

	traces := []string{
		hex.EncodeToString(secret[:8]), strings.ToUpper(hex.EncodeToString(secret[:8])),
		"171 92 171 92", "171, 92, 171, 92", "171,92,171,92", "0xab, 0x5c", new(big.Int).SetBytes(secret).String(),
		string(secret[:8]),
	}
	for _, key := range []*signing.DeveloperKey{fromP256, fromEdwards} {
		type holder struct {
			Exported   *signing.DeveloperKey
			unexported *signing.DeveloperKey
			value      signing.DeveloperKey
		}
		for shape, v := range map[string]any{
			"pointer": key, "value": *key, "slice": []any{key, *key},
			"holder": holder{key, key, *key},
		} {
			for form, text := range renderings(t, v) {
				for _, trace := range traces {
					assert.NotContains(t, text, trace, "%s %s %s", key.Algorithm(), shape, form)
				}
			}
		}
	}
}

func TestKeysPrintTheirFingerprint(t *testing.T) {
	key := newKey(t)
	require.Regexp(t, `^SHA256:[0-9a-f]{64}$`, key.Fingerprint())
	want := "signing.DeveloperKey(ecdsa-p256-sha256 " + key.Fingerprint()[:23] + "… redacted)"
	for form, text := range renderings(t, key) {
		assert.Contains(t, text, want, form)
	}
	for form, text := range renderings(t, *key) {
		assert.Contains(t, text, want, "a copy, %s", form)
	}
	assert.Equal(t, want, key.String())
	assert.Equal(t, want, key.GoString())
	assert.Equal(t, "signing.DeveloperKey(none)", fmt.Sprint(signing.DeveloperKey{}))
	assert.Equal(t, "<nil>", fmt.Sprint((*signing.DeveloperKey)(nil)))
}

// Making an RSA key takes long, so that all tests share one of each kind.
var developerKeys = sync.OnceValues(func() (map[signing.Algorithm]*signing.DeveloperKey, error) {
	keys := map[signing.Algorithm]*signing.DeveloperKey{}
	for _, generate := range []func() (*signing.DeveloperKey, error){
		signing.Generate,
		signing.GenerateEd25519,
		func() (*signing.DeveloperKey, error) { return signing.GenerateRSA(2048) },
	} {
		key, err := generate()
		if err != nil {
			return nil, err
		}
		keys[key.Algorithm()] = key
	}
	return keys, nil
})

// eachKind runs a test for a key of every kind.
func eachKind(t *testing.T, test func(t *testing.T, key *signing.DeveloperKey)) {
	t.Helper()
	keys, err := developerKeys()
	require.NoError(t, err)
	require.Len(t, keys, 3)
	for algorithm, key := range keys {
		t.Run(string(algorithm), func(t *testing.T) { test(t, key) })
	}
}

func newKey(t testing.TB) *signing.DeveloperKey {
	t.Helper()
	key, err := signing.Generate()
	require.NoError(t, err)
	return key
}

// recordingSigner counts how often its key was asked for a signature.
type recordingSigner struct {
	*signing.DeveloperKey
	signed [][]byte
}

func (s *recordingSigner) Sign(ctx context.Context, message []byte) ([]byte, error) {
	s.signed = append(s.signed, message)
	return s.DeveloperKey.Sign(ctx, message)
}
