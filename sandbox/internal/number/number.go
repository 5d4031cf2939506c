// Package number holds the host's amounts that travel as JSON numbers, digit by digit.
package number

import (
	"errors"

	"github.com/shopspring/decimal"
)

// MaxLength is how many characters an amount is read from. The service states no bound; reading a decimal takes time
// that grows with the square of its digits, and no amount has as many.
const MaxLength = 256

// ErrUnreadable is the error for text that is not a number, is too long, or has an exponent that no amount has.
var ErrUnreadable = errors.New("not a number that an amount can be")

// Number is a decimal that travels as a JSON number and never becomes a float.
type Number struct{ decimal.Decimal }

// Of is a decimal as a number.
func Of(value decimal.Decimal) Number { return Number{value} }

// Parse reads the text of a JSON number.
func Parse(text string) (Number, error) {
	if len(text) > MaxLength {
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
	read, err := Parse(string(text))
	if err != nil {
		return err
	}
	*n = read
	return nil
}
