package wire_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/oapi-codegen/nullable"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// What is sent does not depend on switches of the libraries, and the same value is sent as the same bytes.
func TestEncoding(t *testing.T) {
	before := decimal.MarshalJSONWithoutQuotes
	t.Cleanup(func() { decimal.MarshalJSONWithoutQuotes = before })
	decimal.MarshalJSONWithoutQuotes = true
	type update struct {
		Amount *decimal.Decimal            `json:"amount,omitempty"`
		Name   nullable.Nullable[string]   `json:"name,omitempty"`
		Email  nullable.Nullable[string]   `json:"email,omitempty"`
		Phone  nullable.Nullable[string]   `json:"phone,omitempty"`
		Tags   nullable.Nullable[[]string] `json:"tags,omitempty"`
		Note   *string                     `json:"note,omitempty"`
		Flag   bool                        `json:"flag,omitempty"`
		More   map[string]int              `json:"more,omitempty"`
	}
	amount, empty := decimal.RequireFromString("12.50"), ""
	sent := update{
		Amount: &amount, Name: nullable.NewNullableWithValue("Bob"), Email: nullable.NewNullNullable[string](),
		Tags: nullable.NewNullableWithValue([]string{}), Note: &empty, More: map[string]int{"z": 1, "y": 2, "x": 3, "w": 4, "v": 5, "u": 6},
	}
	for range 20 {
		body, err := json.Marshal(sent, wire.Encoding)
		require.NoError(t, err)
		if got := string(body); got != `{"amount":"12.5","name":"Bob","email":null,"tags":[],"note":"","more":{"u":6,"v":5,"w":4,"x":3,"y":2,"z":1}}` {
			t.Fatal(got)
		}
	}
}
