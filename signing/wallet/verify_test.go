package wallet_test

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/internal/ecsig"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	data, err := hex.DecodeString(s)
	require.NoError(t, err)
	return data
}

func TestVerifyKnowsTheOtherKinds(t *testing.T) {
	for _, generate := range []func() (*signing.DeveloperKey, error){signing.Generate, signing.GenerateEd25519} {
		key, err := generate()
		require.NoError(t, err)
		signature, err := key.Sign(t.Context(), []byte("message"))
		require.NoError(t, err)
		require.NoError(t, wallet.Verify(key.PublicKey(), []byte("message"), signature))
		require.ErrorIs(t, wallet.Verify(key.PublicKey(), []byte("massage"), signature), signing.ErrSignatureInvalid)
	}
}

func TestOrderOfTheCurve(t *testing.T) {
	assert.Equal(t, crypto.S256().Params().N.Bytes(), ecsig.Secp256k1[:])
}

func TestVerifyRefusesKeys(t *testing.T) {
	// The point with X = 1, and again with X = p+1, which fits into 32 bytes too.
	const (
		y    = "4218f20ae6c646b363db68605822fb14264ca8d2587fdd6fbc750d587e76a7ee"
		one  = "0000000000000000000000000000000000000000000000000000000000000001"
		past = "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc30"
	)
	good := newKey(t).PublicKey()
	change := func(change func(der []byte) []byte) []byte { return change(append([]byte(nil), good...)) }
	reduced := change(func(der []byte) []byte { return append(der[:len(der)-64], unhex(t, one+y)...) })
	require.ErrorIs(t, wallet.Verify(reduced, nil, nil), signing.ErrSignatureInvalid, "a key that is fine")
	for name, public := range map[string][]byte{
		"nothing":          nil,
		"truncated":        good[:len(good)-1],
		"more behind":      append(append([]byte(nil), good...), 0),
		"off the curve":    change(func(der []byte) []byte { der[len(der)-1] ^= 1; return der }),
		"a hybrid point":   change(func(der []byte) []byte { der[len(der)-65] = 6; return der }),
		"unused bits":      change(func(der []byte) []byte { der[len(der)-66] = 1; return der }),
		"another spelling": change(func(der []byte) []byte { return append(der[:len(der)-64], unhex(t, past+y)...) }),
		"an unknown curve": change(func(der []byte) []byte { der[len(der)-69] = 99; return der }),
	} {
		t.Run(name, func(t *testing.T) {
			require.NotEqual(t, good, public)
			err := wallet.Verify(public, nil, nil)
			refused, ok := errors.AsType[*signing.KeyRefused](err)
			require.True(t, ok, "%v", err)
			switch name {
			case "more behind", "off the curve", "a hybrid point", "another spelling":
				assert.Equal(t, "secp256k1", refused.Kind, "what is wrong is the point alone")
			}
		})
	}
}
