package signing_test

import (
	"bytes"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

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
		"p256-encrypted-1000000.pem", "p256-encrypted-sha512.pem",
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

// Editors on Windows begin a file with a byte order mark, and end lines with CRLF.
func TestKeyFilesSavedByAnEditor(t *testing.T) {
	saved := func(name string) []byte {
		text := "\ufeff" + strings.ReplaceAll(string(testdata(t, name)), "\n", "\r\n")
		return []byte(text)
	}
	key, err := signing.ParseDeveloperKey(saved("p256-pkcs8.pem"))
	require.NoError(t, err)
	requireKey(t, key, "p256-public.pem")
	key, err = signing.ParseEncryptedDeveloperKey(saved("p256-encrypted-default.pem"), []byte("correct"))
	require.NoError(t, err)
	requireKey(t, key, "p256-public.pem")
	_, err = signing.ParseDeveloperKey([]byte("\xff\xfe-\x00-\x00"))
	assert.ErrorContains(t, err, "UTF-16")
}

// A program that may use nothing but what FIPS 140 allows gets an error for another key file, and no panic.
func TestKeysUnderFIPS140(t *testing.T) {
	const child = "MONEYMOVEMENT_TEST_FIPS"
	if os.Getenv(child) == "" {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKeysUnderFIPS140$", "-test.v")
		command.Env = append(os.Environ(), child+"=1", "GODEBUG=fips140=only")
		said, err := command.CombinedOutput()
		require.NoError(t, err, "%s", said)
		assert.Contains(t, string(said), "--- PASS: TestKeysUnderFIPS140")
		return
	}
	for name, allowed := range map[string]bool{
		"p256-encrypted-default.pem": false, "p256-encrypted-scrypt.pem": false, "p256-encrypted-des3-sha1.pem": false,
		"p256-encrypted-sha512.pem": true, "p256-encrypted-1000000.pem": false,
	} {
		_, err := signing.ParseEncryptedDeveloperKey(testdata(t, name), []byte("correct"))
		if err != nil || !allowed {
			var refused *signing.KeyRefused
			require.ErrorAs(t, err, &refused, name)
			assert.ErrorContains(t, err, "-saltlen 16", name)
		}
	}
	key, err := signing.Generate()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, key.SaveEncrypted(path, []byte("a passphrase")))
	_, err = signing.LoadEncryptedDeveloperKey(path, []byte("a passphrase"))
	require.NoError(t, err, "what Save writes is allowed")
}

// The right passphrase of a key of another kind is not called wrong.
func TestParseEncryptedDeveloperKeyOfAnotherKind(t *testing.T) {
	_, err := signing.ParseEncryptedDeveloperKey(testdata(t, "secp256k1-encrypted.pem"), []byte("correct"))
	require.ErrorIs(t, err, signing.ErrPassphraseIncorrect)
	require.ErrorContains(t, err, "of a kind that is not supported")
}

func TestParseDeveloperKeyRefuses(t *testing.T) {
	p256 := testdata(t, "p256-pkcs8.pem")
	for name, tc := range map[string]struct {
		data   []byte
		reason string
	}{
		"nothing":           {nil, "neither PEM nor"},
		"text":              {[]byte("not a key"), "neither PEM nor"},
		"too much":          {bytes.Repeat(p256, 1000), "too long"},
		"damaged PEM":       {p256[:len(p256)-10], "damaged"},
		"DER and more":      {append(testdata(t, "p256-pkcs8.der"), 0), "exactly one DER value"},
		"another structure": {[]byte{0x30, 0x03, 0x02, 0x01, 0x05}, "not a PKCS #8"},
		"two keys":          {append(bytes.Clone(p256), testdata(t, "ed25519-pkcs8.pem")...), "more than one"},
		"a public key":      {testdata(t, "p256-public.pem"), "no private key"},
		"legacy encryption": {testdata(t, "p256-legacy-encrypted.pem"), "openssl pkcs8"},
		"OpenSSH": {pem.EncodeToMemory(&pem.Block{Type: "OPENSSH PRIVATE KEY", Bytes: []byte{1}}),
			"ssh-keygen"},
		"P-384":            {testdata(t, "p384-sec1.pem"), "P-256"},
		"secp256k1":        {testdata(t, "secp256k1-sec1.pem"), "package wallet"},
		"X25519":           {testdata(t, "x25519-pkcs8.pem"), "(*ecdh.PrivateKey): the key cannot sign"},
		"RSA of 1024 bits": {testdata(t, "rsa1024-pkcs8.pem"), "2048"},
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
				assert.Equal(t, refused.Kind != "",
					strings.Contains(refused.Error(), "key refused ("+refused.Kind+"): "), "%v", err)
			}
		})
	}
}

