package wire

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

func TestAmountsAreReadFromStringsAndNumbers(t *testing.T) {
	tests := map[string]struct {
		literal string
		want    string // "" for a refusal
	}{
		"string":                     {`"1250.50"`, "1250.50"},
		"number":                     {`1250.50`, "1250.50"},
		"more than a float holds":    {`0.1000000000000000055511151231257827`, "0.1000000000000000055511151231257827"},
		"negative":                   {`"-0.01"`, "-0.01"},
		"positive":                   {`"+1.5"`, "1.5"},
		"nothing before the point":   {`".5"`, "0.5"},
		"nothing behind the point":   {`"5."`, "5"},
		"a sign and a fraction":      {`"-.5"`, "-0.5"},
		"leading zeros":              {`"0000000000000000000000007.50"`, "7.50"},
		"a sign alone":               {`"-"`, ""},
		"a point alone":              {`"+."`, ""},
		"a number with zeros":        {`007`, ""},
		"zero and a half":            {`0.5`, "0.5"},
		"zero":                       {`0`, "0"},
		"a blank around a number":    {` 5 `, "5"},
		"two numbers":                {`5 6`, ""},
		"escaped":                    {`"\u0031.5"`, "1.5"},
		"zero with decimals":         {`"0.000000"`, "0.000000"},
		"longest in place":           {`"99999999999999999.9"`, "99999999999999999.9"},
		"eighteen characters":        {`"999999999999999999"`, "999999999999999999"},
		"null":                       {`null`, "0"},
		"exponent in a string":       {`"1e3"`, ""},
		"exponent in a number":       {`1e3`, "1000"},
		"negative exponent":          {`-1.5E-3`, "-0.0015"},
		"number out of bound":        {`1e999999999`, ""},
		"minus of mathematics":       {"\"\u22121\"", ""},
		"digits of another script":   {"\"\u0661\"", ""},
		"two signs":                  {`"+-1"`, ""},
		"exponent out of bound":      {`"1e999999999"`, ""},
		"more digits than bound":     {`"` + strings.Repeat("9", MaxDigits+1) + `"`, ""},
		"more characters than bound": {`"` + strings.Repeat("0", 2*MaxDigits+1) + `"`, ""},
		"empty":                      {`""`, ""},
		"two points":                 {`"1.2.3"`, ""},
		"blank":                      {`" 1"`, ""},
		"words":                      {`"NaN"`, ""},
		"boolean":                    {`true`, ""},
		"object":                     {`{"value":"1"}`, ""},
		"array":                      {`["1"]`, ""},
		"two zeros":                  {`00.5`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, read := range []func([]byte, *decimal.Decimal) error{
				func(text []byte, amount *decimal.Decimal) error {
					return codec.Unmarshal(text, amount, decoding)
				}, UnmarshalAmount,
			} {
				amount := decimal.NewFromInt(7)
				err := read([]byte(test.literal), &amount)
				if test.want == "" {
					assert.Error(t, err)
					continue
				}
				require.NoError(t, err)
				assert.Equal(t, test.want, amount.StringFixed(-min(amount.Exponent(), 0)))
			}
		})
	}
}

// TestPlainAmountsAreReadAsDecimalReadsThem compares the fast reading with the library's, to the last bit of the
// result.
func TestPlainAmountsAreReadAsDecimalReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`[0-9]{1,12}(\.[0-9]{1,6})?`),
			rapid.StringMatching(`[-+0-9.eE ]{0,20}`),
		).Draw(t, "text")
		quick, ok := parsePlain([]byte(text))
		if !ok {
			return
		}
		want, err := decimal.NewFromString(text)
		require.NoError(t, err, "read what decimal refuses")
		assert.Equal(t, want, quick)
	})
}

// An amount may have 78 digits, before its point or behind it, and no more.
func TestTheLongestAmounts(t *testing.T) {
	digits := func(n int) string { return strings.Repeat("9", n) }
	for text, fits := range map[string]bool{
		digits(78): true, digits(79): false, "1e77": true, "1e78": false, "1e-78": true, "1e-79": false,
		"-" + digits(78):         true,
		strings.Repeat("0", 156): true, strings.Repeat("0", 157): false, "0." + strings.Repeat("0", 77) + "1": true,
		"0." + strings.Repeat("0", 78) + "1": false,
	} {
		read, err := ParseNumber(text)
		assert.Equal(t, fits, err == nil, "%s: %v", text, err)
		if !fits {
			assert.Zero(t, read)
		}
		if amount, err := decimal.NewFromString(text); err == nil && len(text) < 150 {
			written, err := FormatAmount(amount)
			assert.Equal(t, fits, err == nil, "%s: %v", text, err)
			assert.Equal(t, fits, written == amount.String(), text)
			assert.Equal(t, fits, !TooLong(amount), text)
		}
	}
}

func TestCommonAmountsAreReadInPlace(t *testing.T) {
	for _, text := range []string{"0", "1", "0.01", "1250.50", "0.918731", "12345678901.123456", "999999999999999999",
		"9999999999999999.9"} {
		_, ok := parsePlain([]byte(text))
		assert.True(t, ok, text)
	}
	for _, text := range []string{"", ".5", "5.", ".", "1.2.3", "-1", "1e3", "1 ", "1/2", "1:2",
		"1234567890123456789"} {
		_, ok := parsePlain([]byte(text))
		assert.False(t, ok, text)
	}
}
