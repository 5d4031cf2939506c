package wire

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// scalar returns a value without parts in the form that its Go type reads. It turns texts into numbers and numbers into
// texts, and accepts the common spellings of bytes and days. Times and amounts have their own decoders. For them,
// scalar reports whether the decoder can read the value.
func scalar(raw codec.Value, kind Kind) (codec.Value, string) {
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
		if raw.Kind() != codec.KindBeginObject {
			return nil, is(raw)
		}
	}
	return raw, ""
}

func asText(raw codec.Value) (codec.Value, string) {
	switch raw.Kind() {
	case codec.KindString:
		return raw, ""
	case codec.KindNumber:
		return quoted(string(raw)), ""
	}
	return nil, is(raw)
}

func asAmount(raw codec.Value) (codec.Value, string) {
	if raw.Kind() != codec.KindString && raw.Kind() != codec.KindNumber {
		return nil, is(raw)
	}
	if _, err := readAmount([]byte(text(raw)), raw.Kind()); err != nil {
		return nil, "is not a decimal amount"
	}
	return raw, ""
}

func asInteger(raw codec.Value, bits int) (codec.Value, string) {
	if raw.Kind() != codec.KindString && raw.Kind() != codec.KindNumber {
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
	return codec.Value(digits), ""
}

func asBoolean(raw codec.Value) (codec.Value, string) {
	switch kind := raw.Kind(); {
	case kind == codec.KindTrue, kind == codec.KindFalse:
		return raw, ""
	case kind == codec.KindString && (text(raw) == "true" || text(raw) == "false"):
		return codec.Value(text(raw)), ""
	}
	return nil, is(raw)
}

func asTime(raw codec.Value) (codec.Value, string) {
	if raw.Kind() != codec.KindString {
		return nil, is(raw)
	}
	if _, ok := parseTime(text(raw)); !ok {
		return nil, "is not a time"
	}
	return raw, ""
}

// asDate reads a day. It also reads the day of a time, in the time's zone.
func asDate(raw codec.Value) (codec.Value, string) {
	if raw.Kind() != codec.KindString {
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
func asBytes(raw codec.Value) (codec.Value, string) {
	if raw.Kind() != codec.KindString {
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
func text(raw codec.Value) string {
	if raw.Kind() != codec.KindString {
		return string(raw)
	}
	unquoted, _ := codec.AppendUnquote(nil, raw) // raw is valid JSON
	return string(unquoted)
}

func quoted(text string) codec.Value {
	out, _ := codec.AppendQuote(nil, text)
	return out
}
