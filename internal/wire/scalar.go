package wire

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// scalar returns how a value without parts is read: a number as a text and the other way, and the common spellings of bytes and days. Times
// and amounts are read in all their forms by their own decoders; here it is told whether they can be.
func scalar(raw jsontext.Value, kind Kind) (jsontext.Value, string) {
	switch kind {
	case KindText:
		return asText(raw)
	case KindAmount:
		return asAmount(raw)
	case KindInteger:
		return asInteger(raw, strconv.IntSize)
	case KindInteger64:
		return asInteger(raw, 64)
	case KindBoolean:
		return asBoolean(raw)
	case KindTime:
		return asTime(raw)
	case KindDate:
		return asDate(raw)
	case KindBytes:
		return asBytes(raw)
	case KindOpen:
		if raw.Kind() != jsontext.KindBeginObject {
			return nil, is(raw)
		}
	}
	return raw, ""
}

func asText(raw jsontext.Value) (jsontext.Value, string) {
	switch raw.Kind() {
	case jsontext.KindString:
		return raw, ""
	case jsontext.KindNumber:
		return quoted(string(raw)), ""
	}
	return nil, is(raw)
}

func asAmount(raw jsontext.Value) (jsontext.Value, string) {
	if raw.Kind() != jsontext.KindString && raw.Kind() != jsontext.KindNumber {
		return nil, is(raw)
	}
	if _, err := ParseAmount(text(raw)); err != nil {
		return nil, "is no decimal amount"
	}
	return raw, ""
}

func asInteger(raw jsontext.Value, bits int) (jsontext.Value, string) {
	if raw.Kind() != jsontext.KindString && raw.Kind() != jsontext.KindNumber {
		return nil, is(raw)
	}
	amount, err := ParseAmount(text(raw))
	if err != nil || !amount.IsInteger() {
		return nil, "is no whole number"
	}
	digits := amount.StringFixed(0)
	if _, err := strconv.ParseInt(digits, 10, bits); err != nil {
		return nil, "is too large a number"
	}
	return jsontext.Value(digits), ""
}

func asBoolean(raw jsontext.Value) (jsontext.Value, string) {
	switch kind := raw.Kind(); {
	case kind == jsontext.KindTrue, kind == jsontext.KindFalse:
		return raw, ""
	case kind == jsontext.KindString && (text(raw) == "true" || text(raw) == "false"):
		return jsontext.Value(text(raw)), ""
	}
	return nil, is(raw)
}

func asTime(raw jsontext.Value) (jsontext.Value, string) {
	if raw.Kind() != jsontext.KindString {
		return nil, is(raw)
	}
	if _, ok := parseTime(text(raw)); !ok {
		return nil, "is no time"
	}
	return raw, ""
}

// asDate reads the day of a time, too, as it is where the time is.
func asDate(raw jsontext.Value) (jsontext.Value, string) {
	if raw.Kind() != jsontext.KindString {
		return nil, is(raw)
	}
	day := text(raw)
	if at, ok := parseTime(day); ok {
		day = at.Format(time.DateOnly)
	}
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return nil, "is no day"
	}
	return quoted(day), ""
}

// asBytes reads base64 in the standard and the URL alphabet, with padding and without.
func asBytes(raw jsontext.Value) (jsontext.Value, string) {
	if raw.Kind() != jsontext.KindString {
		return nil, is(raw)
	}
	standard := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text(raw), "="))
	decoded, err := base64.RawStdEncoding.DecodeString(standard)
	if err != nil {
		return nil, "is no base64"
	}
	return quoted(base64.StdEncoding.EncodeToString(decoded)), ""
}

// text is what a string says, or the digits of a number.
func text(raw jsontext.Value) string {
	if raw.Kind() != jsontext.KindString {
		return string(raw)
	}
	unquoted, _ := jsontext.AppendUnquote(nil, raw) // which is valid JSON
	return string(unquoted)
}

func quoted(text string) jsontext.Value {
	out, _ := jsontext.AppendQuote(nil, text)
	return out
}
