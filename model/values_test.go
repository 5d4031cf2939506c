package model_test

import (
	stdjson "encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/model"
)

func anyDate() *rapid.Generator[model.Date] {
	return rapid.Custom(func(t *rapid.T) model.Date {
		first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
		return model.DateOf(first.AddDate(0, 0, rapid.IntRange(0, 3_652_058).Draw(t, "days")))
	})
}

// Dates round-trip with both versions of encoding/json, as a value, a pointer, in a list and as a map's key.
func TestDatesRoundTrip(t *testing.T) {
	type dates struct {
		Value   model.Date            `json:"value"`
		Pointer *model.Date           `json:"pointer"`
		List    []model.Date          `json:"list"`
		Keys    map[model.Date]string `json:"keys"`
	}
	rapid.Check(t, func(t *rapid.T) {
		date := anyDate().Draw(t, "date")
		assert.Equal(t, time.Date(date.Year, date.Month, date.Day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
			date.String())
		sent := dates{date, &date, []model.Date{date}, map[model.Date]string{date: "x"}}
		first, err := stdjson.Marshal(sent)
		require.NoError(t, err)
		second, err := codec.Marshal(sent)
		require.NoError(t, err)
		assert.JSONEq(t, string(first), string(second))
		assert.Contains(t, string(first), `"value":"`+date.String()+`"`)
		for _, unmarshal := range []func([]byte, any) error{stdjson.Unmarshal, func(b []byte, v any) error {
			return codec.Unmarshal(b, v)
		}} {
			var got dates
			require.NoError(t, unmarshal(first, &got))
			assert.Equal(t, sent, got)
		}
	})
}

func TestAbsentDates(t *testing.T) {
	type dated struct {
		Due model.Date `json:"due,omitempty,omitzero"`
	}
	for name, marshal := range map[string]func(any) ([]byte, error){
		"v1": stdjson.Marshal,
		"v2": func(v any) ([]byte, error) { return codec.Marshal(v) },
	} {
		written, err := marshal(dated{})
		require.NoError(t, err, name)
		assert.Equal(t, `{}`, string(written), "%s: no day is left out", name)
	}
	for name, unmarshal := range map[string]func([]byte, any) error{
		"v1": stdjson.Unmarshal,
		"v2": func(b []byte, v any) error { return codec.Unmarshal(b, v) },
	} {
		for _, absent := range []string{`{}`, `{"due":""}`, `{"due":null}`} {
			var got dated
			require.NoError(t, unmarshal([]byte(absent), &got), "%s: %s", name, absent)
			assert.True(t, got.Due.IsZero(), "%s: %s", name, absent)
		}
	}
	assert.Empty(t, model.Date{}.String())
}

func TestInvalidDatesAreRefused(t *testing.T) {
	for _, text := range []string{
		"2026-02-29", "2026-13-01", "2026-00-01", "2026-01-00", "2026-01-32", "26-01-01", "2026-1-1", "02026-01-01",
		"-2026-01-01",
		"2026-01-01T00:00:00Z", "2026/01/01", " 2026-01-01", "2026-01-01 ", "tomorrow", "２026-01-01",
	} {
		date := model.Date{Year: 1999, Month: 1, Day: 1}
		assert.ErrorContains(t, date.UnmarshalText([]byte(text)), "is not a date", text)
		assert.Equal(t, model.Date{Year: 1999, Month: 1, Day: 1}, date, "it stays as it was")
	}
	for _, date := range []model.Date{
		{2026, 2, 29}, {2026, 13, 1}, {2026, 0, 1}, {2026, 1, 0}, {2026, 1, -1}, {-1, 1, 1}, {10_000, 1, 1}, {0, 0, 1},
	} {
		_, err := date.MarshalText()
		require.ErrorContains(t, err, "is not a calendar date", "%#v", date)
		_, err = codec.Marshal(date)
		assert.ErrorContains(t, err, "is not a calendar date", "%#v", date)
		_, err = stdjson.Marshal(date)
		assert.ErrorContains(t, err, "is not a calendar date", "%#v", date)
	}
}

func TestDateOfUsesTheTimesLocation(t *testing.T) {
	east, west := time.FixedZone("east", 14*3600), time.FixedZone("west", -12*3600)
	moment := time.Date(2026, 1, 31, 23, 30, 0, 0, time.UTC)
	assert.Equal(t, model.Date{Year: 2026, Month: time.January, Day: 31}, model.DateOf(moment))
	assert.Equal(t, model.Date{Year: 2026, Month: time.February, Day: 1}, model.DateOf(moment.In(east)))
	assert.Equal(t, model.Date{Year: 2026, Month: time.January, Day: 31}, model.DateOf(moment.In(west)))
	rapid.Check(t, func(t *rapid.T) {
		date := anyDate().Draw(t, "date")
		place := rapid.SampledFrom([]*time.Location{time.UTC, east, west}).Draw(t, "place")
		first := date.In(place)
		assert.Equal(t, date, model.DateOf(first))
		assert.NotEqual(t, date, model.DateOf(first.Add(-time.Nanosecond)))
		assert.Equal(t, date, model.DateOf(first.Add(24*time.Hour-time.Nanosecond)))
	})
}

// A text is refused, or it is a day of the calendar that is written as the same text.
func FuzzDate(f *testing.F) {
	for _, text := range []string{"2026-01-02", "", "0000-01-01", "9999-12-31", "2024-02-29", "2026-02-29", "2026-1-2",
		"2026-01-02T00:00:00Z", "+026-01-02", "0000-00-00"} {
		f.Add([]byte(text))
	}
	f.Add(make([]byte, 5000))
	f.Fuzz(func(t *testing.T, text []byte) {
		day := model.Date{Year: 1, Month: 1, Day: 1}
		if err := day.UnmarshalText(text); err != nil {
			if len(err.Error()) > 500 {
				t.Fatalf("%d bytes say that %d are no day", len(err.Error()), len(text))
			}
			if day != (model.Date{Year: 1, Month: 1, Day: 1}) {
				t.Fatalf("%q is refused, and read as %v", text, day)
			}
			return
		}
		written, err := day.MarshalText()
		if err != nil || string(written) != string(text) {
			t.Fatalf("%q is %v, and written as %q: %v", text, day, written, err)
		}
		if !day.IsZero() && model.DateOf(day.In(time.UTC)) != day {
			t.Fatalf("%q is %v, which no calendar has", text, day)
		}
	})
}

type marshal = func(any) ([]byte, error)
type unmarshal = func([]byte, any) error

// versions are the two JSON packages that a number has to be the same under.
var versions = map[string]struct {
	marshal
	unmarshal
}{
	"v1": {stdjson.Marshal, stdjson.Unmarshal},
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

// Numbers round-trip with every digit, without quotes, with both versions of encoding/json.
func TestNumbersRoundTrip(t *testing.T) {
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

func TestInvalidNumbersAreRefused(t *testing.T) {
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

// A short text for a number of a billion digits is refused, in both directions.
func TestLongNumbersAreRefused(t *testing.T) {
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

// A program may set decimal.MarshalJSONWithoutQuotes for its own amounts.
func TestNumbersIgnoreMarshalJSONWithoutQuotes(t *testing.T) {
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

// A field of an update is absent, null or a value, which may be empty.
func TestUpdateFieldIsAbsentNullOrSet(t *testing.T) {
	type update struct {
		Name model.Nullable[string] `json:"name,omitempty"`
	}
	for want, sent := range map[string]update{
		`{}`: {}, `{"name":null}`: {model.Null[string]()}, `{"name":""}`: {model.Set("")},
		`{"name":"Bob"}`: {model.Set("Bob")},
	} {
		body, err := stdjson.Marshal(sent)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(body))
	}
}

func TestOpenObjectsKeepTheirNumbers(t *testing.T) {
	const document = `{"amount":0.10000000000000000000001,"count":9007199254740993,"huge":1e999999999,"list":[1.5,` +
		`{"deep":2.5}],"text":"1.10","none":null,"yes":true}`
	for name, read := range map[string]func([]byte, any) error{
		"v1": stdjson.Unmarshal,
		"v2": func(b []byte, into any) error { return codec.Unmarshal(b, into) },
	} {
		t.Run(name, func(t *testing.T) {
			var holder struct {
				Fields model.OpenObject `json:"fields"`
			}
			require.NoError(t, read([]byte(`{"fields":`+document+`}`), &holder))
			object := holder.Fields
			assert.Equal(t, "0.10000000000000000000001", object["amount"].(model.Number).String())
			assert.True(t, object["count"].(model.Number).Equal(decimal.NewFromInt(9007199254740993)))
			assert.Equal(t, errors.JSON("1e999999999"), object["huge"], "as a number it would print as a gigabyte")
			assert.Contains(t, fmt.Sprint(object), "huge:1e999999999", "and not as a list of bytes")
			assert.Equal(t, "2.5", object["list"].([]any)[1].(map[string]any)["deep"].(model.Number).String())
			assert.Equal(t, "1.10", object["text"])
			assert.Nil(t, object["none"])
			assert.Equal(t, true, object["yes"])

			written, err := stdjson.Marshal(object)
			require.NoError(t, err)
			var again model.OpenObject
			require.NoError(t, read(written, &again))
			assert.Equal(t, object, again, "a number is written as a number")
		})
	}
}

func TestOpenObjectRefusesOtherJSON(t *testing.T) {
	object := model.OpenObject{"a": "b"}
	for _, document := range []string{`[1]`, `"a"`, `1`, `{"a":1,"a":2}`, `{"a":}`} {
		assert.Error(t, codec.Unmarshal([]byte(document), &object), document)
	}
	var syntax *codec.SyntacticError
	require.ErrorAs(t, codec.Unmarshal([]byte(`{"a":1.}`), &object), &syntax, "a number that is cut off")
	require.ErrorAs(t, object.UnmarshalJSON([]byte(`{"a":1.}`)), &syntax, "without a decoder that looked at it before")
	require.NoError(t, codec.Unmarshal([]byte(`null`), &object))
	assert.Nil(t, object)
}

// The payment methods of a contract are replaced all at once. So a program that adds one sends the others back, and
// must keep their fields that this version does not know.
func TestPaymentMethodRoundTripsUnchanged(t *testing.T) {
	for text, want := range map[string]model.PaymentMethodVariant{
		`{"accountType":"sepa","bic":"TESTDEFF","intermediaryBank":{"bic":"EXAMDEFF"}}`: model.SEPAPaymentMethod{AccountType: "sepa", BIC: "TESTDEFF"},
		// an address in another form than is assumed
		`{"accountType":"swift","bankAddress":"1 Main Street","bic":"TESTDEFF"}`: nil,
		`{"accountType":"swift","bic":7}`:                                        nil,
		`{"accountType":"carrier_pigeon","loft":"7"}`:                            nil,
		`{"loft":"7"}`: nil,
	} {
		for name, version := range versions {
			var method model.PaymentMethod
			require.NoError(t, version.unmarshal([]byte(text), &method), "%s: %s", name, text)
			assert.Equal(t, want, method.Variant(), text)
			assert.JSONEq(t, text, string(method.Raw()))
			again, err := version.marshal([]model.PaymentMethod{method})
			require.NoError(t, err)
			assert.JSONEq(t, "["+text+"]", string(again))
		}
	}
}

func TestUnionReturnsACopyOfItsJSON(t *testing.T) {
	const text = `{"accountType":"carrier_pigeon","loft":"7"}`
	var method model.PaymentMethod
	require.NoError(t, method.UnmarshalJSON([]byte(text)))
	written, err := method.MarshalJSON()
	require.NoError(t, err)
	clear(written)
	assert.Equal(t, text, string(method.Raw())) //nolint:testifylint // the very text
}
