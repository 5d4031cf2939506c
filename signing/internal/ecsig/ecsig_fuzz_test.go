package ecsig

import (
	"bytes"
	"crypto/elliptic"
	"encoding/asn1"
	"errors"
	"math/big"
	"testing"
)

// FuzzParse: a signature has one encoding, and one low S, which is as far from 0 as the other is from the order. Bytes
// and big integers agree about both.
func FuzzParse(f *testing.F) {
	order := elliptic.P256().Params().N
	for _, s := range []*big.Int{big.NewInt(1), big.NewInt(128), new(big.Int).Rsh(order, 1),
		new(big.Int).Sub(order, big.NewInt(1)), order, big.NewInt(0), big.NewInt(-1),
		new(big.Int).Lsh(order, 600), new(big.Int).Lsh(order, 2000)} {
		der, err := asn1.Marshal(inBig{R: big.NewInt(255), S: s})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(der)
		f.Add(append(der, 0))
	}
	f.Add([]byte{0x30, 0x81, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01})
	f.Add([]byte{0x30, 0x09, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01})
	f.Fuzz(func(t *testing.T, der []byte) {
		if len(der) > 1<<16 {
			return // no signature, and not read
		}
		sig, err := Parse(der)
		want, valid := parseInBig(der)
		if valid != (err == nil) {
			t.Fatalf("%x: %v, and with big integers: %t", der, err, valid)
		}
		if err != nil {
			if sig.R != nil || sig.S != nil || !errors.Is(err, ErrEncoding) {
				t.Fatalf("%v beside %v", sig, err)
			}
			return
		}
		if again := sig.Marshal(); !bytes.Equal(again, der) {
			t.Fatalf("%x is written as %x", der, again)
		}
		if got := sig.inBig(); got.R.Cmp(want.R) != 0 || got.S.Cmp(want.S) != 0 || got.R.Sign() <= 0 ||
			got.S.Sign() <= 0 {
			t.Fatalf("%x is %v, not %v", der, got, want)
		}
		low := sig.Normalized(P256)
		if !bytes.Equal(low.Marshal(), want.normalized(order).marshal()) || sig.HighS(P256) != want.highS(order) {
			t.Fatalf("%v is %v", sig, low)
		}
		if beyond := want.S.Cmp(order) >= 0; low.HighS(P256) != beyond || !bytes.Equal(low.R, sig.R) {
			t.Fatalf("%v is %v", sig, low)
		}
		if sum := new(big.Int).Add(low.inBig().S, want.S); !bytes.Equal(low.S, sig.S) && sum.Cmp(order) != 0 {
			t.Fatalf("%v is another signature than %v", low, sig)
		}
	})
}
