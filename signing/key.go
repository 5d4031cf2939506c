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
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
)

// DeveloperKey is a key that logs in to the platform API and signs approvals. Make one with [Generate],
// [LoadDeveloperKey], [ParseDeveloperKey], [FromSigner] or [FromRemote]. The zero value has no key, and its methods
// fail with [ErrNoKey]. A DeveloperKey is safe for concurrent use if its signer is.
type DeveloperKey struct {
	algorithm Algorithm
	public    crypto.PublicKey
	publicDER []byte

	// The private half is only in functions. Packages that print structs by reflection, such as fmt, show the address
	// of a function, but they would show every byte of an Ed25519 key.
	sign   signFunc
	export func() crypto.PrivateKey

	// proven says that the private half is in this process and belongs to the public half, see prove.
	proven bool
}

// signFunc signs a whole message. Its result is verified, unless the key is proven.
type signFunc func(ctx context.Context, message []byte) ([]byte, error)

// Generate returns a new ECDSA P-256 key. Use this kind unless you need another one.
func Generate() (*DeveloperKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("signing: generate a P-256 key: %w", err)
	}
	return FromSigner(private)
}

// GenerateEd25519 returns a new Ed25519 key.
func GenerateEd25519() (*DeveloperKey, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("signing: generate an Ed25519 key: %w", err)
	}
	return FromSigner(private)
}

// GenerateRSA returns a new RSA key. bits is the size of its modulus, 2048 to 8192; for any other size it returns
// [*KeyRefused]. Prefer [Generate], or 2048 bits: larger RSA keys can log in, but their public halves are longer than
// the 512 characters that a payout's confirmation allows.
func GenerateRSA(bits int) (*DeveloperKey, error) {
	if err := checkRSABits(bits); err != nil {
		return nil, err
	}
	private, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return nil, fmt.Errorf("signing: generate an RSA key: %w", err)
	}
	return FromSigner(private)
}

// PublicKey returns the public half as a DER SubjectPublicKeyInfo, or nil for a zero key. Each call returns a new
// slice.
func (k *DeveloperKey) PublicKey() []byte {
	if k == nil {
		return nil
	}
	return bytes.Clone(k.publicDER)
}

// PublicKeyBase64 returns [DeveloperKey.PublicKey] in standard base64 with padding, which is how requests have it.
func (k *DeveloperKey) PublicKeyBase64() string {
	return base64.StdEncoding.EncodeToString(k.PublicKey())
}

// Algorithm returns the kind of key, or "" for a zero key.
func (k *DeveloperKey) Algorithm() Algorithm {
	if k == nil {
		return ""
	}
	return k.algorithm
}

// Fingerprint returns "SHA256:" and the hexadecimal SHA-256 digest of the public half, or "" for a zero key. It is safe
// to log.
func (k *DeveloperKey) Fingerprint() string {
	if k == nil || k.publicDER == nil {
		return ""
	}
	return fmt.Sprintf("SHA256:%x", sha256.Sum256(k.publicDER))
}

// Sign returns the signature of message, in the form that [Signer] describes. It never returns a signature that its
// public half does not verify. For a key in this process, the two halves were checked when the key was made. A
// signature by any other signer is verified each time. Every error is a [*NotSigned] that wraps its cause, such as
// [ErrNoKey], [*RemoteSignatureRefused] or the context's error.
func (k *DeveloperKey) Sign(ctx context.Context, message []byte) ([]byte, error) {
	if k == nil || k.sign == nil {
		return nil, &NotSigned{Err: ErrNoKey}
	}
	if err := ended(ctx); err != nil {
		return nil, err
	}
	signature, err := k.sign(ctx, message)
	if err != nil {
		return nil, &NotSigned{Err: fmt.Errorf("sign with %s key: %w", k.algorithm, err)}
	}
	if signature, err = k.checked(message, signature); err != nil {
		return nil, &NotSigned{Err: &RemoteSignatureRefused{Algorithm: k.algorithm, Err: err}}
	}
	return signature, nil
}

// checked returns a signature of message in its low form, if the public half verifies it.
func (k *DeveloperKey) checked(message, signature []byte) ([]byte, error) {
	if k.algorithm == ECDSAP256SHA256 {
		low, err := lowS(signature)
		if err != nil {
			return nil, err
		}
		signature = low
	}
	if k.proven {
		return signature, nil
	}
	if err := verify(k.public, message, signature); err != nil {
		return nil, err
	}
	return signature, nil
}

// These methods have value receivers, so they also work for a copied key.

// String returns the algorithm and a shortened [DeveloperKey.Fingerprint].
func (k DeveloperKey) String() string {
	if k.publicDER == nil {
		return "signing.DeveloperKey(none)"
	}
	return fmt.Sprintf("signing.DeveloperKey(%s %.23s… redacted)", k.algorithm, k.Fingerprint())
}

// Format writes [DeveloperKey.String] for every verb and flag.
func (k DeveloperKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// GoString returns [DeveloperKey.String].
func (k DeveloperKey) GoString() string { return k.String() }

// MarshalText returns [DeveloperKey.String], which JSON and other encodings show. It cannot be decoded.
func (k DeveloperKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue returns [DeveloperKey.String].
func (k DeveloperKey) LogValue() slog.Value { return slog.StringValue(k.String()) }

// copyOf returns a copy of a private key of the standard library, or nil for any other signer: only its maker knows
// what it does.
func copyOf(s crypto.Signer) (crypto.Signer, error) {
	switch key := s.(type) {
	case *ecdsa.PrivateKey:
		//lint:ignore SA1019 nothing else asks whether a key is empty without panicking
		if key.D == nil { //nolint:staticcheck // as above
			return nil, errors.New("it is empty")
		}
		scalar, err := key.Bytes()
		if err != nil {
			return nil, err
		}
		return ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
	case ed25519.PrivateKey:
		return ed25519.PrivateKey(bytes.Clone(key)), nil
	case *rsa.PrivateKey:
		return copyOfRSA(key), nil
	}
	return nil, nil //nolint:nilnil // as documented
}

func copyOfRSA(key *rsa.PrivateKey) *rsa.PrivateKey {
	copied := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: copyOfInt(key.N), E: key.E}, D: copyOfInt(key.D)}
	for _, prime := range key.Primes {
		copied.Primes = append(copied.Primes, copyOfInt(prime))
	}
	copied.Precompute()
	return copied
}

// copyOfInt keeps nil, which the rsa package reports.
func copyOfInt(n *big.Int) *big.Int {
	if n == nil {
		return nil
	}
	return new(big.Int).Set(n)
}

// prove checks that the two halves of a key belong together, so that its signatures need no verification: it signs a
// fixed text and verifies that. This works for all kinds of keys. Other checks do not: an RSA key's Validate
// needs exactly two primes, and deriving the public half says nothing about the code that signs.
//
// After that, only a fault of the hardware can make a signature that does not verify. The service refuses it, and
// nothing is paid. In RSA, such a signature would reveal the key. So crypto/rsa verifies each one itself.
func (k *DeveloperKey) prove() error {
	message := []byte("a test whether the halves of a developer key belong together")
	signature, err := k.sign(context.Background(), message)
	if err == nil {
		_, err = k.checked(message, signature)
	}
	if err != nil {
		return &KeyRefused{Kind: string(k.algorithm),
			Reason: "the private and the public half do not belong together", Err: err}
	}
	k.proven = true
	return nil
}
