package wire

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// How each form of a value is read, or what is said of it.
func TestScalars(t *testing.T) {
	largest := strconv.Itoa(math.MaxInt)
	for kind, forms := range map[Kind]map[string]string{
		KindText: {
			`"a"`: `"a"`, `""`: `""`, `7`: `"7"`, `1.50`: `"1.50"`, `true`: "is a boolean", `null`: "is null",
			`[]`: "is an array", `{}`: "is an object",
		},
		KindAmount: {
			`"1.50"`: `"1.50"`, `1.50`: `1.50`, `"one"`: "is not a decimal amount",
			`"1e999999999"`: "is not a decimal amount", `true`: "is a boolean",
			`[]`: "is an array", `"\u0031"`: `"\u0031"`,
		},
		KindInteger: {
			`7`: `7`, `"7"`: `7`, `7.0`: `7`, `"-7"`: `-7`, `1e2`: `100`, largest: largest,
			`7.5`: "is not a whole number",
			`"x"`: "is not a whole number",
			`""`:  "is not a whole number", `9223372036854775808`: "is too large", `true`: "is a boolean",
			`{}`: "is an object",
		},
		KindInteger64: {
			`9223372036854775807`: `9223372036854775807`, `"-9223372036854775808"`: `-9223372036854775808`,
			`9223372036854775808`: "is too large", `-9223372036854775809`: "is too large",
			`false`: "is a boolean",
		},
		KindBoolean: {
			`true`: `true`, `false`: `false`, `"true"`: `true`, `"false"`: `false`, `"True"`: "is a string",
			`1`: "is a number", `null`: "is null",
		},
		KindTime: {
			`"2026-01-02T03:04:05Z"`: `"2026-01-02T03:04:05Z"`, `"2026-01-02 03:04"`: `"2026-01-02 03:04"`,
			`"soon"`: "is not a time", `7`: "is a number",
		},
		KindDate: {
			`"2026-01-02"`: `"2026-01-02"`, `"2026-01-02T23:04:05Z"`: `"2026-01-02"`,
			`"2026-01-02T23:04:05-02:00"`: `"2026-01-02"`,
			`"2026-01-02 03:04"`:          `"2026-01-02"`, `"2026-02-30"`: "is not a day", `"soon"`: "is not a day",
			`""`:       "is not a day",
			`20260102`: "is a number",
		},
		KindBytes: {
			`"YQ=="`: `"YQ=="`, `"YQ"`: `"YQ=="`, `"_-8"`: `"/+8="`, `"/+8="`: `"/+8="`, `""`: `""`,
			`"a"`: "is not base64", `"a b="`: "is not base64", `7`: "is a number",
		},
		KindOpen: {
			`{"a":1}`: `{"a":1}`, `{}`: `{}`, `[]`: "is an array", `"a"`: "is a string", `null`: "is null",
		},
		KindAny: {
			`null`: `null`, `[1]`: `[1]`,
		},
	} {
		for form, want := range forms {
			read, problem := scalar(codec.Value(form), kind)
			if problem != "" {
				assert.Nil(t, read, form)
				assert.Equal(t, want, problem, "kind %d: %s", kind, form)
				continue
			}
			assert.Equal(t, want, string(read), "kind %d: %s", kind, form)
		}
	}
}

func TestEmptyValues(t *testing.T) {
	for raw, says := range map[string]bool{`""`: false, `{}`: false, `null`: false, `" "`: true, `0`: true,
		`false`: true, `[]`: true, `{"a":1}`: true} {
		assert.Equal(t, says, !empty(codec.Value(raw)), raw)
	}
}

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

type dated struct {
	At    time.Time  `json:"at"`
	Maybe *time.Time `json:"maybe,omitempty"`
}

func TestTimesTravelInUTC(t *testing.T) {
	east := time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 2*60*60))
	body, err := codec.Marshal(dated{east, &east}, Encoding)
	require.NoError(t, err)
	assert.JSONEq(t, `{"at":"2026-01-02T01:04:05.0000006Z","maybe":"2026-01-02T01:04:05.0000006Z"}`, string(body))

	_, err = codec.Marshal(dated{At: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}, Encoding)
	assert.Error(t, err, "a year that the form has no room for")
}