// encrypted builds an EncryptedPrivateKeyInfo from parts that a writer would not combine.
func encrypted(
	t *testing.T, kdf asn1.ObjectIdentifier, kdfParameters any, cipher asn1.ObjectIdentifier, iv, data []byte,
) []byte {
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
		"PBES1":       {testdata(t, "p256-encrypted-pbes1.pem"), "must be PBES2"},
		"another KDF": {encrypted(t, aesCBC, pbkdf2{salt, 1}, aesCBC, block, block), "PBKDF2 or scrypt"},
		"KDF damaged": {encrypted(t, oidPBKDF2, 1, aesCBC, block, block), "damaged"},
		"GCM":         {encrypted(t, oidPBKDF2, pbkdf2{salt, 1}, aesGCM, block, block), "CBC"},
		"short IV": {encrypted(t, oidPBKDF2, pbkdf2{salt, 1}, aesCBC, block[:8], block),
			"initialization vector"},
		"odd ciphertext": {encrypted(t, oidPBKDF2, pbkdf2{salt, 1}, aesCBC, block, block[:15]), "truncated"},
		"no ciphertext":  {encrypted(t, oidPBKDF2, pbkdf2{salt, 1}, aesCBC, block, nil), "truncated"},
		"endless PBKDF2": {encrypted(t, oidPBKDF2, pbkdf2{salt, 1 << 30}, aesCBC, block, block), "iterations"},
		"no iterations":  {encrypted(t, oidPBKDF2, pbkdf2{salt, 0}, aesCBC, block, block), "iterations"},
		"key length": {encrypted(t, oidPBKDF2, pbkdf2WithLength{salt, 1, 16}, aesCBC, block, block),
			"key length"},
		"scrypt damaged": {encrypted(t, oidScrypt, pbkdf2{salt, 1}, aesCBC, block, block), "damaged"},
		"scrypt cost":    {encrypted(t, oidScrypt, scrypt{salt, 1000, 8, 1}, aesCBC, block, block), "not valid"},
		"scrypt memory": {encrypted(t, oidScrypt, scrypt{salt, 1 << 30, 8, 1}, aesCBC, block, block),
			"too much work"},
		"scrypt block size": {encrypted(t, oidScrypt, scrypt{salt, 2, 1 << 30, 1}, aesCBC, block, block),
			"too much work"},
		"scrypt lanes": {encrypted(t, oidScrypt, scrypt{salt, 2, 8, 1 << 20}, aesCBC, block, block),
			"too much work"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := signing.ParseEncryptedDeveloperKey(tc.der, []byte("correct"))
			refused, ok := errors.AsType[*signing.KeyRefused](err)
			require.True(t, ok, "%v", err)
			assert.Contains(t, refused.Error(), tc.reason)
		})
	}
}

