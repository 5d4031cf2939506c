package ecsig

import (
	"bytes"
	"crypto/elliptic"
	"encoding/asn1"
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseTakesOneEncodingOnly(t *testing.T) {
	sig, err := Parse([]byte{0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07})
	require.NoError(t, err)
	assert.Equal(t, Signature{R: []byte{5}, S: []byte{7}}, sig)
	for name, der := range map[string][]byte{
		"nothing":               {},
		"truncated":             {0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01},
		"more behind":           {0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07, 0x00},
		"three integers":        {0x30, 0x09, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07, 0x02, 0x01, 0x07},
		"padded integer":        {0x30, 0x07, 0x02, 0x02, 0x00, 0x05, 0x02, 0x01, 0x07},
		"long length":           {0x30, 0x81, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07},
		"indefinite":            {0x30, 0x80, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07, 0x00, 0x00},
		"zero":                  {0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x07},
		"zero for S":            {0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x00},
		"negative":              {0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0xff},
		"the smallest negative": {0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x80},
		"indefinite and long": append([]byte{0x30, 0x80, 0x02, 0x01, 0x05, 0x02, 0x7b},
			bytes.Repeat([]byte{0x07}, 0x7b)...),
		"a set":                   {0x31, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07},
		"cut in the length":       {0x30, 0x82, 0x01},
		"a length that is padded": {0x30, 0x82, 0x00, 0x86, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07},
		"an octet string":         {0x30, 0x06, 0x04, 0x01, 0x05, 0x02, 0x01, 0x07},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(der)
			require.ErrorIs(t, err, ErrEncoding)
		})
	}
}

func TestNormalized(t *testing.T) {
	order := Number{31: 23}
	// beyond the order nothing helps
	for s, want := range map[byte]byte{1: 1, 11: 11, 12: 11, 22: 1, 23: 23, 24: 24} {
		sig := Signature{R: []byte{1}, S: []byte{s}}
		assert.Equal(t, int64(want), sig.Normalized(order).inBig().S.Int64(), s)
		assert.Equal(t, s > 11, sig.HighS(order), s)
		assert.Equal(t, s < 23, sig.Within(order), s)
		assert.Equal(t, s < 23, Signature{R: sig.S, S: sig.R}.Within(order), s)
		assert.Equal(t, []byte{s}, sig.S, "it must not be changed in place")
	}
	beyond := Signature{R: []byte{1}, S: append([]byte{1}, order[:]...)}
	assert.True(t, beyond.HighS(order))
	assert.False(t, beyond.Within(order))
	assert.Equal(t, beyond, beyond.Normalized(order))
}

func TestOrders(t *testing.T) {
	assert.Equal(t, elliptic.P256().Params().N, P256.big())
	// SEC 2, section 2.4.1; package wallet compares it with its library
	want, ok := new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)
	require.True(t, ok)
	assert.Equal(t, want, Secp256k1.big())
}

// number draws a positive integer of up to 256 bits. Short ones, and those at the borders of an order, are likely.
func number(t *rapid.T, name string, order Number) *big.Int {
	n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, name))
	switch half := new(big.Int).Rsh(order.big(), 1); rapid.IntRange(0, 4).Draw(t, name+" near") {
	case 0:
		n.Add(half, n.Mod(n, big.NewInt(5))).Sub(n, big.NewInt(2))
	case 1:
		n.Add(order.big(), n.Mod(n, big.NewInt(5))).Sub(n, big.NewInt(2))
	}
	return n.Add(n, big.NewInt(1))
}

func TestMarshalIsParsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sig := inBig{R: number(t, "R", P256), S: number(t, "S", P256)}
		der := sig.inBytes().Marshal()
		require.Equal(t, sig.marshal(), der)
		again, err := Parse(der)
		require.NoError(t, err)
		require.Equal(t, sig.inBytes(), again)
	})
}

// Lengths of 128 and more are written in two or three bytes.
func TestLongNumbersAreParsed(t *testing.T) {
	for _, length := range []int{60, 61, 62, 123, 124, 125, 127, 128, 129, 251, 252, 255, 256, 1000} {
		for _, first := range []byte{0x7f, 0x80} {
			value := append([]byte{first}, bytes.Repeat([]byte{0xab}, length-1)...)
			sig := Signature{R: value, S: value}
			der := sig.Marshal()
			require.Equal(t, sig.inBig().marshal(), der)
			again, err := Parse(der)
			require.NoError(t, err, length)
			require.Equal(t, sig, again)
			for cut := range der {
				_, err := Parse(der[:cut:cut])
				require.ErrorIs(t, err, ErrEncoding, "%d of %d", cut, len(der))
			}
		}
	}
}

// The low form is the one that big integers find, for both curves, and with zeros before the numbers.
func TestLowSIsThatOfBigIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, order := range []Number{P256, Secp256k1} {
			want := inBig{R: number(t, "R", order), S: number(t, "S", order)}
			zeros := strings.Repeat("\x00", rapid.IntRange(0, 3).Draw(t, "zeros"))
			sig := Signature{R: []byte(zeros + string(want.R.Bytes())), S: []byte(zeros + string(want.S.Bytes()))}
			require.Equal(t, want.highS(order.big()), sig.HighS(order))
			require.Equal(t, want.normalized(order.big()).marshal(), sig.Normalized(order).Marshal())
			below := want.R.Cmp(order.big()) < 0 && want.S.Cmp(order.big()) < 0
			require.Equal(t, below, sig.Within(order))
		}
	})
}

// Of four signatures, three need a zero before R or S. Of 128, one has an R or S with fewer bytes.
func TestLowSOfManySignatures(t *testing.T) {
	const many = 100_000
	random, order := rand.NewChaCha8([32]byte{}), P256.big()
	var r, s Number
	for range many {
		_, _ = random.Read(r[:])
		_, _ = random.Read(s[:])
		want := inBig{R: new(big.Int).SetBytes(r[:]), S: new(big.Int).SetBytes(s[:])}
		sig, err := Parse(want.marshal())
		if err != nil || !bytes.Equal(sig.Normalized(P256).Marshal(), want.normalized(order).marshal()) {
			t.Fatalf("R %x, S %x: %v", r, s, err)
		}
	}
}

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
