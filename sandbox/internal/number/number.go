// Package number holds the host's amounts that travel as JSON numbers, digit by digit.
//
// Source: Resources and their fields.
package number

import (
	"encoding/json"
	"reflect"

	"github.com/shopspring/decimal"
)

// MaxLength is how many characters an amount is read from. The service states no bound; reading a decimal takes time that
// grows with the square of its digits, and no amount has as many.
const MaxLength = 256

// Number is a decimal that travels as a JSON number and never becomes a float.
type Number struct{ decimal.Decimal }

// Of is a decimal as a number.
func Of(value decimal.Decimal) Number { return Number{value} }

// MarshalJSON writes the digits, without quotes.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalJSON reads a JSON number; null is zero. One that is too long, or has an exponent that no amount has, is refused
// with a [json.UnmarshalTypeError], in which the decoder around it names the field.
func (n *Number) UnmarshalJSON(text []byte) error {
	var digits json.Number
	if err := json.Unmarshal(text, &digits); err != nil {
		return err
	}
	if digits == "" {
		*n = Number{}
		return nil
	}
	tooLong := &json.UnmarshalTypeError{Value: "number", Type: reflect.TypeFor[Number]()}
	if len(digits) > MaxLength {
		return tooLong
	}
	value, err := decimal.NewFromString(digits.String())
	if err != nil {
		return tooLong
	}
	n.Decimal = value
	return nil
}
