package number_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/number"
)

func TestNumbersTravelDigitByDigit(t *testing.T) {
	for _, digits := range []string{"0", "12.5", "-3", "0.1", "12345678901234567890.123456789",
		strings.Repeat("9", number.MaxLength)} {
		var read number.Number
		require.NoError(t, json.Unmarshal([]byte(digits), &read), digits)
		written, err := json.Marshal(map[string]number.Number{"amount": read})
		require.NoError(t, err)
		assert.Equal(t, `{"amount":`+digits+`}`, string(written))
	}
	assert.True(t, number.Of(decimal.New(125, -1)).Equal(decimal.RequireFromString("12.5")))
}

func TestWhatIsNoNumberIsRefused(t *testing.T) {
	for _, text := range []string{`"abc"`, `{}`, `true`, `1.`, strings.Repeat("9", number.MaxLength+1)} {
		var read number.Number
		assert.Error(t, json.Unmarshal([]byte(text), &read), text)
	}
	for _, text := range []string{"", "ten", "NaN", strings.Repeat("9", number.MaxLength+1), "1e-20000",
		"1e99999999999"} {
		_, err := number.Parse(text)
		assert.ErrorIs(t, err, number.ErrUnreadable, text)
	}
	read := number.Of(decimal.New(1, 0))
	require.NoError(t, json.Unmarshal([]byte("null"), &read))
	assert.True(t, read.IsZero())
}
