package signing_test

import (
	"encoding/pem"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing"
)

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
