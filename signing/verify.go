package signing

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"

	"github.com/moneymovement/moneymovement-go/signing/internal/ecsig"
)

// Verify checks whether signature is a signature of message by the key publicKeyDER. The key is a DER
// SubjectPublicKeyInfo of an ECDSA P-256, Ed25519 or RSA key. Verify returns nil if it is, and otherwise
// [ErrSignatureInvalid], [ErrSignatureMalleable] for an ECDSA signature with a high S, or [*KeyRefused] for any other
// kind of key. wallet.Verify also supports secp256k1 keys.
func Verify(publicKeyDER, message, signature []byte) error {
	public, err := x509.ParsePKIXPublicKey(publicKeyDER)
	if err != nil {
		return &KeyRefused{Reason: "this is not the public key of a supported algorithm", Err: err}
	}
	if _, err := algorithmOf(public); err != nil {
		return err
	}
	return verify(public, message, signature)
}

// verify accepts only public keys that algorithmOf accepts.
func verify(public crypto.PublicKey, message, signature []byte) error {
	switch key := public.(type) {
	case *ecdsa.PublicKey:
		return verifyECDSA(key, message, signature)
	case ed25519.PublicKey:
		if !ed25519.Verify(key, message, signature) {
			return ErrSignatureInvalid
		}
	case *rsa.PublicKey:
		digest := sha256.Sum256(message)
		if rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature) != nil {
			return ErrSignatureInvalid
		}
	default:
		return ErrSignatureInvalid
	}
	return nil
}

func verifyECDSA(key *ecdsa.PublicKey, message, signature []byte) error {
	digest := sha256.Sum256(message)
	if !ecdsa.VerifyASN1(key, digest[:], signature) {
		return ErrSignatureInvalid
	}
	sig, err := ecsig.Parse(signature)
	if err != nil {
		return ErrSignatureInvalid
	}
	if sig.HighS(ecsig.P256) {
		return ErrSignatureMalleable
	}
	return nil
}

// lowS returns the low-S form of an ECDSA P-256 signature. Signers may return either form.
func lowS(signature []byte) ([]byte, error) {
	sig, err := ecsig.Parse(signature)
	if err != nil {
		return nil, err
	}
	return sig.Normalized(ecsig.P256).Marshal(), nil
}
