package wire

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// scalar returns a value without parts in the form that its Go type reads. It turns texts into numbers and numbers into
// texts, and accepts the common spellings of bytes and days. Times and amounts have their own decoders. For them,
// scalar reports whether the decoder can read the value.
func scalar(raw jsonv2.Value, kind Kind) (jsonv2.Value, string) {
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
		if raw.Kind() != jsonv2.KindBeginObject {
			return nil, is(raw)
		}
	}
	return raw, ""
}

func asText(raw jsonv2.Value) (jsonv2.Value, string) {
	switch raw.Kind() {
	case jsonv2.KindString:
		return raw, ""
	case jsonv2.KindNumber:
		return quoted(string(raw)), ""
	}
	return nil, is(raw)
}

func asAmount(raw jsonv2.Value) (jsonv2.Value, string) {
	if raw.Kind() != jsonv2.KindString && raw.Kind() != jsonv2.KindNumber {
		return nil, is(raw)
	}
	if _, err := readAmount([]byte(text(raw)), raw.Kind()); err != nil {
		return nil, "is not a decimal amount"
	}
	return raw, ""
}

func asInteger(raw jsonv2.Value, bits int) (jsonv2.Value, string) {
	if raw.Kind() != jsonv2.KindString && raw.Kind() != jsonv2.KindNumber {
		return nil, is(raw)
	}
	amount, err := readAmount([]byte(text(raw)), raw.Kind())
	if err != nil || !amount.IsInteger() {
		return nil, "is not a whole number"
	}
	digits := amount.StringFixed(0)
	if _, err := strconv.ParseInt(digits, 10, bits); err != nil {
		return nil, "is too large"
	}
	return jsonv2.Value(digits), ""
}

func asBoolean(raw jsonv2.Value) (jsonv2.Value, string) {
	switch kind := raw.Kind(); {
	case kind == jsonv2.KindTrue, kind == jsonv2.KindFalse:
		return raw, ""
	case kind == jsonv2.KindString && (text(raw) == "true" || text(raw) == "false"):
		return jsonv2.Value(text(raw)), ""
	}
	return nil, is(raw)
}

func asTime(raw jsonv2.Value) (jsonv2.Value, string) {
	if raw.Kind() != jsonv2.KindString {
		return nil, is(raw)
	}
	if _, ok := parseTime(text(raw)); !ok {
		return nil, "is not a time"
	}
	return raw, ""
}

// asDate reads a day. It also reads the day of a time, in the time's zone.
func asDate(raw jsonv2.Value) (jsonv2.Value, string) {
	if raw.Kind() != jsonv2.KindString {
		return nil, is(raw)
	}
	day := text(raw)
	if at, ok := parseTime(day); ok {
		day = at.Format(time.DateOnly)
	}
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return nil, "is not a day"
	}
	return quoted(day), ""
}

// asBytes reads base64 in the standard and the URL alphabet, with and without padding.
func asBytes(raw jsonv2.Value) (jsonv2.Value, string) {
	if raw.Kind() != jsonv2.KindString {
		return nil, is(raw)
	}
	standard := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text(raw), "="))
	decoded, err := base64.RawStdEncoding.DecodeString(standard)
	if err != nil {
		return nil, "is not base64"
	}
	return quoted(base64.StdEncoding.EncodeToString(decoded)), ""
}

// text returns the text of a string, or the digits of a number.
func text(raw jsonv2.Value) string {
	if raw.Kind() != jsonv2.KindString {
		return string(raw)
	}
	unquoted, _ := jsonv2.AppendUnquote(nil, raw) // raw is valid JSON
	return string(unquoted)
}

func quoted(text string) jsonv2.Value {
	out, _ := jsonv2.AppendQuote(nil, text)
	return out
}
