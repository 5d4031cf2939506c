package wallet_test

import (
	"bytes"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

func TestParseKeyReadsWhatOpenSSLWrites(t *testing.T) {
	public, _ := pem.Decode(testdata(t, "secp256k1-public.pem"))
	require.NotNil(t, public)
	for _, name := range []string{
		"secp256k1-sec1.pem", "secp256k1-sec1-with-parameters.pem", "secp256k1-sec1.der",
		"secp256k1-sec1-compressed.pem", "secp256k1-pkcs8.pem", "secp256k1-pkcs8.der",
	} {
		t.Run(name, func(t *testing.T) {
			key, err := wallet.ParseKey(testdata(t, name))
			require.NoError(t, err)
			assert.Equal(t, public.Bytes, key.PublicKey())
			key, err = wallet.LoadKey(filepath.Join("testdata", name))
			require.NoError(t, err)
			assert.Equal(t, public.Bytes, key.PublicKey())
		})
	}
}

func TestVerifyAcceptsWhatOpenSSLSigned(t *testing.T) {
	public, _ := pem.Decode(testdata(t, "secp256k1-public.pem"))
	require.NotNil(t, public)
	require.NoError(t, wallet.Verify(public.Bytes, []byte("message"), testdata(t, "message.sig")))
}

func TestParseKeyRefuses(t *testing.T) {
	good := testdata(t, "secp256k1-pkcs8.der")
	sec1 := func(version int, scalar []byte, curve asn1.ObjectIdentifier, point []byte) []byte {
		der, err := asn1.Marshal(struct {
			Version int
			Scalar  []byte
			Curve   asn1.ObjectIdentifier `asn1:"optional,explicit,tag:0"`
			Point   asn1.BitString        `asn1:"optional,explicit,tag:1"`
		}{version, scalar, curve, asn1.BitString{Bytes: point, BitLength: 8 * len(point)}})
		require.NoError(t, err)
		return der
	}
	secp256k1 := asn1.ObjectIdentifier{1, 3, 132, 0, 10}
	one := append(make([]byte, 31), 1)
	inPKCS8 := func(algorithm asn1.ObjectIdentifier, curve []byte, more ...byte) []byte {
		der, err := asn1.Marshal(struct {
			Version   int
			Algorithm pkix.AlgorithmIdentifier
			Key       []byte
		}{0, pkix.AlgorithmIdentifier{Algorithm: algorithm, Parameters: asn1.RawValue{FullBytes: curve}},
			append(sec1(1, one, nil, nil), more...)})
		require.NoError(t, err)
		return der
	}
	ecPublicKey, curve := asn1.ObjectIdentifier{1, 2, 840, 10045, 2, 1}, []byte{6, 5, 0x2b, 0x81, 4, 0, 10}
	other := newKey(t).PublicKey()
	otherPoint := other[len(other)-65:]
	_, err := wallet.ParseKey(sec1(1, one, secp256k1, nil))
	require.NoError(t, err, "what the damaged ones are compared with")
	_, err = wallet.ParseKey(inPKCS8(ecPublicKey, curve))
	require.NoError(t, err, "what the damaged ones are compared with")
	for name, tc := range map[string]struct {
		data   []byte
		reason string
	}{
		"nothing":            {nil, "neither PEM nor"},
		"truncated":          {good[:len(good)-1], "neither PEM nor"},
		"more behind":        {append(append([]byte(nil), good...), 0), "exactly one"},
		"another structure":  {[]byte{0x30, 0x03, 0x02, 0x01, 0x05}, "not a PKCS #8"},
		"a P-256 key":        {testdata(t, "../../testdata/p256-pkcs8.pem"), "another algorithm"},
		"a P-256 key, SEC 1": {testdata(t, "../../testdata/p256-sec1.der"), "another curve"},
		"an Ed25519 key":     {testdata(t, "../../testdata/ed25519-pkcs8.pem"), "another algorithm"},
		"an encrypted key":   {testdata(t, "../../testdata/secp256k1-encrypted.pem"), "is encrypted"},
		"a public key":       {testdata(t, "secp256k1-public.pem"), "no private key"},
		"another version":    {sec1(2, one, secp256k1, nil), "not a PKCS #8"},
		"another algorithm":  {inPKCS8(asn1.ObjectIdentifier{1, 3, 132, 1, 12}, curve), "another algorithm"},
		"more in the key":    {inPKCS8(ecPublicKey, curve, 0), "not a PKCS #8"},
		"a curve of no kind": {inPKCS8(ecPublicKey, []byte{5, 0}), "another algorithm"},
		"no curve":           {sec1(1, one, nil, nil), "another curve"},
		"short scalar":       {sec1(1, one[1:], secp256k1, nil), "32 bytes"},
		"zero":               {sec1(1, make([]byte, 32), secp256k1, nil), "within the curve's order"},
		"another public key": {sec1(1, one, secp256k1, otherPoint), "does not belong to the private key"},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := wallet.ParseKey(tc.data)
			refused, ok := errors.AsType[*signing.KeyRefused](err)
			require.True(t, ok, "%v", err)
			assert.Contains(t, refused.Error(), tc.reason)
			assert.Nil(t, key)
		})
	}
}

