package signing

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wrapped is a signer of a type that the package does not know.
type wrapped struct{ crypto.Signer }

// A key without its public half cannot verify. So if it still signs, it does not verify.
func TestOnlySignaturesOfOtherSignersAreVerified(t *testing.T) {
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	for _, private := range []crypto.Signer{p256, edwards, rsaKey} {
		own, err := FromSigner(private)
		require.NoError(t, err)
		foreign, err := FromSigner(wrapped{private})
		require.NoError(t, err)
		pointer := edwards
		behind, err := FromSigner(&pointer)
		require.NoError(t, err)
		t.Run(string(own.Algorithm()), func(t *testing.T) {
			for _, key := range []*DeveloperKey{own, foreign, behind} {
				_, err := key.Sign(t.Context(), []byte("message"))
				require.NoError(t, err)
				key.public = nil
			}
			_, err := own.Sign(t.Context(), []byte("message"))
			require.NoError(t, err)
			for _, key := range []*DeveloperKey{foreign, behind} {
				_, err = key.Sign(t.Context(), []byte("message"))
				require.ErrorIs(t, err, ErrSignatureInvalid)
			}
			assert.True(t, own.proven)
		})
	}
}
