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
	for _, digits := range []string{"0", "12.5", "-3", "0.1", "12345678901234567890.123456789", strings.Repeat("9", number.MaxLength)} {
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
	for _, text := range []string{strings.Repeat("9", number.MaxLength+1), "1e-20000"} {
		var read struct {
			Price struct{ Amount number.Number }
		}
		var wrong *json.UnmarshalTypeError
		require.ErrorAs(t, json.Unmarshal([]byte(`{"Price":{"Amount":`+text+`}}`), &read), &wrong)
		assert.Equal(t, "Price.Amount", wrong.Field)
	}
	read := number.Of(decimal.New(1, 0))
	require.NoError(t, json.Unmarshal([]byte("null"), &struct{ A *number.Number }{&read}))
}
