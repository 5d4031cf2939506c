package model

import (
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Number is an amount that travels as a JSON number, such as a card limit or the amount of a transfer. It keeps the
// exact digits in both directions: it never uses a float. Its value is the embedded Decimal, in units of the currency
// that stands beside it in the resource.
type Number struct{ decimal.Decimal }

// NewNumber returns a decimal as a Number.
func NewNumber(value decimal.Decimal) Number { return Number{value} }

// MarshalJSON writes a JSON number. It fails for a number of more than 78 digits.
func (n Number) MarshalJSON() ([]byte, error) {
	digits, err := wire.FormatAmount(n.Decimal)
	return []byte(digits), err
}

// UnmarshalJSON reads a JSON number, or a string that holds one, of at most 78 digits. Null gives zero.
func (n *Number) UnmarshalJSON(b []byte) error { return wire.UnmarshalAmount(b, &n.Decimal) }