func TestSaveAndLoad(t *testing.T) {
	key := newKey(t)
	path := filepath.Join(t.TempDir(), "wallet.pem")
	require.NoError(t, key.Save(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // which has no such modes
		assert.Equal(t, fs.FileMode(0o600), info.Mode())
	}
	loaded, err := wallet.LoadKey(path)
	require.NoError(t, err)
	assert.Equal(t, key.Address(), loaded.Address())
	assert.Equal(t, key.PublicKey(), loaded.PublicKey())

	require.ErrorIs(t, newKey(t).Save(path), fs.ErrExist)
	loaded, err = wallet.LoadKey(path)
	require.NoError(t, err)
	assert.Equal(t, key.Address(), loaded.Address(), "overwritten")

	_, err = wallet.LoadKey(filepath.Join(t.TempDir(), "none.pem"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("secret that is not a key"), 0o600))
	_, err = wallet.LoadKey(path)
	require.ErrorContains(t, err, path)
	assert.NotContains(t, err.Error(), "secret")
}

// What is saved is byte for byte what OpenSSL writes for the same key.
func TestSaveWritesWhatOpenSSLWrites(t *testing.T) {
	key, err := wallet.ParseKey(testdata(t, "secp256k1-sec1.der"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "wallet.pem")
	require.NoError(t, key.Save(path))
	saved, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(testdata(t, "secp256k1-pkcs8.pem")), string(saved))
	text, err := key.PEM()
	require.NoError(t, err)
	assert.Equal(t, string(saved), string(text), "a secret store takes the same text")
	_, err = new(wallet.Key).PEM()
	require.ErrorIs(t, err, signing.ErrNoKey)
}

// FuzzParseKey: data is a key that signs, or is refused as *signing.KeyRefused, in one bounded line that quotes none of
// it.
func FuzzParseKey(f *testing.F) {
	for _, name := range []string{"secp256k1-sec1-with-parameters.pem", "secp256k1-sec1.der", "secp256k1-pkcs8.der"} {
		f.Add(testdata(f, name))
	}
	f.Add([]byte("-----BEGIN \x1b[31mKEY-----\n-----END \x1b[31mKEY-----\n"))
	consistent := map[string]bool{} // by public key: signing takes long
	f.Fuzz(func(t *testing.T, data []byte) {
		key, err := wallet.ParseKey(data)
		if err != nil {
			if _, refused := errors.AsType[*signing.KeyRefused](err); !refused || key != nil {
				t.Fatalf("%v beside %v", key, err)
			}
			text := err.Error()
			if len(text) > 1000 || strings.ContainsFunc(text, unicode.IsControl) || len(data) >= 16 &&
				strings.Contains(text, string(data)) {
				t.Fatalf("%q is no bounded line, or quotes the key", text)
			}
			return
		}
		if public := key.PublicKey(); !consistent[string(public)] {
			if signature, err := key.Sign(t.Context(), data); err != nil ||
				wallet.Verify(public, data, signature) != nil {
				t.Fatalf("a key of %x does not sign: %v", public, err)
			}
			consistent[string(public)] = true
		}
	})
}

func FuzzVerify(f *testing.F) {
	key := cow(f)
	signature, err := key.Sign(f.Context(), []byte("message"))
	require.NoError(f, err)
	f.Add(key.PublicKey(), signature)
	f.Fuzz(func(t *testing.T, public, other []byte) {
		if wallet.Verify(public, []byte("message"), other) == nil && !bytes.Equal(public, key.PublicKey()) {
			t.Fatalf("%x is a forgery by %x", other, public)
		}
	})
}