// Whatever is damaged, nothing is derived.
func TestDamagedEncryption(t *testing.T) {
	pbes2 := asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	scheme := func(parameters any) []byte {
		der, err := asn1.Marshal(struct {
			Scheme struct {
				OID        asn1.ObjectIdentifier
				Parameters any
			}
			Data []byte
		}{struct {
			OID        asn1.ObjectIdentifier
			Parameters any
		}{pbes2, parameters}, make([]byte, 16)})
		require.NoError(t, err)
		return der
	}
	require.ErrorContains(t, signing.CheckEncryption(scheme(1)), "PBES2 parameters are damaged")
	require.ErrorContains(t, signing.CheckEncryption(nil), "structure is damaged")
	block, _ := pem.Decode(testdata(t, "p256-encrypted-default.pem"))
	require.NotNil(t, block)
	whole := block.Bytes
	require.NoError(t, signing.CheckEncryption(whole))
	require.ErrorContains(t, signing.CheckEncryption(append(whole, 0)), "structure is damaged")
}

// What a file may cost is a product of its parameters, each of which alone is within reason.
func TestWorkOfAnEncryptedKeyIsBounded(t *testing.T) {
	type pbkdf2 struct {
		Salt       []byte
		Iterations int
		PRF        struct{ OID asn1.ObjectIdentifier }
	}
	type scrypt struct {
		Salt                   []byte
		Cost, BlockSize, Lanes int
	}
	var (
		oidPBKDF2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
		oidScrypt = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11591, 4, 11}
		withSHA1  = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 7}
		withSHA2  = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}
		aes128    = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 2}
		aes192    = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 22}
		aes256    = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}
		des3      = asn1.ObjectIdentifier{1, 2, 840, 113549, 3, 7}
		salt      = []byte("saltsalt")
	)
	const mostHashes = 10_000_000
	file := func(kdf asn1.ObjectIdentifier, parameters any, cipher asn1.ObjectIdentifier) []byte {
		block := make([]byte, 16)
		if cipher.Equal(des3) {
			block = block[:8]
		}
		return encrypted(t, kdf, parameters, cipher, block, block)
	}
	hashed := func(iterations int, prf, cipher asn1.ObjectIdentifier) []byte {
		p := pbkdf2{Salt: salt, Iterations: iterations}
		p.PRF.OID = prf
		return file(oidPBKDF2, p, cipher)
	}
	mixed := func(cost, blockSize, lanes int) []byte {
		require.LessOrEqual(t, cost*blockSize*lanes, 2*signing.MaxScryptWork,
			"so that a check which lets it through is not waited for long")
		return file(oidScrypt, scrypt{salt, cost, blockSize, lanes}, aes256)
	}
	for name, der := range map[string][]byte{
		"what OpenSSL writes":          hashed(2048, withSHA2, aes256),
		"a million iterations":         hashed(1_000_000, withSHA2, aes256),
		"a million of SHA-1":           hashed(1_000_000, withSHA1, des3),
		"most iterations":              hashed(mostHashes, withSHA2, aes256),
		"most of SHA-1, one block":     hashed(mostHashes, withSHA1, aes128),
		"most of SHA-1, two blocks":    hashed(mostHashes/2, withSHA1, aes256),
		"most of SHA-1, AES-192":       hashed(mostHashes/2, withSHA1, aes192),
		"OpenSSL's scrypt":             mixed(1<<14, 8, 1),
		"what wallets take for scrypt": mixed(1<<18, 8, 1),
		"most work in lanes":           mixed(1<<14, 8, 16),
		"most work in one block":       mixed(1<<8, 1<<13, 1),
		"the largest block":            mixed(2, 1<<13, 1),
		"the smallest block":           mixed(1<<14, 1, 1),
		"the longest salt":             file(oidScrypt, scrypt{make([]byte, 64), 1 << 14, 8, 1}, aes256),
	} {
		t.Run(name, func(t *testing.T) { require.NoError(t, signing.CheckEncryption(der)) })
	}
	for name, der := range map[string][]byte{
		"too many iterations":                 hashed(mostHashes+1, withSHA2, aes256),
		"too many of SHA-1, one block":        hashed(mostHashes+1, withSHA1, aes128),
		"too many of SHA-1, two blocks":       hashed(mostHashes/2+1, withSHA1, aes256),
		"too many of SHA-1, AES-192":          hashed(mostHashes/2+1, withSHA1, aes192),
		"too many of SHA-1, triple DES":       hashed(mostHashes/2+1, withSHA1, des3),
		"scrypt with more memory":             mixed(1<<19, 8, 1),
		"scrypt with another lane":            mixed(1<<18, 8, 2),
		"scrypt with more lanes of less":      mixed(1<<15, 8, 16),
		"scrypt with too many lanes":          mixed(1<<10, 8, 17),
		"scrypt with more blocks":             mixed(1<<18, 9, 1),
		"scrypt with blocks, memory and lane": mixed(1<<17, 16, 2),
		"scrypt with a larger block":          mixed(2, 1<<13+1, 1),
		"scrypt with larger blocks in lanes":  mixed(2, 1<<12, 4),
		"scrypt with a longer salt":           file(oidScrypt, scrypt{make([]byte, 65), 1 << 14, 8, 1}, aes256),
		// each block hashes it again
		"scrypt with a salt of the file's": file(oidScrypt, scrypt{make([]byte, 60_000), 2, 1 << 11, 1}, aes256),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := signing.ParseEncryptedDeveloperKey(der, []byte("correct"))
			refused, ok := errors.AsType[*signing.KeyRefused](err)
			require.True(t, ok, "%v", err)
			assert.Contains(t, refused.Reason, "openssl pkcs8 -topk8", "how to mend it")
		})
	}
	// whose product with another is more than a 32-bit, with two more than a 64-bit integer can hold
	const half = 1 << 30
	for _, p := range []scrypt{{salt, half, half, 1}, {salt, half, half, 16}, {salt, half, 8, half},
		{salt, 2, half, half}} {
		_, err := signing.ParseEncryptedDeveloperKey(file(oidScrypt, p, aes256), []byte("correct"))
		require.ErrorContains(t, err, "too much work", "%+v", p)
	}
}