func TestTimesAreReadInEachFormOfISO8601(t *testing.T) {
	for literal, want := range map[string]string{
		`"2026-01-02T03:04:05Z"`:           "2026-01-02T03:04:05Z",
		`"2026-01-02T03:04:05.123456Z"`:    "2026-01-02T03:04:05.123456Z",
		`"2026-01-02t03:04:05z"`:           "2026-01-02T03:04:05Z",
		`"2026-01-02t03:04:05.5+02:00"`:    "2026-01-02T01:04:05.5Z",
		`"2026-12-31T23:59:60Z"`:           "2027-01-01T00:00:00Z",
		`"2026-12-31t23:59:60.25z"`:        "2027-01-01T00:00:00.25Z",
		`"2026-12-31T23:60:00Z"`:           "",
		`"2026-12-31T23:59:61Z"`:           "",
		`"2026-01-02T03:04:05+02:00"`:      "2026-01-02T01:04:05Z",
		`"2026-01-02T03:04:05+0200"`:       "2026-01-02T01:04:05Z",
		`"2026-01-02T03:04:05.5-02"`:       "2026-01-02T05:04:05.5Z",
		`"2026-01-02T03:04:05"`:            "2026-01-02T03:04:05Z",
		`"2026-01-02T03:04:05.123456"`:     "2026-01-02T03:04:05.123456Z",
		`"\u0032026-01-02T03:04:05Z"`:      "2026-01-02T03:04:05Z",
		`"2026-01-02 03:04:05Z"`:           "2026-01-02T03:04:05Z",
		`"2026-01-02 03:04:05.5+02:00"`:    "2026-01-02T01:04:05.5Z",
		`"2026-01-02 03:04:05 +02:00"`:     "2026-01-02T01:04:05Z",
		`"2026-01-02 03:04:05 UTC"`:        "2026-01-02T03:04:05Z",
		`"2026-01-02 03:04:05"`:            "2026-01-02T03:04:05Z",
		`"2026-01-02 13:14:15"`:            "2026-01-02T13:14:15Z",
		`"2026-01-02 03:04:05  +02:00"`:    "",
		`"2026-01-02 03:04"`:               "2026-01-02T03:04:00Z",
		`"2026-01-02T03:04"`:               "2026-01-02T03:04:00Z",
		`"2026-01-02T03:04Z"`:              "2026-01-02T03:04:00Z",
		`"2026-01-02T03:04+02:00"`:         "2026-01-02T01:04:00Z",
		`"2026-01-02  03:04:05+0"`:         "",
		`null`:                             "0001-01-01T00:00:00Z",
		`""`:                               "",
		`"2026-01-02"`:                     "",
		`"2026-13-02T03:04:05"`:            "",
		`"2026-01-02T03:04:05 and so on"`:  "",
		`1767323045`:                       "",
		`{"seconds":1767323045}`:           "",
		`"January 2nd, 2026, at about 3h"`: "",
	} {
		got := dated{At: time.Unix(7, 0)}
		err := codec.Unmarshal([]byte(`{"at":`+literal+`}`), &got, decoding)
		if want == "" {
			assert.Error(t, err, literal)
			continue
		}
		require.NoError(t, err, literal)
		assert.Equal(t, want, got.At.UTC().Format(time.RFC3339Nano), literal)
	}
}

// FuzzAmount: an amount is read from a string or a number of bounded length, digit by digit, and reads as the same when
// it is written anew.
func FuzzAmount(f *testing.F) {
	for _, literal := range []string{
		`"10.50"`, `10.50`, `0`, `-0.10`, `"1e5"`, `1E+78`, `1e79`, `1e-78`, `1e10000`, `1e999999999`, `"1\u0030"`,
		`"+1"`, `" 1"`, `""`, `"1."`, `".5"`, `"NaN"`,
		`null`, `true`, `[1]`, `"123456789012345678"`, `"1234567890123456789"`, `"0.000000000000000001"`,
		`"00000000000000000000000001"`, `"1_0"`, `"٣"`,
	} {
		f.Add([]byte(literal))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var amount decimal.Decimal
		if decodeAmount(codec.NewDecoder(bytes.NewReader(data)), &amount) != nil {
			return
		}
		literal, _ := codec.NewDecoder(bytes.NewReader(data)).ReadValue() // what follows it is another value
		written, err := FormatAmount(amount)
		if err != nil || len(written) > 2*MaxDigits+3 {
			t.Fatalf("%s is written as %q: %v", literal, written, err)
		}
		for _, spelled := range []string{written, `"` + written + `"`} {
			var again decimal.Decimal
			if err := decodeAmount(codec.NewDecoder(bytes.NewReader([]byte(spelled))), &again); err != nil ||
				!again.Equal(amount) {
				t.Fatalf("%s is %s, and %s again: %v", literal, written, again, err)
			}
		}
		text := []byte(literal)
		if unquoted, err := codec.AppendUnquote(nil, literal); err == nil {
			text = unquoted
		}
		if plain, ok := parsePlain(text); ok && !plain.Equal(amount) {
			t.Fatalf("%s is %s in place, and %s", literal, plain, amount)
		}
	})
}

// FuzzTime: a time that is read is written in UTC, and reads as the same again. What RFC 3339 says is not read as
// another time.
func FuzzTime(f *testing.F) {
	for _, text := range []string{
		"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456789+02:00", "2026-01-02 03:04:05 UTC", "2026-01-02T03:04",
		"2026-01-02T03:04:05+0200",
		"2026-01-02T03:04:05", "2026-01-02T03:04-02", "0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59",
		"2026-02-30T00:00:00Z", "2026-01-02T24:00:00Z",
		"2026-01-02T03:04:60Z", "2026-01-02", "now", "", "2026-01-02T03:04:05,5Z", "2026-01-02 ",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		literal, err := codec.AppendQuote(nil, text)
		if err != nil {
			return // no JSON says so
		}
		var read time.Time
		if decodeTime(codec.NewDecoder(bytes.NewReader(literal)), &read) != nil {
			if _, err := time.Parse(time.RFC3339, text); err == nil {
				t.Fatalf("%q is not read", text)
			}
			return
		}
		if stated, err := time.Parse(time.RFC3339, text); err == nil && !stated.Equal(read) {
			t.Fatalf("%q is read as %v", text, read)
		}
		var written bytes.Buffer
		if err := encodeTime(codec.NewEncoder(&written), read); err != nil {
			if year := read.UTC().Year(); year >= 0 && year <= 9999 {
				t.Fatalf("%v cannot be written: %v", read, err)
			}
			return
		}
		var again time.Time
		if err := codec.Unmarshal(written.Bytes(), &again); err != nil || !again.Equal(read) {
			t.Fatalf("%q is %s, and %v again: %v", text, written.Bytes(), again, err)
		}
	})
}
