package wire

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

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
			return nil, kindOf(raw)
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
	return nil, kindOf(raw)
}

func asAmount(raw codec.Value) (codec.Value, string) {
	if raw.Kind() != codec.KindString && raw.Kind() != codec.KindNumber {
		return nil, kindOf(raw)
	}
	if _, err := readAmount([]byte(text(raw)), raw.Kind()); err != nil {
		return nil, "is not a decimal amount"
	}
	return raw, ""
}

func asInteger(raw codec.Value, bits int) (codec.Value, string) {
	if raw.Kind() != codec.KindString && raw.Kind() != codec.KindNumber {
		return nil, kindOf(raw)
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
	return nil, kindOf(raw)
}

func asTime(raw codec.Value) (codec.Value, string) {
	if raw.Kind() != codec.KindString {
		return nil, kindOf(raw)
	}
	if _, ok := parseTime(text(raw)); !ok {
		return nil, "is not a time"
	}
	return raw, ""
}

// asDate reads a day. It also reads the day of a time, in the time's zone.
func asDate(raw codec.Value) (codec.Value, string) {
	if raw.Kind() != codec.KindString {
		return nil, kindOf(raw)
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
		return nil, kindOf(raw)
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

// UnmarshalAmount reads a string or a number. Null is zero.
func UnmarshalAmount(text []byte, amount *decimal.Decimal) error {
	// JSON writes a number without leading zeros.
	if plain, ok := parsePlain(text); ok && (text[0] != '0' || len(text) == 1 || text[1] == '.') {
		*amount = plain
		return nil
	}
	return Unmarshal(text, amount)
}

// decodeAmount reads an amount from a string or a number. Null changes nothing.
func decodeAmount(dec *codec.Decoder, amount *decimal.Decimal) error {
	literal, err := dec.ReadValue()
	if err != nil {
		return err
	}
	digits := []byte(literal)
	switch literal.Kind() {
	case codec.KindNull:
		*amount = decimal.Decimal{}
		return nil
	case codec.KindString:
		digits = digits[1 : len(digits)-1]
	case codec.KindNumber:
	default:
		return fmt.Errorf("the amount is neither a string nor a number")
	}
	if bytes.IndexByte(digits, '\\') >= 0 {
		digits, _ = codec.AppendUnquote(nil, literal) // the decoder has checked it
	}
	*amount, err = readAmount(digits, literal.Kind())
	return err
}

// readAmount reads the content of a JSON string, or a JSON number.
func readAmount(text []byte, kind codec.Kind) (decimal.Decimal, error) {
	if plain, ok := parsePlain(text); ok {
		return plain, nil
	}
	if kind == codec.KindNumber {
		return ParseNumber(string(text))
	}
	return ParseAmount(string(text))
}

// parsePlain reads digits with at most one point, in place. It leaves every other form to ParseAmount and
// ParseNumber. It has to be fast: a page has an amount for each entry.
func parsePlain(text []byte) (decimal.Decimal, bool) {
	const most = 18 // any number with so many digits fits an int64
	if len(text) == 0 || len(text) > most {
		return decimal.Decimal{}, false
	}
	var (
		coefficient int64
		exponent    int32
		fraction    bool
	)
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			coefficient = coefficient*10 + int64(c-'0')
			if fraction {
				exponent--
			}
		case c == '.' && !fraction && i > 0 && i < len(text)-1:
			fraction = true
		default:
			return decimal.Decimal{}, false
		}
	}
	return decimal.New(coefficient, exponent), true
}

// ParseAmount reads a decimal of bounded length in the form that the description states for strings: ASCII digits with
// at most one point, and a sign or none. Package decimal also reads exponents and other signs.
func ParseAmount(text string) (decimal.Decimal, error) { return parse(text, text) }

// ParseNumber reads a JSON number of bounded length, whose syntax was checked. Unlike a string, it may have an
// exponent.
func ParseNumber(text string) (decimal.Decimal, error) {
	digits, exponent := text, strings.IndexAny(text, "eE")
	if exponent >= 0 {
		digits = text[:exponent]
	}
	return parse(text, digits)
}

// parse reads a decimal. digits is its text without the exponent.
func parse(text, digits string) (decimal.Decimal, error) {
	if len(text) > 2*MaxDigits {
		return decimal.Decimal{}, fmt.Errorf("the amount is too long: it has %d characters", len(text))
	}
	amount, err := decimal.NewFromString(text)
	if err != nil || !isDescribed(digits) {
		return decimal.Decimal{}, fmt.Errorf("the amount is not a decimal number")
	}
	if TooLong(amount) {
		return decimal.Decimal{}, fmt.Errorf("the amount has more than %d digits", MaxDigits)
	}
	return amount, nil
}

// isDescribed reports the described form of a decimal string, which package decimal must read, too.
func isDescribed(text string) bool {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	return strings.Trim(text, "0123456789.") == ""
}

// FormatAmount writes a decimal of bounded length.
func FormatAmount(amount decimal.Decimal) (string, error) {
	if TooLong(amount) {
		return "", fmt.Errorf("the amount has more than %d digits", MaxDigits)
	}
	return amount.String(), nil
}

// MaxDigits bounds the length of an amount. A decimal of a few bytes, such as 1e999999999, would print as gigabytes.
const MaxDigits = 78

// TooLong reports an amount with more digits than the bound.
func TooLong(value decimal.Decimal) bool {
	exponent := int(value.Exponent())
	return max(exponent, 0)+value.NumDigits() > MaxDigits || exponent < -MaxDigits
}

// encodeTime writes a time in UTC, whatever its zone is. The description requires UTC.
func encodeTime(enc *codec.Encoder, at time.Time) error {
	text, err := at.UTC().MarshalText() // it refuses years with more than four digits
	if err != nil {
		return err
	}
	return enc.WriteToken(codec.String(string(text)))
}

// forms are allowed by ISO 8601 and not by RFC 3339: without a zone, with a short offset, or without seconds. Seconds
// may have a fraction.
var forms = [...]string{
	"2006-01-02T15:04:05", "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05-07",
	"2006-01-02T15:04", "2006-01-02T15:04Z07:00", "2006-01-02T15:04-0700", "2006-01-02T15:04-07",
}

// decodeTime reads a time. A time without a zone is in UTC. Null changes nothing. It is lenient on purpose: if only a Z
// is missing, the response to a write must not count as lost.
func decodeTime(dec *codec.Decoder, at *time.Time) error {
	literal, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch literal.Kind() {
	case codec.KindNull:
		*at = time.Time{}
		return nil
	case codec.KindString:
	default:
		return fmt.Errorf("the time is not a string")
	}
	text := literal[1 : len(literal)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		text, _ = codec.AppendUnquote(nil, literal) // the decoder has checked it
	}
	if !readTime(text, at) {
		return fmt.Errorf("the time is not in the ISO 8601 format")
	}
	return nil
}

// readTime reads a time in any of the forms. Most are in the form that package time reads fastest.
func readTime(text []byte, at *time.Time) (ok bool) {
	if at.UnmarshalText(text) == nil {
		return true
	}
	*at, ok = parseTime(string(text))
	return ok
}

// leapSecond is a second of 60, which RFC 3339 allows. It is the moment before the next minute.
var leapSecond = regexp.MustCompile(`^(.{10}T\d\d:\d\d:)60`)

// parseTime reads a time in any of the forms. A space may stand in place of the T, and T and Z may be in lower case.
func parseTime(text string) (time.Time, bool) {
	if len(text) > len(time.DateOnly) {
		text = text[:len(time.DateOnly)] + strings.ToUpper(text[len(time.DateOnly):])
	}
	if len(text) > len(time.DateOnly) && text[len(time.DateOnly)] == ' ' {
		text = text[:len(time.DateOnly)] + "T" + strings.Replace(text[len(time.DateOnly)+1:], " ", "", 1)
	}
	leap := time.Duration(0)
	if leapSecond.MatchString(text) {
		text, leap = leapSecond.ReplaceAllString(text, "${1}59"), time.Second
	}
	for _, form := range append([]string{time.RFC3339}, forms[:]...) {
		if at, err := time.Parse(form, strings.TrimSuffix(text, "UTC")); err == nil {
			return at.Add(leap), true
		}
	}
	return time.Time{}, false
}