// The error for data that is not a key does not call it a key without encryption.
func TestMalformedKeyIsNotReportedAsUnencrypted(t *testing.T) {
	_, err := signing.ParseEncryptedDeveloperKey([]byte{0x30, 0x03, 0x02, 0x01, 0x00}, []byte("passphrase"))
	_, refused := errors.AsType[*signing.KeyRefused](err)
	assert.True(t, refused, "%v", err)
	assert.NotErrorIs(t, err, signing.ErrNotEncrypted)
}

// addKeys adds the key files of openssl, as they are and as DER.
func addKeys(f *testing.F) {
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
}

// FuzzParseDeveloperKey: data is a key that signs, or is refused by a documented error, a line of bounded length that
// quotes none of it. Nothing is both a key and an encrypted one.
func FuzzParseDeveloperKey(f *testing.F) {
	addKeys(f)
	f.Add([]byte("-----BEGIN " + strings.Repeat("A", 5000) + "-----\n-----END " + strings.Repeat("A", 5000) +
		"-----\n"))
	f.Add([]byte("-----BEGIN \x1b[31mKEY-----\n-----END \x1b[31mKEY-----\n"))
	unknown, err := asn1.Marshal(struct {
		Version   int
		Algorithm pkix.AlgorithmIdentifier
		Key       []byte
	}{0, pkix.AlgorithmIdentifier{Algorithm: slices.Repeat(asn1.ObjectIdentifier{1}, 3000)}, []byte("key")})
	require.NoError(f, err)
	f.Add(unknown)
	consistent := map[string]bool{} // by public key: signing takes long
	f.Fuzz(func(t *testing.T, data []byte) {
		key, err := signing.ParseDeveloperKey(data)
		if err != nil {
			requireNoKey(t, data, key, err)
			return
		}
		if public := key.PublicKey(); !consistent[string(public)] {
			if signature, err := key.Sign(t.Context(), []byte("message")); err == nil &&
				signing.Verify(public, []byte("message"), signature) != nil {
				t.Fatalf("a key of %x signs for another", public)
			}
			consistent[string(public)] = true
		}
		if _, err := signing.ParseEncryptedDeveloperKey(data, []byte("correct")); !errors.Is(err,
			signing.ErrNotEncrypted) {
			t.Fatalf("a key without a passphrase, with one: %v", err)
		}
	})
}

