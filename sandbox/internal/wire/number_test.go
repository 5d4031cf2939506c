package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

func TestNumberKeepsAllDigits(t *testing.T) {
	for _, digits := range []string{"0", "12.5", "-3", "0.1", "12345678901234567890.123456789",
		strings.Repeat("9", wire.MaxNumberLength)} {
		var read wire.Number
		require.NoError(t, json.Unmarshal([]byte(digits), &read), digits)
		written, err := json.Marshal(map[string]wire.Number{"amount": read})
		require.NoError(t, err)
		assert.Equal(t, `{"amount":`+digits+`}`, string(written))
	}
	assert.True(t, wire.NumberOf(decimal.New(125, -1)).Equal(decimal.RequireFromString("12.5")))
}

func TestInvalidNumbers(t *testing.T) {
	for _, text := range []string{`"abc"`, `{}`, `true`, `1.`, strings.Repeat("9", wire.MaxNumberLength+1)} {
		var read wire.Number
		assert.Error(t, json.Unmarshal([]byte(text), &read), text)
	}
	for _, text := range []string{"", "ten", "NaN", strings.Repeat("9", wire.MaxNumberLength+1), "1e-20000",
		"1e99999999999"} {
		_, err := wire.ParseNumber(text)
		assert.ErrorIs(t, err, wire.ErrUnreadable, text)
	}
	read := wire.NumberOf(decimal.New(1, 0))
	require.NoError(t, json.Unmarshal([]byte("null"), &read))
	assert.True(t, read.IsZero())
}

// Package decimal reads more than the forms that are described.
func TestParseNumberAcceptsJSONNumbersOnly(t *testing.T) {
	for text, is := range map[string]struct{ number, text bool }{
		"12.5": {true, true}, "-3": {true, true}, "0": {true, true}, "1e3": {true, false}, "1.5E-3": {true, false},
		"+1": {false, true}, ".5": {false, true}, "5.": {false, true}, "007": {false, true},
		"": {}, ".": {}, "-": {}, "+.": {}, "+-1": {}, "1.2.3": {}, " 1": {}, "1\n": {}, "1_000": {}, "NaN": {},
		"\u22121": {}, "\u0661": {}, ".5e1": {},
	} {
		_, err := wire.ParseNumber(text)
		assert.Equal(t, is.number, err == nil, "%q as a number", text)
		_, err = wire.ParseNumberText(text)
		assert.Equal(t, is.text, err == nil, "%q as a text", text)
	}
}
