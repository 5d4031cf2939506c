package signing

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
)

// FromSigner makes a developer key of a standard signer: an *ecdsa.PrivateKey on P-256, an ed25519.PrivateKey, an
// *rsa.PrivateKey from 2048 bits, or whatever a PKCS #11 or key-management library offers for such a key. It
// returns [*KeyRefused] for any other. A signer that is a [crypto.MessageSigner] is given the whole message.
//
// [crypto.Signer] knows no context, so a call once begun is waited for; [FromRemote] does better.
func FromSigner(s crypto.Signer) (*DeveloperKey, error) {
	if isNil(s) {
		return nil, &KeyRefused{Kind: "nil", Reason: "there is no signer"}
	}
	if private, ok := s.(ed25519.PrivateKey); ok {
		if len(private) != ed25519.PrivateKeySize {
			return nil, &KeyRefused{Kind: "Ed25519", Reason: "the private key has the wrong length"}
		}
		s = ed25519.PrivateKey(bytes.Clone(private))
	}
	public := s.Public()
	algorithm, der, err := identify(public)
	if err != nil {
		return nil, err
	}
	key := &DeveloperKey{
		algorithm: algorithm,
		public:    clonePublic(public),
		publicDER: der,
		sign: func(_ context.Context, message []byte) ([]byte, error) {
			return crypto.SignMessage(s, rand.Reader, message, algorithm.hash())
		},
	}
	switch s.(type) {
	case *ecdsa.PrivateKey, ed25519.PrivateKey, *rsa.PrivateKey:
		key.export = func() crypto.PrivateKey { return s }
	}
	return key, nil
}

// FromRemote makes a developer key of a key that stays in a key-management service. publicKey is its public half
// (*ecdsa.PublicKey on P-256, ed25519.PublicKey or *rsa.PublicKey from 2048 bits; [*KeyRefused] for any other), and
// sign asks the service for a signature.
//
// For ECDSA and RSA keys sign is given the SHA-256 digest and crypto.SHA256 as opts; it answers ASN.1 DER or
// PKCS #1 v1.5. For Ed25519 keys it is given the whole message and crypto.Hash(0). It must return when ctx ends.
// Either form of S is taken, and an answer that does not verify is refused.
func FromRemote(
	publicKey crypto.PublicKey,
	sign func(ctx context.Context, digestOrMessage []byte, opts crypto.SignerOpts) ([]byte, error),
) (*DeveloperKey, error) {
	if sign == nil {
		return nil, &KeyRefused{Kind: "nil", Reason: "there is no signing function"}
	}
	algorithm, der, err := identify(publicKey)
	if err != nil {
		return nil, err
	}
	return &DeveloperKey{
		algorithm: algorithm,
		public:    clonePublic(publicKey),
		publicDER: der,
		sign: func(ctx context.Context, message []byte) ([]byte, error) {
			opts := algorithm.hash()
			if opts == crypto.SHA256 {
				digest := sha256.Sum256(message)
				return sign(ctx, digest[:], opts)
			}
			// A copy, so that the answer is verified over what was to be signed.
			return sign(ctx, bytes.Clone(message), opts)
		},
	}, nil
}
