package wallet

import (
	"crypto/sha256"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/internal/ecsig"
)

// Verify checks whether signature is a signature of message by the key publicKeyDER. The key is a DER
// SubjectPublicKeyInfo of any of the four kinds of developer keys: Verify is like signing.Verify, and also supports
// secp256k1. It returns nil if it is, and otherwise signing.ErrSignatureInvalid, signing.ErrSignatureMalleable for an
// ECDSA signature with a high S, or [*signing.KeyRefused].
func Verify(publicKeyDER, message, signature []byte) error {
	point, ok := secp256k1Point(publicKeyDER)
	switch {
	case !ok:
		return signing.Verify(publicKeyDER, message, signature)
	case point == nil:
		return refused("the public key is not valid")
	}
	sig, err := ecsig.Parse(signature)
	if err != nil || !sig.Within(ecsig.Secp256k1) {
		return signing.ErrSignatureInvalid
	}
	digest := sha256.Sum256(message)
	if !crypto.VerifySignature(point, digest[:], compact(sig.Normalized(ecsig.Secp256k1))) {
		return signing.ErrSignatureInvalid
	}
	if sig.HighS(ecsig.Secp256k1) {
		return signing.ErrSignatureMalleable
	}
	return nil
}

// compact returns R and S in 32 bytes each. Both must be below the order.
func compact(sig ecsig.Signature) []byte {
	both := make([]byte, 64)
	copy(both[32-len(sig.R):], sig.R)
	copy(both[64-len(sig.S):], sig.S)
	return both
}