func requireNoKey(t *testing.T, data []byte, key *signing.DeveloperKey, err error) {
	_, refused := errors.AsType[*signing.KeyRefused](err)
	if key != nil || !refused && !errors.Is(err, signing.ErrPassphraseRequired) {
		t.Fatalf("%v beside %v", key, err)
	}
	text := err.Error()
	if len(text) > 1000 || strings.ContainsFunc(text, unicode.IsControl) {
		t.Fatalf("%q is no bounded line", text)
	}
	if len(data) >= 16 && bytes.Contains([]byte(text), data) {
		t.Fatalf("%q quotes the key", text)
	}
}

func TestSaveAndLoad(t *testing.T) {
	eachKind(t, func(t *testing.T, key *signing.DeveloperKey) {
		path := filepath.Join(t.TempDir(), "developer.pem")
		require.NoError(t, key.Save(path))
		requireOwnerOnly(t, path)

		loaded, err := signing.LoadDeveloperKey(path)
		require.NoError(t, err)
		assert.Equal(t, key.PublicKey(), loaded.PublicKey())
		assert.Equal(t, key.Algorithm(), loaded.Algorithm())
		signature, err := loaded.Sign(t.Context(), []byte("message"))
		require.NoError(t, err)
		require.NoError(t, signing.Verify(key.PublicKey(), []byte("message"), signature))
	})
}

// A secret store takes the text that a file would have.
func TestPEMIsWhatSaveWrites(t *testing.T) {
	eachKind(t, func(t *testing.T, key *signing.DeveloperKey) {
		path := filepath.Join(t.TempDir(), "developer.pem")
		require.NoError(t, key.Save(path))
		written, err := os.ReadFile(path)
		require.NoError(t, err)
		text, err := key.PEM()
		require.NoError(t, err)
		assert.Equal(t, string(written), string(text))
	})
	_, err := new(signing.DeveloperKey).PEM()
	require.ErrorIs(t, err, signing.ErrNoKey)
}

// A guess at the passphrase of a file costs what it should, and no two files share the work.
func TestSavedKeysAreEncryptedWell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "developer.pem")
	require.NoError(t, newKey(t).SaveEncrypted(path, []byte("passphrase")))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	block, _ := pem.Decode(data)
	require.NotNil(t, block)
	var file struct {
		Scheme struct {
			OID        asn1.ObjectIdentifier
			Parameters struct {
				KDF struct {
					OID        asn1.ObjectIdentifier
					Parameters struct {
						Salt       []byte
						Iterations int
						PRF        pkix.AlgorithmIdentifier
					}
				}
				Cipher pkix.AlgorithmIdentifier
			}
		}
		Data []byte
	}
	_, err = asn1.Unmarshal(block.Bytes, &file)
	require.NoError(t, err)
	kdf := file.Scheme.Parameters.KDF
	assert.Equal(t, "1.2.840.113549.1.5.13", file.Scheme.OID.String(), "PBES2")
	assert.Equal(t, "1.2.840.113549.1.5.12", kdf.OID.String(), "PBKDF2")
	assert.Equal(t, "1.2.840.113549.2.9", kdf.Parameters.PRF.Algorithm.String(), "HMAC with SHA-256")
	assert.Equal(t, 600_000, kdf.Parameters.Iterations)
	assert.Len(t, kdf.Parameters.Salt, 16)
	assert.Equal(t, "2.16.840.1.101.3.4.1.42", file.Scheme.Parameters.Cipher.Algorithm.String(), "AES-256 in CBC mode")
}

