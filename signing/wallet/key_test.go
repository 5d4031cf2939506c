package wallet_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/internal/ecsig"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// cow is the key that the examples of EIP-712 sign with: keccak256("cow").
func cow(t testing.TB) *wallet.Key {
	t.Helper()
	key, err := wallet.ParseHex("0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4")
	require.NoError(t, err)
	return key
}

func newKey(t testing.TB) *wallet.Key {
	t.Helper()
	key, err := wallet.Generate()
	require.NoError(t, err)
	return key
}

func TestAddress(t *testing.T) {
	for private, address := range map[string]string{
		// EIP-712
		"c85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4": "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826",
		// the generator itself
		"0000000000000000000000000000000000000000000000000000000000000001": "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf",
		// web3.js documentation
		"4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318": "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23",
	} {
		for _, prefix := range []string{"", "0x"} {
			key, err := wallet.ParseHex(prefix + private)
			require.NoError(t, err)
			assert.Equal(t, address, key.Address())
		}
	}
}

func TestParseHexRefuses(t *testing.T) {
	const order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
	for name, s := range map[string]string{
		"nothing": "", "prefix": "0x", "text": strings.Repeat("secret", 11)[:64], "short": strings.Repeat("1", 62),
		"long": strings.Repeat("1", 66), "zero": strings.Repeat("0", 64), "order": order,
		"white space": " " + strings.Repeat("1", 64),
		"text behind": strings.Repeat("1", 64) + "zz",
	} {
		t.Run(name, func(t *testing.T) {
			key, err := wallet.ParseHex(s)
			refused, ok := errors.AsType[*signing.KeyRefused](err)
			require.True(t, ok, "%v", err)
			assert.NotContains(t, refused.Error(), "secret")
			assert.Equal(t, "secp256k1", refused.Kind)
			assert.Nil(t, key)
		})
	}
}

func TestSignaturesVerifyAndNothingElseDoes(t *testing.T) {
	key, other := newKey(t), newKey(t)
	assert.Equal(t, signing.ECDSASecp256k1SHA256, key.Algorithm())
	rapid.Check(t, func(t *rapid.T) {
		message := rapid.SliceOf(rapid.Byte()).Draw(t, "message")
		signature, err := key.Sign(context.Background(), message)
		require.NoError(t, err)
		require.NoError(t, wallet.Verify(key.PublicKey(), message, signature))

		damaged := append([]byte(nil), signature...)
		damaged[rapid.IntRange(0, len(damaged)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		require.ErrorIs(t, wallet.Verify(key.PublicKey(), message, damaged), signing.ErrSignatureInvalid)
		require.ErrorIs(t, wallet.Verify(key.PublicKey(), append(message, 0), signature), signing.ErrSignatureInvalid)
		require.ErrorIs(t, wallet.Verify(other.PublicKey(), message, signature), signing.ErrSignatureInvalid)
	})
}

func TestZeroKeySignsNothing(t *testing.T) {
	for name, key := range map[string]*wallet.Key{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			_, err := key.Sign(t.Context(), nil)
			require.ErrorIs(t, err, signing.ErrNoKey)
			_, err = key.SignMessage(t.Context(), nil)
			require.ErrorIs(t, err, signing.ErrNoKey)
			_, err = key.SignTypedData(t.Context(), []byte(mail))
			require.ErrorIs(t, err, signing.ErrNoKey)
			require.ErrorIs(t, key.Save(t.TempDir()+"/wallet.pem"), signing.ErrNoKey)
			assert.Empty(t, key.Address())
			assert.Nil(t, key.PublicKey())
			assert.Empty(t, key.PublicKeyBase64())
		})
	}
}

func TestEndedContextIsNotSigned(t *testing.T) {
	key := newKey(t)
	cause := errors.New("the caller hung up")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	text := func(signature string, err error) error {
		assert.Equal(t, err != nil, signature == "", "a signature, or an error")
		return err
	}
	for name, sign := range map[string]func(context.Context) error{
		"Sign":          func(ctx context.Context) error { _, err := key.Sign(ctx, nil); return err },
		"SignMessage":   func(ctx context.Context) error { return text(key.SignMessage(ctx, nil)) },
		"SignTypedData": func(ctx context.Context) error { return text(key.SignTypedData(ctx, []byte(mail))) },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, sign(t.Context()))
			for _, err := range []error{sign(ended), sign(nil)} { // a nil context does not panic
				_, typed := errors.AsType[*signing.NotSigned](err)
				require.True(t, typed, "%v", err)
			}
			require.ErrorContains(t, sign(nil), "Sign")
			require.ErrorIs(t, sign(ended), cause)
			require.ErrorIs(t, sign(ended), context.Canceled)
		})
	}
}

// The point of either encoding is the key's own.
func TestPublicKey(t *testing.T) {
	key := cow(t)
	der := key.PublicKey()
	public, err := crypto.UnmarshalPubkey(der[len(der)-65:])
	require.NoError(t, err)
	assert.Equal(t, key.Address(), crypto.PubkeyToAddress(*public).Hex())
	assert.Equal(t, base64.StdEncoding.EncodeToString(der), key.PublicKeyBase64())
	clear(der)
	assert.NotEqual(t, der, key.PublicKey(), "the slice is the caller's")
}

// renderings is everything that could print v.
func renderings(t *testing.T, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		out[verb] = fmt.Sprintf(verb, v)
	}
	encoded, err := json.Marshal(v)
	require.NoError(t, err)
	out["json"] = string(encoded)
	var text, structured bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("message", "key", v)
	slog.New(slog.NewJSONHandler(&structured, nil)).Info("message", "key", v)
	out["slog text"], out["slog json"] = text.String(), structured.String()
	return out
}

func TestPrivateKeysNeverPrint(t *testing.T) {
	secret := bytes.Repeat([]byte{0xAB, 0x5C}, 16)
	key, err := wallet.ParseHex(hex.EncodeToString(secret))
	require.NoError(t, err)
	traces := []string{
		hex.EncodeToString(secret[:8]), strings.ToUpper(hex.EncodeToString(secret[:8])),
		"171 92 171 92", "171, 92, 171, 92", "0xab, 0x5c", new(big.Int).SetBytes(secret).String(), string(secret[:8]),
	}
	type holder struct {
		Exported   *wallet.Key
		unexported *wallet.Key
		value      wallet.Key
	}
	for shape, v := range map[string]any{
		"pointer": key, "value": *key, "slice": []any{key, *key}, "holder": holder{key, key, *key},
	} {
		for form, text := range renderings(t, v) {
			for _, trace := range traces {
				assert.NotContains(t, text, trace, "%s %s", shape, form)
			}
		}
	}
	for form, text := range renderings(t, key) {
		assert.Contains(t, text, "wallet.Key("+key.Address()+" redacted)", form)
	}
	for form, text := range renderings(t, *key) {
		assert.Contains(t, text, "wallet.Key("+key.Address()+" redacted)", "a copy, %s", form)
	}
	assert.Equal(t, "wallet.Key(none)", fmt.Sprint(wallet.Key{}))
	assert.Equal(t, "wallet.Key(none)", wallet.Key{}.GoString())
}

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
