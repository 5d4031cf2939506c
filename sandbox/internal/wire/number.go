package wire

import (
	"errors"
	"regexp"

	"github.com/shopspring/decimal"
)

// MaxLength is the maximum length of an amount, in characters. The service states no limit. The time to read a decimal
// grows with the square of its digits, and no real amount has as many.
const MaxNumberLength = 256

// ErrUnreadable is the error for text that is not a number, is too long, or has a very large exponent.
var ErrUnreadable = errors.New("not a number that an amount can be")

// Number is a decimal that is a JSON number. It is never converted to a float.
type Number struct{ decimal.Decimal }

// Of returns a decimal as a Number.
func NumberOf(value decimal.Decimal) Number { return Number{value} }

// Package decimal reads more than these forms, such as other characters for the minus.
var (
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	asText     = regexp.MustCompile(`^[+-]?[0-9]*\.?[0-9]*$`) // decimal refuses one without digits
)

// Parse reads the text of a JSON number.
func ParseNumber(text string) (Number, error) { return parse(text, jsonNumber) }

// ParseText reads the content of a string that holds an amount, in the form that the description states.
func ParseNumberText(text string) (Number, error) { return parse(text, asText) }

func parse(text string, form *regexp.Regexp) (Number, error) {
	if len(text) > MaxNumberLength || !form.MatchString(text) {
		return Number{}, ErrUnreadable
	}
	value, err := decimal.NewFromString(text)
	if err != nil {
		return Number{}, ErrUnreadable
	}
	return Number{value}, nil
}

// MarshalJSON writes the digits, without quotes.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalJSON reads a JSON number; null is zero.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = Number{}
		return nil
	}
	read, err := ParseNumber(string(text))
	if err != nil {
		return err
	}
	*n = read
	return nil
}
