package wire

import (
	"bytes"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

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
