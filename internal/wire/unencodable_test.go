package wire_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// itself is a value that writes itself, as unions do.
type itself struct{ variant any }

func (i itself) MarshalJSON() ([]byte, error) { return wire.Marshal(i.variant) }

// What cannot be encoded is named in the spelling of the wire.
func TestUnencodable(t *testing.T) {
	const bad = "\xff"
	type part struct {
		BankName string   `json:"bankName"`
		Lines    []string `json:"lines,omitempty"`
	}
	for want, body := range map[string]any{
		"name":             map[string]any{"name": bad},
		"bank.bankName":    map[string]any{"bank": part{BankName: bad}},
		"list[1].bankName": map[string]any{"list": []any{1, part{BankName: bad}}},
		"do":               map[string]any{"do": func() {}},
		"a":                map[string]any{"a": bad},
		"account.bankName": map[string]any{"account": itself{part{BankName: bad}}},
		"bank.bankName.deep": map[string]any{"bank": itself{map[string]any{
			"bankName": itself{map[string]any{"deep": bad}}}}},
		"bankName": itself{part{BankName: bad}},
		"body":     bad,
	} {
		_, err := wire.Marshal(body)
		require.Error(t, err, want)
		assert.Equal(t, want, wire.Unencodable(err))
	}
	assert.Equal(t, "body", wire.Unencodable(errors.New("not of JSON")))
}
