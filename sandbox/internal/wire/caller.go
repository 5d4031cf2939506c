package wire

import (
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"net/netip"
	"strings"

	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// Self is the account of a caller that acts for no client.
const Self = "self"

// Caller has the session of a request and the request's own identifiers.
type Caller struct {
	Owner string // the integrator's account id
	Email string // of the integrator's account
	KeyID string // of the developer key of the session, dk_

	Account        string // the account that the request acts for: a client's id, or Self
	IdempotencyKey string // as sent; "" without one
	RequestID      string
	Source         netip.Addr // where the request comes from
	Seeded         bool       // -seed of the command prepares the host with this request

	// Signer finds the account's developer key with this public key, and returns its check. For an unknown key the
	// check is nil. Call the check right before co-signing. It returns a refusal if the session's key or this one was
	// deleted, is used from an address outside its list, or lacks the scope of the route.
	Signer func(publicKey []byte) (check func() error)
}

type contextKey struct{}

// With returns a context that carries c.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// From returns the caller of ctx, or the zero Caller. During a login operation, there is no session yet.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(contextKey{}).(Caller)
	return c
}

// Each ECDSA signature has two forms, with a low S and with a high S, and most libraries make either. The description
// requires neither. So both are accepted, unless the settings require a low S.

// CheckSignature returns nil if a message is signed by a public key (DER SubjectPublicKeyInfo), or what is wrong.
func CheckSignature(publicKey, message, signature []byte, requireLowS bool) *Refusal {
	switch err := wallet.Verify(publicKey, message, signature); {
	case err == nil:
		return nil
	case !errors.Is(err, signing.ErrSignatureMalleable):
		return SignatureInvalid()
	case requireLowS:
		return SignatureHighS()
	default:
		return nil
	}
}

// SignerOf returns the address of the wallet that signed a personal message (EIP-191). Any bytes with the length of a
// signature lead to some address.
func SignerOf(message []byte, signature string, requireLowS bool) (address string, refused *Refusal) {
	address, err := wallet.RecoverAddress(message, signature)
	if errors.Is(err, signing.ErrSignatureMalleable) {
		if requireLowS {
			return "", SignatureHighS()
		}
		address, err = wallet.RecoverAddress(message, withLowS(signature))
	}
	if err != nil {
		return "", SignatureInvalid()
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
