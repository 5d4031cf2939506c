// Package ecsig reads and writes ECDSA signatures in DER.
package ecsig

import (
	"bytes"
	"encoding/asn1"
	"errors"
	"math/big"
)

// ErrEncoding means that the bytes are not the DER encoding of two positive integers.
var ErrEncoding = errors.New("not a DER-encoded ECDSA signature")

// Signature is an ECDSA signature.
type Signature struct{ R, S *big.Int }

// Parse reads a DER signature. It accepts only the encoding that [Signature.Marshal] returns, else it returns
// [ErrEncoding].
func Parse(der []byte) (Signature, error) {
	var sig Signature
	rest, err := asn1.Unmarshal(der, &sig)
	if err != nil || len(rest) != 0 || sig.R.Sign() <= 0 || sig.S.Sign() <= 0 {
		return Signature{}, ErrEncoding
	}
	// encoding/asn1 lets a sequence carry more elements than the struct has fields, so compare with what it
	// would write itself.
	if again, err := sig.Marshal(); err != nil || !bytes.Equal(again, der) {
		return Signature{}, ErrEncoding
	}
	return sig, nil
}

// Marshal returns the signature in DER.
func (s Signature) Marshal() ([]byte, error) { return asn1.Marshal(s) }

// HighS reports whether S is in the upper half of the order. A signature has a form with a low S and one with a high S.
// Anybody can turn one into the other without the key.
func (s Signature) HighS(order *big.Int) bool {
	return s.S.Cmp(new(big.Int).Rsh(order, 1)) > 0
}

// Normalized returns the form of the signature with a low S.
func (s Signature) Normalized(order *big.Int) Signature {
	if !s.HighS(order) || s.S.Cmp(order) >= 0 {
		return s
	}
	return Signature{R: s.R, S: new(big.Int).Sub(order, s.S)}
}
