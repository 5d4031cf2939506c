package signing

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"reflect"
)

// Algorithm is a kind of key and how it signs a message.
type Algorithm string

// The algorithms that the service accepts for developer keys.
const (
	// ECDSAP256SHA256 signs the SHA-256 digest with NIST P-256. Signatures are ASN.1 DER with a low S.
	ECDSAP256SHA256 Algorithm = "ecdsa-p256-sha256"
	// Ed25519 signs the message itself (RFC 8032). Signatures are 64 raw bytes.
	Ed25519 Algorithm = "ed25519"
	// RSAPKCS1v15SHA256 signs the SHA-256 digest with RSASSA-PKCS1-v1_5. Signatures are as long as the modulus.
	RSAPKCS1v15SHA256 Algorithm = "rsa-pkcs1v15-sha256"
	// ECDSASecp256k1SHA256 signs the SHA-256 digest with secp256k1. Signatures are ASN.1 DER with a low S. Package
	// wallet has keys of this kind.
	ECDSASecp256k1SHA256 Algorithm = "ecdsa-secp256k1-sha256"
)

// The sizes of RSA moduli that are accepted, in bits. Shorter ones are weak. The signature of a longer one would exceed
// the service's limit of 2,048 characters.
const (
	minRSABits = 2048
	maxRSABits = 8192
)

// Signer signs messages for the service. [*DeveloperKey] and *wallet.Key implement it. You can implement it for any
// other key of one of the four algorithms. Implementations must be safe for concurrent use.
type Signer interface {
	// PublicKey returns the public half as a DER SubjectPublicKeyInfo.
	PublicKey() []byte
	// Sign returns the signature of message. It hashes the message as its [Algorithm] says. ECDSA signatures are ASN.1
	// DER with a low S, Ed25519 signatures are 64 raw bytes, and RSA signatures are PKCS #1 v1.5. If ctx has ended,
	// Sign returns its error.
	Sign(ctx context.Context, message []byte) ([]byte, error)
}

// hash returns the hash function whose digest a signer gets, or zero if it gets the message itself.
func (a Algorithm) hash() crypto.Hash {
	if a == Ed25519 {
		return crypto.Hash(0)
	}
	return crypto.SHA256
}

// publicHalf returns a developer key that cannot sign yet, or [*KeyRefused]. The caller can change its public key
// afterwards without effect.
func publicHalf(public crypto.PublicKey) (*DeveloperKey, error) {
	if isNil(public) {
		return nil, &KeyRefused{Kind: "nil", Reason: "there is no public key"}
	}
	algorithm, err := algorithmOf(public)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err == nil {
		public, err = x509.ParsePKIXPublicKey(der) // which is a copy
	}
	if err != nil {
		return nil, &KeyRefused{Kind: string(algorithm), Reason: "the public key is not valid", Err: err}
	}
	return &DeveloperKey{algorithm: algorithm, public: public, publicDER: der}, nil
}

func algorithmOf(public crypto.PublicKey) (Algorithm, error) {
	switch key := public.(type) {
	case *ecdsa.PublicKey:
		return ecdsaAlgorithm(key)
	case ed25519.PublicKey:
		if len(key) != ed25519.PublicKeySize {
			return "", &KeyRefused{Kind: "Ed25519", Reason: fmt.Sprintf("the public key has %d bytes, not %d", len(key),
				ed25519.PublicKeySize)}
		}
		return Ed25519, nil
	case *rsa.PublicKey:
		return rsaAlgorithm(key)
	}
	return "", &KeyRefused{Kind: fmt.Sprintf("%T", public),
		Reason: "it must be an ECDSA P-256, Ed25519 or RSA key"}
}

func ecdsaAlgorithm(key *ecdsa.PublicKey) (Algorithm, error) {
	switch {
	//lint:ignore SA1019 nothing else asks whether a key is empty without panicking
	case key.Curve == nil || key.X == nil || key.Y == nil: //nolint:staticcheck // as above
		return "", &KeyRefused{Kind: "ECDSA", Reason: "the public key is empty"}
	case key.Curve != elliptic.P256():
		name := "an unnamed curve"
		if params := key.Curve.Params(); params != nil {
			name = params.Name
		}
		return "", &KeyRefused{Kind: "ECDSA " + name,
			Reason: "the curve must be P-256 (for secp256k1 keys, use package wallet)"}
	}
	return ECDSAP256SHA256, nil
}

func rsaAlgorithm(key *rsa.PublicKey) (Algorithm, error) {
	if key.N == nil || key.N.Sign() <= 0 {
		return "", &KeyRefused{Kind: "RSA", Reason: "the public key is empty"}
	}
	return RSAPKCS1v15SHA256, checkRSABits(key.N.BitLen())
}

func checkRSABits(bits int) error {
	if bits < minRSABits || bits > maxRSABits {
		return &KeyRefused{
			Kind:   fmt.Sprintf("RSA %d", bits),
			Reason: fmt.Sprintf("the modulus must have %d to %d bits", minRSABits, maxRSABits),
		}
	}
	return nil
}

// isNil also finds a nil pointer in a non-nil interface, because methods of the standard key types panic on it.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Interface:
		return rv.IsNil()
	}
	return false
}
