package ecsig

import (
	"bytes"
	"crypto/elliptic"
	"encoding/asn1"
	"errors"
	"math/big"
	"testing"
)

// FuzzParse: a signature has one encoding, and one low S, which is as far from 0 as the other is from the order.
func FuzzParse(f *testing.F) {
	order := elliptic.P256().Params().N
	for _, s := range []*big.Int{big.NewInt(1), big.NewInt(128), new(big.Int).Rsh(order, 1),
		new(big.Int).Sub(order, big.NewInt(1)), order, big.NewInt(0), big.NewInt(-1)} {
		der, err := asn1.Marshal(Signature{R: big.NewInt(255), S: s})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(der)
		f.Add(append(der, 0))
	}
	f.Add([]byte{0x30, 0x81, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01})
	f.Add([]byte{0x30, 0x09, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01})
	f.Fuzz(func(t *testing.T, der []byte) {
		sig, err := Parse(der)
		if err != nil {
			if sig != (Signature{}) || !errors.Is(err, ErrEncoding) {
				t.Fatalf("%v beside %v", sig, err)
			}
			return
		}
		if again, err := sig.Marshal(); err != nil || !bytes.Equal(again, der) {
			t.Fatalf("%x is written as %x: %v", der, again, err)
		}
		if sig.R.Sign() <= 0 || sig.S.Sign() <= 0 {
			t.Fatalf("%x is %v", der, sig)
		}
		low := sig.Normalized(order)
		if beyond := sig.S.Cmp(order) >= 0; low.HighS(order) != beyond || low.R.Cmp(sig.R) != 0 {
			t.Fatalf("%v is %v", sig, low)
		}
		if same := low.S.Cmp(sig.S) == 0; !same && new(big.Int).Add(low.S, sig.S).Cmp(order) != 0 {
			t.Fatalf("%v is another signature than %v", low, sig)
		}
	})
}
