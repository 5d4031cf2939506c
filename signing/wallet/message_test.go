package wallet_test

import (
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// The example of the web3.js documentation (web3.eth.accounts.sign).
func TestSignMessageKnownAnswer(t *testing.T) {
	key, err := wallet.ParseHex("4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318")
	require.NoError(t, err)
	signature, err := key.SignMessage(t.Context(), []byte("Some data"))
	require.NoError(t, err)
	assert.Equal(t, "0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd"+
		"6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a029"+"1c", signature)

	address, err := wallet.RecoverAddress([]byte("Some data"), signature)
	require.NoError(t, err)
	assert.Equal(t, "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23", address)
}

func TestSignedMessagesRecoverTheirSigner(t *testing.T) {
	key := newKey(t)
	rapid.Check(t, func(t *rapid.T) {
		message := rapid.SliceOf(rapid.Byte()).Draw(t, "message")
		signature, err := key.SignMessage(context.Background(), message)
		require.NoError(t, err)
		require.Regexp(t, "^0x[0-9a-f]{128}1[bc]$", signature)

		address, err := wallet.RecoverAddress(message, signature)
		require.NoError(t, err)
		require.Equal(t, key.Address(), address)
		// Another message recovers to somebody else, if to anybody.
		address, _ = wallet.RecoverAddress(append(message, '!'), signature)
		require.NotEqual(t, key.Address(), address)
	})
}

func TestRecoverAddressTakesOtherSpellings(t *testing.T) {
	key := newKey(t)
	signature, err := key.SignMessage(t.Context(), []byte("message"))
	require.NoError(t, err)
	ledger := strings.NewReplacer("1b", "00", "1c", "01").Replace(signature[len(signature)-2:])
	for name, spelling := range map[string]string{
		"without prefix": signature[2:],
		"upper case":     "0x" + strings.ToUpper(signature[2:]),
		"V from 0":       signature[:len(signature)-2] + ledger,
	} {
		t.Run(name, func(t *testing.T) {
			address, err := wallet.RecoverAddress([]byte("message"), spelling)
			require.NoError(t, err)
			assert.Equal(t, key.Address(), address)
		})
	}
}

func TestRecoverAddressRefuses(t *testing.T) {
	good, err := newKey(t).SignMessage(t.Context(), []byte("message"))
	require.NoError(t, err)
	order := crypto.S256().Params().N
	part := func(n *big.Int) string { return hex.EncodeToString(n.FillBytes(make([]byte, 32))) }
	r, s, v := good[2:66], good[66:130], good[130:]
	low, ok := new(big.Int).SetString(s, 16)
	require.True(t, ok)
	notX := strings.Repeat("0", 63) + "5" // no point of the curve has this coordinate
	for name, tc := range map[string]struct {
		signature string
		malleable bool
	}{
		"nothing":       {"", false},
		"text":          {"0x" + strings.Repeat("zz", 65), false},
		"short":         {good[:len(good)-2], false},
		"long":          {good + "00", false},
		"zero R":        {part(new(big.Int)) + s + v, false},
		"zero S":        {r + part(new(big.Int)) + v, false},
		"R beyond":      {part(order) + s + v, false},
		"S beyond":      {r + part(order) + v, false},
		"high S":        {r + part(new(big.Int).Sub(order, low)) + v, true},
		"V 2":           {r + s + "02", false},
		"V 29":          {r + s + "1d", false},
		"V 255":         {r + s + "ff", false},
		"R of no point": {notX + s + v, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, recoverFrom := range []func() (string, error){
				func() (string, error) { return wallet.RecoverAddress([]byte("message"), tc.signature) },
				func() (string, error) { return wallet.RecoverTypedData([]byte(mail), tc.signature) },
			} {
				address, err := recoverFrom()
				require.ErrorIs(t, err, signing.ErrSignatureInvalid)
				switch name {
				case "nothing", "text", "short", "long":
					require.ErrorContains(t, err, "65 bytes")
				case "zero R", "zero S", "R beyond", "S beyond", "V 2", "V 29", "V 255":
					require.ErrorContains(t, err, "out of range")
				}
				if tc.malleable {
					require.ErrorIs(t, err, signing.ErrSignatureMalleable)
				} else {
					require.NotErrorIs(t, err, signing.ErrSignatureMalleable)
				}
				assert.Empty(t, address)
			}
		})
	}
}

func FuzzRecoverAddress(f *testing.F) {
	signature, err := cow(f).SignMessage(f.Context(), []byte("message"))
	require.NoError(f, err)
	f.Add([]byte("message"), signature)
	f.Add([]byte(nil), "0x")
	f.Fuzz(func(t *testing.T, message []byte, signature string) {
		address, err := wallet.RecoverAddress(message, signature)
		switch {
		case err != nil && (address != "" || !errors.Is(err, signing.ErrSignatureInvalid)):
			t.Fatalf("%q beside %v", address, err)
		case err == nil && !common.IsHexAddress(address):
			t.Fatalf("%q is not an address", address)
		}
	})
}
