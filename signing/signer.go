package signing

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"reflect"

	"github.com/moneymovement/moneymovement-go/signing/internal/ecsig"
)

// FromSigner returns a developer key that signs with s: an *ecdsa.PrivateKey on P-256, an ed25519.PrivateKey, an
// *rsa.PrivateKey of 2048 to 8192 bits, or a signer of a PKCS #11 or key-management library for such a key. It returns
// [*KeyRefused] for any other key. If s is a [crypto.MessageSigner], it gets the whole message.
//
// FromSigner copies a private key of one of the three types, so you can change or clear yours. It returns [*KeyRefused]
// if the private and the public half do not belong together.
//
// [crypto.Signer] has no context, so a signature that has begun cannot be canceled. To cancel signatures, use
// [FromRemote].
func FromSigner(s crypto.Signer) (*DeveloperKey, error) {
	if isNil(s) {
		return nil, &KeyRefused{Kind: "nil", Reason: "there is no signer"}
	}
	if private, ok := s.(ed25519.PrivateKey); ok && len(private) != ed25519.PrivateKeySize {
		return nil, &KeyRefused{Kind: "Ed25519", Reason: "the private key has the wrong length"}
	}
	key, err := publicHalf(s.Public())
	if err != nil {
		return nil, err
	}
	private, err := copyOf(s)
	if err != nil {
		return nil, &KeyRefused{Kind: string(key.algorithm), Reason: "the private key is not valid", Err: err}
	}
	if private == nil {
		key.sign = signWith(s, key.algorithm.hash())
		return key, nil
	}
	key.sign = signWith(private, key.algorithm.hash())
	key.export = func() crypto.PrivateKey { return private }
	if err := key.prove(); err != nil {
		return nil, err
	}
	return key, nil
}

func signWith(s crypto.Signer, hash crypto.Hash) signFunc {
	return func(_ context.Context, message []byte) ([]byte, error) {
		return crypto.SignMessage(s, rand.Reader, message, hash)
	}
}

// FromRemote returns a developer key whose private half stays in a key-management service. publicKey is its public
// half: an *ecdsa.PublicKey on P-256, an ed25519.PublicKey, or an *rsa.PublicKey of 2048 to 8192 bits. For any other
// key, FromRemote returns [*KeyRefused]. sign asks the service for a signature.
//
// For ECDSA and RSA keys, sign gets the SHA-256 digest of the message, and crypto.SHA256 as opts. It returns the
// signature in ASN.1 DER for ECDSA, and in PKCS #1 v1.5 for RSA. For Ed25519 keys, sign gets the whole message and
// crypto.Hash(0). It must return when ctx ends. ECDSA signatures may have a low or a high S. A signature that does not
// verify is refused, see [DeveloperKey.Sign].
func FromRemote(
	publicKey crypto.PublicKey,
	sign func(ctx context.Context, digestOrMessage []byte, opts crypto.SignerOpts) ([]byte, error),
) (*DeveloperKey, error) {
	if sign == nil {
		return nil, &KeyRefused{Kind: "nil", Reason: "there is no signing function"}
	}
	key, err := publicHalf(publicKey)
	if err != nil {
		return nil, err
	}
	key.sign = func(ctx context.Context, message []byte) ([]byte, error) {
		opts := key.algorithm.hash()
		if opts == crypto.SHA256 {
			digest := sha256.Sum256(message)
			return sign(ctx, digest[:], opts)
		}
		// A copy, so that sign cannot change what the signature is verified against.
		return sign(ctx, bytes.Clone(message), opts)
	}
	return key, nil
}

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
