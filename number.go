package moneymovement

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"
)

// Number is money that travels as a JSON number: card limits, the amounts of a transaction status, a transfer's amount. It is read from the
// number's digits and written back as such, so that nothing is rounded on the way. Its value is the embedded Decimal.
//
// Source: Resources, Card; Universal transaction status.
type Number struct{ decimal.Decimal }

// NewNumber is the number of a decimal.
func NewNumber(value decimal.Decimal) Number { return Number{value} }

// MarshalJSONTo writes a JSON number.
func (n Number) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteValue(jsontext.Value(n.Decimal.String()))
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n.Decimal.String()), nil }

// UnmarshalJSONFrom reads a JSON number, or a string that spells one.
func (n *Number) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return json.UnmarshalDecode(dec, &n.Decimal)
}
