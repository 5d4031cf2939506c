package signing

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"math/big"
)

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
// fixed text and verifies that. This is the only proof for all kinds of keys. An RSA key's Validate checks nothing
// without exactly two primes, and to derive the public half proves nothing about the code that signs.
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
