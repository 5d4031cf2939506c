package signing_test

import (
	"bytes"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing"
)

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

// requireKey proves that a key is the private half of a public key that OpenSSL wrote.
func requireKey(t *testing.T, key *signing.DeveloperKey, publicFile string) {
	t.Helper()
	block, _ := pem.Decode(testdata(t, publicFile))
	require.NotNil(t, block)
	assert.Equal(t, block.Bytes, key.PublicKey())
	signature, err := key.Sign(t.Context(), []byte("message"))
	require.NoError(t, err)
	require.NoError(t, signing.Verify(block.Bytes, []byte("message"), signature))
}

func TestParseDeveloperKeyReadsWhatOpenSSLWrites(t *testing.T) {
	for name, public := range map[string]string{
		"p256-sec1-with-parameters.pem": "p256-public.pem",
		"p256-sec1.der":                 "p256-public.pem",
		"p256-pkcs8.pem":                "p256-public.pem",
		"p256-pkcs8.der":                "p256-public.pem",
		"rsa-pkcs1.pem":                 "rsa-public.pem",
		"ed25519-pkcs8.pem":             "ed25519-public.pem",
	} {
		t.Run(name, func(t *testing.T) {
			key, err := signing.ParseDeveloperKey(testdata(t, name))
			require.NoError(t, err)
			requireKey(t, key, public)

			key, err = signing.LoadDeveloperKey(filepath.Join("testdata", name))
			require.NoError(t, err)
			requireKey(t, key, public)

			_, err = signing.ParseEncryptedDeveloperKey(testdata(t, name), []byte("correct"))
			require.ErrorIs(t, err, signing.ErrNotEncrypted)
		})
	}
}

func TestParseEncryptedDeveloperKeyReadsWhatOpenSSLWrites(t *testing.T) {
	for _, name := range []string{
		"p256-encrypted-default.pem", "p256-encrypted-scrypt.pem", "p256-encrypted-des3-sha1.pem",
	} {
		t.Run(name, func(t *testing.T) {
			key, err := signing.ParseEncryptedDeveloperKey(testdata(t, name), []byte("correct"))
			require.NoError(t, err)
			requireKey(t, key, "p256-public.pem")

			_, err = signing.ParseEncryptedDeveloperKey(testdata(t, name), []byte("wrong"))
			require.ErrorIs(t, err, signing.ErrPassphraseIncorrect)
			_, err = signing.ParseEncryptedDeveloperKey(testdata(t, name), nil)
			require.ErrorIs(t, err, signing.ErrPassphraseRequired)
			_, err = signing.ParseDeveloperKey(testdata(t, name))
			require.ErrorIs(t, err, signing.ErrPassphraseRequired)
		})
	}
}

// The right passphrase of a key of another kind is not called wrong.
func TestParseEncryptedDeveloperKeyOfAnotherKind(t *testing.T) {
	_, err := signing.ParseEncryptedDeveloperKey(testdata(t, "secp256k1-encrypted.pem"), []byte("correct"))
	require.ErrorIs(t, err, signing.ErrPassphraseIncorrect)
	require.ErrorContains(t, err, "of a supported kind")
}

func TestParseDeveloperKeyRefuses(t *testing.T) {
	p256 := testdata(t, "p256-pkcs8.pem")
	for name, tc := range map[string]struct {
		data   []byte
		reason string
	}{
		"nothing":           {nil, "neither PEM nor"},
		"text":              {[]byte("not a key"), "neither PEM nor"},
		"too much":          {bytes.Repeat(p256, 1000), "too many"},
		"damaged PEM":       {p256[:len(p256)-10], "damaged"},
		"DER and more":      {append(testdata(t, "p256-pkcs8.der"), 0), "exactly one DER value"},
		"another structure": {[]byte{0x30, 0x03, 0x02, 0x01, 0x05}, "no PKCS #8"},
		"two keys":          {append(bytes.Clone(p256), testdata(t, "ed25519-pkcs8.pem")...), "more than one"},
		"a public key":      {testdata(t, "p256-public.pem"), "no private key"},
		"legacy encryption": {testdata(t, "p256-legacy-encrypted.pem"), "openssl pkcs8"},
		"OpenSSH":           {pem.EncodeToMemory(&pem.Block{Type: "OPENSSH PRIVATE KEY", Bytes: []byte{1}}), "ssh-keygen"},
		"P-384":             {testdata(t, "p384-sec1.pem"), "P-256"},
		"secp256k1":         {testdata(t, "secp256k1-sec1.pem"), "package wallet"},
		"X25519":            {testdata(t, "x25519-pkcs8.pem"), "cannot sign"},
		"RSA of 1024 bits":  {testdata(t, "rsa1024-pkcs8.pem"), "2048"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, parse := range []func([]byte) (*signing.DeveloperKey, error){
				signing.ParseDeveloperKey,
				func(data []byte) (*signing.DeveloperKey, error) {
					return signing.ParseEncryptedDeveloperKey(data, []byte("correct"))
				},
			} {
				key, err := parse(tc.data)
				assert.Nil(t, key)
				if errors.Is(err, signing.ErrNotEncrypted) {
					continue // the passphrase is what is wrong first
				}
				refused, ok := errors.AsType[*signing.KeyRefused](err)
				require.True(t, ok, "%v", err)
				assert.Contains(t, refused.Error(), tc.reason)
				assert.Equal(t, refused.Kind != "", strings.Contains(refused.Error(), "key refused ("+refused.Kind+"): "), "%v", err)
			}
		})
	}
}

