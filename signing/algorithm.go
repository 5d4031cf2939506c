package signing

import (
	"bytes"
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

// Algorithm names a kind of key together with how it signs a message.
type Algorithm string

// The algorithms that the service accepts for developer keys.
const (
	// ECDSAP256SHA256 signs the SHA-256 digest on NIST P-256; signatures are ASN.1 DER with a low S.
	ECDSAP256SHA256 Algorithm = "ecdsa-p256-sha256"
	// Ed25519 signs the message itself (RFC 8032); signatures are 64 raw bytes.
	Ed25519 Algorithm = "ed25519"
	// RSAPKCS1v15SHA256 signs the SHA-256 digest with RSASSA-PKCS1-v1_5; signatures are as long as the modulus.
	RSAPKCS1v15SHA256 Algorithm = "rsa-pkcs1v15-sha256"
	// ECDSASecp256k1SHA256 signs the SHA-256 digest on secp256k1; signatures are ASN.1 DER with a low S.
	// Keys of this kind live in package wallet.
	ECDSASecp256k1SHA256 Algorithm = "ecdsa-secp256k1-sha256"
)

// RSA moduli outside these bounds, in bits, are refused: shorter ones are weak, and the signature of a longer one
// would not fit the service's limit of 2,048 characters. Source: Limits, Pages and sizes.
const (
	minRSABits = 2048
	maxRSABits = 8192
)

// Signer signs whole messages for the service. [*DeveloperKey] and wallet.Key implement it; so can anything else
// that holds a key of one of the four algorithms. Implementations must be safe for concurrent use.
type Signer interface {
	// PublicKey returns the public half as a DER SubjectPublicKeyInfo.
	PublicKey() []byte
	// Sign signs message, which it hashes itself as the algorithm says. ECDSA signatures are ASN.1 DER with a
	// low S, Ed25519 signatures 64 raw bytes, RSA signatures PKCS #1 v1.5. It returns ctx's error once ctx ended.
	Sign(ctx context.Context, message []byte) ([]byte, error)
}

// hash is what a signer of the algorithm is given: the digest's function, or zero for the message itself.
func (a Algorithm) hash() crypto.Hash {
	if a == Ed25519 {
		return crypto.Hash(0)
	}
	return crypto.SHA256
}

// identify tells the algorithm of a public key and encodes it, or returns [*KeyRefused].
func identify(public crypto.PublicKey) (Algorithm, []byte, error) {
	if isNil(public) {
		return "", nil, &KeyRefused{Kind: "nil", Reason: "there is no public key"}
	}
	algorithm, err := algorithmOf(public)
	if err != nil {
		return "", nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return "", nil, &KeyRefused{Kind: string(algorithm), Reason: "the public key is not valid", Err: err}
	}
	return algorithm, der, nil
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
		Reason: "only ECDSA P-256, Ed25519 and RSA keys sign for the service"}
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
			Reason: "the curve must be P-256 (secp256k1 keys live in package wallet)"}
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

// isNil also sees a nil pointer inside a non-nil interface, on which methods of the standard key types panic.
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

// clonePublic keeps an Ed25519 key, which is a slice, out of the caller's reach.
func clonePublic(public crypto.PublicKey) crypto.PublicKey {
	if key, ok := public.(ed25519.PublicKey); ok {
		return ed25519.PublicKey(bytes.Clone(key))
	}
	return public
}