func TestSaveEncryptedAndLoad(t *testing.T) {
	eachKind(t, func(t *testing.T, key *signing.DeveloperKey) {
		path := filepath.Join(t.TempDir(), "developer.pem")
		require.NoError(t, key.SaveEncrypted(path, []byte("passphrase")))
		requireOwnerOnly(t, path)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		block, _ := pem.Decode(data)
		require.NotNil(t, block)
		assert.Equal(t, "ENCRYPTED PRIVATE KEY", block.Type)

		loaded, err := signing.LoadEncryptedDeveloperKey(path, []byte("passphrase"))
		require.NoError(t, err)
		assert.Equal(t, key.PublicKey(), loaded.PublicKey())
		_, err = signing.LoadDeveloperKey(path)
		require.ErrorIs(t, err, signing.ErrPassphraseRequired)
	})
}

// requireOwnerOnly also proves that nothing else is left in the file's directory.
func requireOwnerOnly(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // which has no such modes
		assert.Equal(t, fs.FileMode(0o600), info.Mode())
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestSaveNeverOverwrites(t *testing.T) {
	key := newKey(t)
	for name, save := range map[string]func(path string) error{
		"plain":     key.Save,
		"encrypted": func(path string) error { return key.SaveEncrypted(path, []byte("passphrase")) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "developer.pem")
			require.NoError(t, os.WriteFile(path, []byte("precious"), 0o644))
			require.ErrorIs(t, save(path), fs.ErrExist)
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, "precious", string(content))
		})
	}
}

func TestSaveDoesNotFollowADanglingLink(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "developer.pem")
	if err := os.Symlink(filepath.Join(directory, "elsewhere"), path); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	require.ErrorIs(t, newKey(t).Save(path), fs.ErrExist)
	assert.NoFileExists(t, filepath.Join(directory, "elsewhere"))
}

func TestOneOfManyConcurrentSavesWins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "developer.pem")
	var wg sync.WaitGroup
	saved := make([]bool, 8)
	keys := make([]*signing.DeveloperKey, len(saved))
	for i := range saved {
		keys[i] = newKey(t)
		wg.Go(func() {
			err := keys[i].Save(path)
			saved[i] = err == nil
			if err != nil {
				assert.ErrorIs(t, err, fs.ErrExist)
			}
		})
	}
	wg.Wait()
	requireOwnerOnly(t, path)
	loaded, err := signing.LoadDeveloperKey(path)
	require.NoError(t, err)
	for i, won := range saved {
		assert.Equal(t, won, bytes.Equal(keys[i].PublicKey(), loaded.PublicKey()))
	}
}

func TestSaveEncryptedNeedsAPassphrase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "developer.pem")
	require.ErrorIs(t, newKey(t).SaveEncrypted(path, nil), signing.ErrPassphraseRequired)
	assert.NoFileExists(t, path)
}

func TestSaveIntoAMissingDirectory(t *testing.T) {
	require.ErrorIs(t, newKey(t).Save(filepath.Join(t.TempDir(), "none", "developer.pem")), fs.ErrNotExist)
}

func TestLoadReportsTheFile(t *testing.T) {
	directory := t.TempDir()
	_, err := signing.LoadDeveloperKey(filepath.Join(directory, "none.pem"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = signing.LoadEncryptedDeveloperKey(filepath.Join(directory, "none.pem"), []byte("p"))
	require.ErrorIs(t, err, fs.ErrNotExist)

	path := filepath.Join(directory, "developer.pem")
	require.NoError(t, os.WriteFile(path, []byte("secret that is not a key"), 0o600))
	_, err = signing.LoadDeveloperKey(path)
	_, ok := errors.AsType[*signing.KeyRefused](err)
	require.True(t, ok, "%v", err)
	assert.ErrorContains(t, err, path)
	assert.NotContains(t, err.Error(), "secret")

	require.NoError(t, os.WriteFile(path, make([]byte, 1<<20), 0o600))
	_, err = signing.LoadDeveloperKey(path)
	assert.ErrorContains(t, err, "too large")
}
