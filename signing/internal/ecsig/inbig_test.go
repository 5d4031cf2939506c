package ecsig

import (
	"bytes"
	"encoding/asn1"
	"math/big"
)

// inBig is a signature as the standard library's DER and big integers have it. It is slow, and easy to believe.
type inBig struct{ R, S *big.Int }

func parseInBig(der []byte) (sig inBig, valid bool) {
	rest, err := asn1.Unmarshal(der, &sig)
	if err != nil || len(rest) != 0 || sig.R.Sign() <= 0 || sig.S.Sign() <= 0 {
		return inBig{}, false
	}
	// encoding/asn1 lets a sequence carry more elements than the struct has fields
	return sig, bytes.Equal(sig.marshal(), der)
}

func (s inBig) marshal() []byte {
	der, err := asn1.Marshal(s)
	if err != nil {
		panic(err)
	}
	return der
}

func (s inBig) highS(order *big.Int) bool { return s.S.Cmp(new(big.Int).Rsh(order, 1)) > 0 }

func (s inBig) normalized(order *big.Int) inBig {
	if !s.highS(order) || s.S.Cmp(order) >= 0 {
		return s
	}
	return inBig{R: s.R, S: new(big.Int).Sub(order, s.S)}
}

func (s inBig) inBytes() Signature { return Signature{R: s.R.Bytes(), S: s.S.Bytes()} }

func (s Signature) inBig() inBig {
	return inBig{R: new(big.Int).SetBytes(s.R), S: new(big.Int).SetBytes(s.S)}
}

func (n Number) big() *big.Int { return new(big.Int).SetBytes(n[:]) }
