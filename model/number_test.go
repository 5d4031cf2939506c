package model_test

import (
	jsonv1 "encoding/json"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/model"
)

type marshal = func(any) ([]byte, error)
type unmarshal = func([]byte, any) error

// versions are the two JSON packages that a number has to be the same under.
var versions = map[string]struct {
	marshal
	unmarshal
}{
	"v1": {jsonv1.Marshal, jsonv1.Unmarshal},
	"v2": {func(v any) ([]byte, error) {
		return codec.Marshal(v)
	}, func(b []byte, v any) error { return codec.Unmarshal(b, v) }},
}

func anyDecimal() *rapid.Generator[decimal.Decimal] {
	return rapid.Custom(func(t *rapid.T) decimal.Decimal {
		digits := rapid.StringMatching(`-?[1-9][0-9]{0,40}|0`).Draw(t, "digits")
		return decimal.RequireFromString(digits).Shift(rapid.Int32Range(-30, 30).Draw(t, "shift"))
	})
}

// TestNumbersTravel there and back with every digit, without quotes, under both versions of JSON.
func TestNumbersTravel(t *testing.T) {
	type numbers struct {
		Value   model.Number   `json:"value"`
		Pointer *model.Number  `json:"pointer"`
		List    []model.Number `json:"list"`
	}
	rapid.Check(t, func(t *rapid.T) {
		value := anyDecimal().Draw(t, "value")
		number := model.NewNumber(value)
		for name, version := range versions {
			written, err := version.marshal(numbers{number, &number, []model.Number{number}})
			require.NoError(t, err)
			assert.Equal(t, `{"value":`+value.String()+`,"pointer":`+value.String()+`,"list":[`+value.String()+`]}`,
				string(written), name)
			var got numbers
			require.NoError(t, version.unmarshal(written, &got))
			for _, read := range []model.Number{got.Value, *got.Pointer, got.List[0]} {
				assert.True(t, value.Equal(read.Decimal), "%s: %s is not %s", name, read, value)
			}
		}
	})
}

func TestNumbersAreReadFromTheirDigits(t *testing.T) {
	for text, want := range map[string]string{
		`0.1`: "0.1", `0.10`: "0.10", `100.250000000000000001`: "100.250000000000000001",
		`9007199254740993`: "9007199254740993",
		`1e3`:              "1000", `1.5E-3`: "0.0015", `-0`: "0", `-7.25`: "-7.25", `"12.34"`: "12.34", `null`: "0",
	} {
		for name, version := range versions {
			var got model.Number
			require.NoError(t, version.unmarshal([]byte(text), &got), "%s: %s", name, text)
			assert.True(t, decimal.RequireFromString(want).Equal(got.Decimal), "%s: %s became %s", name, text, got)
		}
	}
}

func TestWhatIsNoNumber(t *testing.T) {
	for _, text := range []string{`""`, `"a"`, `true`, `{}`, `[]`, `"0x10"`, `"NaN"`, `"Infinity"`, `1e999999999999`} {
		for name, version := range versions {
			var got model.Number
			assert.Error(t, version.unmarshal([]byte(text), &got), "%s: %s became %s", name, text, got)
		}
	}
}

func TestAbsentNumbers(t *testing.T) {
	type limits struct {
		Used  model.Number  `json:"used,omitempty,omitzero"`
		Limit *model.Number `json:"limit,omitempty"`
	}
	for name, version := range versions {
		written, err := version.marshal(limits{})
		require.NoError(t, err)
		assert.Equal(t, `{}`, string(written), name)
		zero := model.NewNumber(decimal.Zero)
		written, err = version.marshal(limits{Limit: &zero})
		require.NoError(t, err)
		assert.Equal(t, `{"limit":0}`, string(written), "%s: a limit of zero is a limit", name)
		var got limits
		require.NoError(t, version.unmarshal([]byte(`{"used":null,"limit":null}`), &got))
		assert.Equal(t, limits{}, got, name)
	}
}

// TestANumberIsNotTooLong: a few bytes that spell a gigabyte are refused, whichever way they go.
func TestANumberIsNotTooLong(t *testing.T) {
	for name, version := range versions {
		for _, text := range []string{`1e79`, `1e-79`, `1e9999`, `1e999999999`, strings.Repeat("9", 79),
			`"1e999999999"`} {
			var got model.Number
			assert.Error(t, version.unmarshal([]byte(text), &got), "%s: %s", name, text)
			assert.True(t, got.IsZero())
		}
		for _, bomb := range []decimal.Decimal{decimal.New(1, 999_999_999), decimal.New(1, -999_999_999),
			decimal.New(0, 999_999_999)} {
			_, err := version.marshal(model.NewNumber(bomb))
			assert.ErrorContains(t, err, "digits", name)
		}
	}
}

// TestNumbersIgnoreTheDecimalPackagesSwitch: a program may have told the decimal package to write no quotes, or not.
func TestNumbersIgnoreTheDecimalPackagesSwitch(t *testing.T) {
	before := decimal.MarshalJSONWithoutQuotes
	t.Cleanup(func() { decimal.MarshalJSONWithoutQuotes = before })
	for _, without := range []bool{true, false} {
		decimal.MarshalJSONWithoutQuotes = without
		for name, version := range versions {
			written, err := version.marshal(model.NewNumber(decimal.New(125, -2)))
			require.NoError(t, err)
			assert.Equal(t, `1.25`, string(written), name)
		}
	}
}
