package model

import (
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Number is money that travels as a JSON number: card limits, the amounts of a transaction status, a transfer's amount.
// It is read from the number's digits and written back as such, so that nothing is rounded on the way. Its value is the
// embedded Decimal.
//
// Source: Resources, Card; Universal transaction status.
type Number struct{ decimal.Decimal }

// NewNumber is the number of a decimal.
func NewNumber(value decimal.Decimal) Number { return Number{value} }

// MarshalJSON writes a JSON number. One of more than 78 digits is an error.
func (n Number) MarshalJSON() ([]byte, error) {
	digits, err := wire.FormatAmount(n.Decimal)
	return []byte(digits), err
}

// UnmarshalJSON reads a JSON number, or a string that spells one, of at most 78 digits. Null is zero.
func (n *Number) UnmarshalJSON(b []byte) error { return wire.UnmarshalAmount(b, &n.Decimal) }
