// Package number holds the host's amounts that travel as JSON numbers, digit by digit.
//
// Source: Resources and their fields.
package number

import (
	"encoding/json"
	"fmt"

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

// UnmarshalJSON reads a JSON number; null is zero.
func (n *Number) UnmarshalJSON(text []byte) error {
	var digits json.Number
	if err := json.Unmarshal(text, &digits); err != nil {
		return err
	}
	if digits == "" {
		*n = Number{}
		return nil
	}
	if len(digits) > MaxLength {
		return fmt.Errorf("number: of %d characters, which is more than %d", len(digits), MaxLength)
	}
	value, err := decimal.NewFromString(digits.String())
	n.Decimal = value
	return err
}