// encrypted builds an EncryptedPrivateKeyInfo from parts that a writer would not combine.
func encrypted(t *testing.T, kdf asn1.ObjectIdentifier, kdfParameters any, cipher asn1.ObjectIdentifier, iv, data []byte) []byte {
	t.Helper()
	type algorithm struct {
		OID        asn1.ObjectIdentifier
		Parameters any
	}
	der, err := asn1.Marshal(struct {
		Scheme struct {
			OID        asn1.ObjectIdentifier
			Parameters struct{ KDF, Cipher algorithm }
		}
		Data []byte
	}{
		Scheme: struct {
			OID        asn1.ObjectIdentifier
			Parameters struct{ KDF, Cipher algorithm }
		}{
			OID:        asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13},
			Parameters: struct{ KDF, Cipher algorithm }{algorithm{kdf, kdfParameters}, algorithm{cipher, iv}},
		},
		Data: data,
	})
	require.NoError(t, err)
	return der
}

func TestParseEncryptedDeveloperKeyRefuses(t *testing.T) {
	type pbkdf2 struct {
		Salt       []byte
		Iterations int
	}
	type pbkdf2WithLength struct {
		Salt                  []byte
		Iterations, KeyLength int
	}
	type scrypt struct {
		Salt                   []byte
		Cost, BlockSize, Lanes int
	}
	var (
		salt      = []byte("saltsalt")
		oidPBKDF2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
		oidScrypt = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11591, 4, 11}
		aesCBC    = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}
		aesGCM    = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 46}
		block     = make([]byte, 16)
	)
	for name, tc := range map[string]struct {
		der    []byte
		reason string
	}{
		"PBES1":             {testdata(t, "p256-encrypted-pbes1.pem"), "PBES2"},
		"HMAC with SHA-512": {testdata(t, "p256-encrypted-sha512.pem"), "HMAC"},
		"another KDF":       {encrypted(t, aesCBC, pbkdf2{salt, 1}, aesCBC, block, block), "PBKDF2 or scrypt"},
		"KDF damaged":       {encrypted(t, oidPBKDF2, 1, aesCBC, block, block), "damaged"},
		"GCM":               {encrypted(t, oidPBKDF2, pbkdf2{salt, 1}, aesGCM, block, block), "CBC"},
		"short IV":          {encrypted(t, oidPBKDF2, pbkdf2{salt, 1}, aesCBC, block[:8], block), "initialization vector"},
		"odd ciphertext":    {encrypted(t, oidPBKDF2, pbkdf2{salt, 1}, aesCBC, block, block[:15]), "truncated"},
		"no ciphertext":     {encrypted(t, oidPBKDF2, pbkdf2{salt, 1}, aesCBC, block, nil), "truncated"},
		"endless PBKDF2":    {encrypted(t, oidPBKDF2, pbkdf2{salt, 1 << 30}, aesCBC, block, block), "iterations"},
		"no iterations":     {encrypted(t, oidPBKDF2, pbkdf2{salt, 0}, aesCBC, block, block), "iterations"},
		"key length":        {encrypted(t, oidPBKDF2, pbkdf2WithLength{salt, 1, 32}, aesCBC, block, block), "key length"},
		"scrypt damaged":    {encrypted(t, oidScrypt, pbkdf2{salt, 1}, aesCBC, block, block), "damaged"},
		"scrypt cost":       {encrypted(t, oidScrypt, scrypt{salt, 1000, 8, 1}, aesCBC, block, block), "not valid"},
		"scrypt memory":     {encrypted(t, oidScrypt, scrypt{salt, 1 << 30, 8, 1}, aesCBC, block, block), "too much work"},
		"scrypt block size": {encrypted(t, oidScrypt, scrypt{salt, 2, 1 << 30, 1}, aesCBC, block, block), "too much work"},
		"scrypt lanes":      {encrypted(t, oidScrypt, scrypt{salt, 2, 8, 1 << 20}, aesCBC, block, block), "too much work"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := signing.ParseEncryptedDeveloperKey(tc.der, []byte("correct"))
			refused, ok := errors.AsType[*signing.KeyRefused](err)
			require.True(t, ok, "%v", err)
			assert.Contains(t, refused.Error(), tc.reason)
		})
	}
}

// FuzzParseDeveloperKey proves that no data makes the parsers panic, and that a key that they return signs.
func FuzzParseDeveloperKey(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
		if block, _ := pem.Decode(data); block != nil {
			f.Add(block.Bytes)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		key, err := signing.ParseDeveloperKey(data)
		if err != nil {
			require.Nil(t, key)
		} else {
			requireConsistent(t, key)
		}
		key, err = signing.ParseEncryptedDeveloperKey(data, []byte("correct"))
		if err != nil {
			require.Nil(t, key)
		} else {
			requireConsistent(t, key)
		}
	})
}

// requireConsistent proves that whatever a key signs verifies.
func requireConsistent(t *testing.T, key *signing.DeveloperKey) {
	t.Helper()
	if signature, err := key.Sign(t.Context(), []byte("message")); err == nil {
		require.NoError(t, signing.Verify(key.PublicKey(), []byte("message"), signature))
	}
}
