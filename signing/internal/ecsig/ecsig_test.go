package ecsig

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseTakesOneEncodingOnly(t *testing.T) {
	sig, err := Parse([]byte{0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07})
	require.NoError(t, err)
	assert.Equal(t, big.NewInt(5), sig.R)
	assert.Equal(t, big.NewInt(7), sig.S)
	for name, der := range map[string][]byte{
		"nothing":         {},
		"truncated":       {0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01},
		"more behind":     {0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07, 0x00},
		"three integers":  {0x30, 0x09, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07, 0x02, 0x01, 0x07},
		"padded integer":  {0x30, 0x07, 0x02, 0x02, 0x00, 0x05, 0x02, 0x01, 0x07},
		"long length":     {0x30, 0x81, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07},
		"indefinite":      {0x30, 0x80, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07, 0x00, 0x00},
		"zero":            {0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x07},
		"zero for S":      {0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x00},
		"negative":        {0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0xff},
		"a set":           {0x31, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07},
		"an octet string": {0x30, 0x06, 0x04, 0x01, 0x05, 0x02, 0x01, 0x07},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(der)
			require.ErrorIs(t, err, ErrEncoding)
		})
	}
}

func TestNormalized(t *testing.T) {
	order := big.NewInt(23)
	// beyond the order nothing helps
	for s, want := range map[int64]int64{1: 1, 11: 11, 12: 11, 22: 1, 23: 23, 24: 24} {
		sig := Signature{R: big.NewInt(1), S: big.NewInt(s)}
		assert.Equal(t, want, sig.Normalized(order).S.Int64(), s)
		assert.Equal(t, s > 11, sig.HighS(order), s)
		assert.Equal(t, s, sig.S.Int64(), "it must not be changed in place")
	}
}

func TestMarshalIsParsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := func(name string) *big.Int {
			n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, name))
			return n.Add(n, big.NewInt(1))
		}
		sig := Signature{R: number("R"), S: number("S")}
		der, err := sig.Marshal()
		require.NoError(t, err)
		again, err := Parse(der)
		require.NoError(t, err)
		require.Zero(t, sig.R.Cmp(again.R))
		require.Zero(t, sig.S.Cmp(again.S))
	})
}
