package signing_test

import (
	"bytes"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing"
)

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
