package signing_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing"
)

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

func TestHalvesOfTwoKeysAreRefusedWhenTheKeyIsMade(t *testing.T) {
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
func TestKeyFileWithHalvesOfTwoKeysIsRefused(t *testing.T) {
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
