package wallet

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/moneymovement/moneymovement-go/internal/outcome"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/internal/ecsig"
)

var _ signing.Signer = (*Key)(nil)

// Key is a secp256k1 private key with its Ethereum address. Make one with [Generate], [ParseHex], [ParseKey] or
// [LoadKey]. The zero value has no key, and its methods fail with signing.ErrNoKey. A Key is safe for concurrent use.
type Key struct {
	address   string
	publicDER []byte
	// private is a function, because packages that print structs by reflection cannot reach the key in it.
	private func() *ecdsa.PrivateKey
}

// Generate returns a new key.
func Generate() (*Key, error) {
	scalar := make([]byte, 32)
	defer clear(scalar)
	for {
		_, _ = rand.Read(scalar) // never fails
		key, err := fromScalar(scalar)
		if _, outside := errors.AsType[*signing.KeyRefused](err); !outside { // of the curve's order: one of 2^127
			return key, err
		}
	}
}

// ParseHex reads a private key of 32 bytes in hexadecimal, with or without "0x". It returns [*signing.KeyRefused] for
// anything else. The error does not contain the input.
func ParseHex(s string) (*Key, error) {
	scalar, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		return nil, refused("the data is not hexadecimal")
	}
	return fromScalar(scalar)
}

// fromScalar returns the key with these 32 bytes.
func fromScalar(scalar []byte) (*Key, error) {
	if len(scalar) != 32 {
		return nil, refused(fmt.Sprintf("a private key has 32 bytes, not %d", len(scalar)))
	}
	private, err := crypto.ToECDSA(scalar)
	if err != nil {
		return nil, refused("the private key is not within the curve's order")
	}
	return newKey(private)
}

func newKey(private *ecdsa.PrivateKey) (*Key, error) {
	der, err := marshalPublicKey(&private.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("wallet: encode public key: %w", err)
	}
	return &Key{
		address:   crypto.PubkeyToAddress(private.PublicKey).Hex(),
		publicDER: der,
		private:   func() *ecdsa.PrivateKey { return private },
	}, nil
}

func refused(reason string) error {
	return &signing.KeyRefused{Kind: "secp256k1", Reason: reason}
}

// Address returns the key's Ethereum address with its EIP-55 checksum, or "" for a zero key.
func (k *Key) Address() string {
	if k == nil {
		return ""
	}
	return k.address
}

// PublicKey returns the public half as a DER SubjectPublicKeyInfo, or nil for a zero key. Each call returns a new
// slice.
func (k *Key) PublicKey() []byte {
	if k == nil {
		return nil
	}
	return bytes.Clone(k.publicDER)
}

// PublicKeyBase64 returns [Key.PublicKey] in standard base64 with padding, which is how requests have it.
func (k *Key) PublicKeyBase64() string { return base64.StdEncoding.EncodeToString(k.PublicKey()) }

// Algorithm returns signing.ECDSASecp256k1SHA256.
func (k *Key) Algorithm() signing.Algorithm { return signing.ECDSASecp256k1SHA256 }

// Sign returns the signature of the SHA-256 digest of message in ASN.1 DER with a low S, as signing.Signer requires.
// Signatures are deterministic (RFC 6979). Every error is a [*signing.NotSigned] that wraps its cause.
func (k *Key) Sign(ctx context.Context, message []byte) ([]byte, error) {
	digest := sha256.Sum256(message)
	compact, err := k.signDigest(ctx, digest[:])
	if err != nil {
		return nil, err
	}
	return ecsig.Signature{R: compact[:32], S: compact[32:64]}.Marshal(), nil
}

// signDigest returns 65 bytes: R, a low S, and the recovery id, which is 0 or 1.
func (k *Key) signDigest(ctx context.Context, digest []byte) ([]byte, error) {
	if k == nil || k.private == nil {
		return nil, &signing.NotSigned{Err: signing.ErrNoKey}
	}
	if err := outcome.RequireContext(ctx, "Sign"); err != nil {
		return nil, &signing.NotSigned{Err: err}
	}
	if err := ctx.Err(); err != nil {
		if cause := context.Cause(ctx); !errors.Is(cause, err) {
			err = fmt.Errorf("%w: %w", err, cause)
		}
		return nil, &signing.NotSigned{Err: err}
	}
	compact, err := crypto.Sign(digest, k.private())
	if err != nil {
		return nil, &signing.NotSigned{Err: fmt.Errorf("sign with secp256k1 key: %w", err)}
	}
	return compact, nil
}

// These methods have value receivers, so they also work for a copied key.

// String returns the address.
func (k Key) String() string {
	if k.address == "" {
		return "wallet.Key(none)"
	}
	return fmt.Sprintf("wallet.Key(%s redacted)", k.address)
}

// Format writes [Key.String] for every verb and flag.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// GoString returns [Key.String].
func (k Key) GoString() string { return k.String() }

// MarshalText returns [Key.String], which JSON and other encodings show. It cannot be decoded.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue returns [Key.String].
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

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
