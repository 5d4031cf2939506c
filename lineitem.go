package moneymovement

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"
)

// MarshalJSONTo leaves out what is not set. A price and a quantity of zero are set, and sent: a line can be free of charge, and one whose price
// was forgotten is for the service to refuse.
func (i LineItem) MarshalJSONTo(enc *jsontext.Encoder) error {
	type named LineItem
	set := struct {
		named
		Quantity *Number          `json:"quantity,omitzero"`
		Price    *decimal.Decimal `json:"price,omitzero"`
	}{named: named(i)}
	if i.Quantity != (Number{}) {
		set.Quantity = &i.Quantity
	}
	if i.Price != (decimal.Decimal{}) {
		set.Price = &i.Price
	}
	return json.MarshalEncode(enc, set)
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (i LineItem) MarshalJSON() ([]byte, error) { return json.Marshal(i) }
