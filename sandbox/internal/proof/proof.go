// Package proof verifies signatures of callers: a challenge or an approval with a developer key, a message with a
// wallet.
//
// Anybody can turn an ECDSA signature into its other form, with a high S instead of a low one, and most libraries make
// either form. The description requires neither. So both are accepted, unless the caller of this package requires a low
// S.
package proof

import (
	"encoding/hex"
	"errors"
	"math/big"
	"strings"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// Check returns nil if a message is signed by a public key (DER SubjectPublicKeyInfo), or what is wrong.
func Check(publicKey, message, signature []byte, requireLowS bool) *refuse.Refusal {
	switch err := wallet.Verify(publicKey, message, signature); {
	case err == nil:
		return nil
	case !errors.Is(err, signing.ErrSignatureMalleable):
		return refuse.SignatureInvalid()
	case requireLowS:
		return refuse.SignatureHighS()
	default:
		return nil
	}
}

// Signer returns the address of the wallet that signed a personal message (EIP-191). Any bytes with the length of a
// signature lead to some address.
func Signer(message []byte, signature string, requireLowS bool) (address string, refused *refuse.Refusal) {
	address, err := wallet.RecoverAddress(message, signature)
	if errors.Is(err, signing.ErrSignatureMalleable) {
		if requireLowS {
			return "", refuse.SignatureHighS()
		}
		address, err = wallet.RecoverAddress(message, withLowS(signature))
	}
	if err != nil {
		return "", refuse.SignatureInvalid()
	}
	return address, nil
}

// secp256k1Order is the order of the curve (SEC 2).
var secp256k1Order, _ = new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)

// withLowS turns a valid signature with a high S into its other form, which has the other recovery id.
func withLowS(signature string) string {
	raw, err := hex.DecodeString(strings.TrimPrefix(signature, "0x"))
	if err != nil || len(raw) != 65 {
		return signature
	}
	s := new(big.Int).SetBytes(raw[32:64])
	s.Sub(secp256k1Order, s).FillBytes(raw[32:64])
	if v := raw[64]; v < 27 {
		raw[64] = 1 - v
	} else {
		raw[64] = 27 + 28 - v
	}
	return hex.EncodeToString(raw)
}
