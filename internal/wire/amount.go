package wire

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

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
