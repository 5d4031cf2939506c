package security

import (
	"context"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"math/big"
	"testing"
	"time"

	"github.com/c2sp/wycheproof"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// vectors is what the signature verification files of Project Wycheproof have in common.
type vectors struct {
	NumberOfTests int `json:"numberOfTests"`
	TestGroups    []struct {
		PublicKeyDER string `json:"publicKeyDer"`
		Tests        []struct {
			ID      int    `json:"tcId"`
			Comment string `json:"comment"`
			Message string `json:"msg"`
			Sig     string `json:"sig"`
			Result  string `json:"result"`
		} `json:"tests"`
	} `json:"testGroups"`
}

func readVectors(t *testing.T, file string) vectors {
	t.Helper()
	data, err := fs.ReadFile(wycheproof.TestVectors, file)
	require.NoError(t, err)
	var v vectors
	require.NoError(t, json.Unmarshal(data, &v))
	return v
}

// secp256k1 is the order of the curve that wallets sign on.
const secp256k1 = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"

func TestVerifyWycheproof(t *testing.T) {
	ofWallets, ok := new(big.Int).SetString(secp256k1, 16)
	require.True(t, ok)
	type verify = func(public, message, signature []byte) error
	for file, tested := range map[string]struct {
		verify verify
		order  *big.Int // of an ECDSA curve
	}{
		"ecdsa_secp256r1_sha256_test.json":    {signing.Verify, elliptic.P256().Params().N},
		"ecdsa_secp256k1_sha256_test.json":    {wallet.Verify, ofWallets},
		"ed25519_test.json":                   {signing.Verify, nil},
		"rsa_signature_2048_sha256_test.json": {signing.Verify, nil},
		"rsa_signature_3072_sha256_test.json": {signing.Verify, nil},
		"rsa_signature_4096_sha256_test.json": {signing.Verify, nil},
	} {
		t.Run(file, func(t *testing.T) {
			v := readVectors(t, file)
			ran, valid, malleable := 0, 0, 0
			for _, group := range v.TestGroups {
				public := unhex(t, group.PublicKeyDER)
				for _, tc := range group.Tests {
					ran++
					signature := unhex(t, tc.Sig)
					err := tested.verify(public, unhex(t, tc.Message), signature)
					switch {
					case tc.Result == "valid" && tested.order != nil && highS(t, signature, tested.order):
						malleable++
						assert.ErrorIs(t, err, signing.ErrSignatureMalleable, "%d %s", tc.ID, tc.Comment)
					case tc.Result == "valid":
						valid++
						assert.NoError(t, err, "%d %s", tc.ID, tc.Comment)
					default: // "acceptable" signatures lack a NULL that PKCS #1 demands
						assert.ErrorIs(t, err, signing.ErrSignatureInvalid, "%d %s", tc.ID, tc.Comment)
						assert.NotErrorIs(t, err, signing.ErrSignatureMalleable, "%d %s", tc.ID, tc.Comment)
					}
				}
			}
			assert.Equal(t, v.NumberOfTests, ran)
			assert.Positive(t, valid)
			assert.Equal(t, tested.order != nil, malleable > 0, "only ECDSA signatures have two forms")
		})
	}
}

func highS(t *testing.T, signature []byte, order *big.Int) bool {
	t.Helper()
	var sig struct{ R, S *big.Int }
	_, err := asn1.Unmarshal(signature, &sig)
	require.NoError(t, err)
	return sig.S.Cmp(new(big.Int).Rsh(order, 1)) > 0
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	data, err := hex.DecodeString(s)
	require.NoError(t, err)
	return data
}

func TestVerifyRefusesKeys(t *testing.T) {
	weak, err := x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 1023), E: 65537})
	require.NoError(t, err)
	secp256k1 := readVectors(t, "ecdsa_secp256k1_sha256_test.json").TestGroups[0].PublicKeyDER
	noise := make([]byte, 91)
	_, _ = rand.Read(noise)
	noise[0] = 0
	for name, public := range map[string][]byte{
		"nothing": nil, "noise": noise, "weak RSA": weak, "secp256k1": unhex(t, secp256k1),
	} {
		t.Run(name, func(t *testing.T) {
			err := signing.Verify(public, nil, nil)
			_, ok := errors.AsType[*signing.KeyRefused](err)
			require.True(t, ok, "%v", err)
			if name == "nothing" || name == "noise" {
				require.ErrorContains(t, err, "this is not the public key of a supported algorithm")
			}
		})
	}
}

func TestNothingIsSignedWithoutAContext(t *testing.T) {
	var none context.Context
	developerKey, err := signing.Generate()
	require.NoError(t, err)
	walletKey, err := wallet.Generate()
	require.NoError(t, err)
	card := new(testkit.Wallet)
	sign := map[string]func() error{
		"a card's details": func() error {
			_, err := model.SignCardDetails(none, card, "card", time.Unix(1, 0))
			return err
		},
		"a login": func() error {
			_, err := signing.SignChallenge(none, developerKey, signing.Challenge{ID: "ch"}, nil)
			return err
		},
		"an approval": func() error {
			_, err := signing.SignApproval(none, developerKey, signing.Approval{}, signing.Intent{}, time.Unix(1, 0))
			return err
		},
		"with a developer key": func() error { _, err := developerKey.Sign(none, nil); return err },
		"with a wallet key":    func() error { _, err := walletKey.Sign(none, nil); return err },
		"a wallet's message":   func() error { _, err := walletKey.SignMessage(none, nil); return err },
	}
	for name, of := range sign {
		t.Run(name, func(t *testing.T) { testkit.CheckNoContext(t, of()) })
	}
	assert.False(t, card.Asked)
	t.Run("a zero key", func(t *testing.T) {
		_, err := new(signing.DeveloperKey).Sign(t.Context(), nil)
		require.ErrorIs(t, err, signing.ErrNoKey)
		_, err = new(wallet.Key).Sign(t.Context(), nil)
		require.ErrorIs(t, err, signing.ErrNoKey)
	})
}
