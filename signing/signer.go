package signing

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
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
