package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// vault stands for a key-management service. It holds the key that the host knows already. A real one makes a key of
// its own, and you register the public half in the service's application.
type vault struct {
	key        crypto.Signer
	another    crypto.Signer // another version of the key
	rotated    atomic.Bool
	latency    atomic.Int64
	signatures atomic.Int32
}

func openVault(keyFile string) (*vault, error) {
	content, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, errors.New(keyFile + " holds no PEM block")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyFile, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: the vault of this example holds ECDSA keys, not %T", keyFile, parsed)
	}
	another, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return &vault{key: key, another: another}, nil
}

// Public returns the public half.
func (v *vault) Public() crypto.PublicKey { return v.key.Public() }

// Sign is the call over the network. AWS, Google Cloud, Azure and Vault have a call like it. It returns when ctx ends.
func (v *vault) Sign(ctx context.Context, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	arrival := time.NewTimer(time.Duration(v.latency.Load()))
	defer arrival.Stop()
	select {
	case <-arrival.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	v.signatures.Add(1)
	if v.rotated.Load() {
		return v.another.Sign(rand.Reader, digest, options)
	}
	return v.key.Sign(rand.Reader, digest, options)
}

// takes sets how long the vault takes to sign.
func (v *vault) takes(latency time.Duration) { v.latency.Store(int64(latency)) }

// rotate makes the vault sign with another version of the key.
func (v *vault) rotate(on bool) { v.rotated.Store(on) }
