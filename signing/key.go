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
	"fmt"
)

// DeveloperKey is a key that logs in to the platform API and signs approvals. Make one with [Generate],
// [LoadDeveloperKey], [ParseDeveloperKey], [FromSigner] or [FromRemote]; the zero value holds no key, and signs
// nothing ([ErrNoKey]). It is safe for concurrent use if its signer is. Source: Authentication, Platform API.
type DeveloperKey struct {
	algorithm Algorithm
	public    crypto.PublicKey
	publicDER []byte

	// The private half is reachable through functions only: printing packages that walk structs by reflection,
	// of which fmt is one, show the address of a function but every byte of an Ed25519 key.
	sign   signFunc
	export func() crypto.PrivateKey
}

// signFunc signs a whole message; its answer is not trusted.
type signFunc func(ctx context.Context, message []byte) ([]byte, error)

// Generate makes a new ECDSA P-256 key, the kind to use unless something else demands another.
func Generate() (*DeveloperKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("signing: generate a P-256 key: %w", err)
	}
	return FromSigner(private)
}

// GenerateEd25519 makes a new Ed25519 key.
func GenerateEd25519() (*DeveloperKey, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("signing: generate an Ed25519 key: %w", err)
	}
	return FromSigner(private)
}

// GenerateRSA makes a new RSA key with a modulus of bits, 2048 to 8192. Keys of more than 2048 bits log in, but
// their public halves exceed the 512 characters that a payout's publicKey may have (Source: Limits, Pages and
// sizes), so prefer [Generate] or 2048 bits.
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

// PublicKey returns the public half as a DER SubjectPublicKeyInfo, or nil for a zero key. The slice is the
// caller's.
func (k *DeveloperKey) PublicKey() []byte {
	if k == nil {
		return nil
	}
	return bytes.Clone(k.publicDER)
}

// PublicKeyBase64 returns the public half as it travels: standard base64, with padding, of [DeveloperKey.PublicKey].
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

// Fingerprint names the key without revealing it: "SHA256:" and the hexadecimal SHA-256 digest of the public half.
// A zero key has none.
func (k *DeveloperKey) Fingerprint() string {
	if k == nil || k.publicDER == nil {
		return ""
	}
	return fmt.Sprintf("SHA256:%x", sha256.Sum256(k.publicDER))
}

// Sign signs message as [Signer] says. What the signer behind the key answered is verified against the public half
// before it is returned: a signature that the service would refuse never leaves, as [*RemoteSignatureRefused]. Every
// error is [*NotSigned] around its cause.
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
	if k.algorithm == ECDSAP256SHA256 {
		signature, err = lowS(signature)
	}
	if err == nil {
		err = verify(k.public, message, signature)
	}
	if err != nil {
		return nil, &NotSigned{Err: &RemoteSignatureRefused{Algorithm: k.algorithm, Err: err}}
	}
	return signature, nil
}
