package model_test

import (
	stdjson "encoding/json"
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/model"
)

func TestOpenObjectsKeepTheirNumbers(t *testing.T) {
	const document = `{"amount":0.10000000000000000000001,"count":9007199254740993,"huge":1e999999999,"list":[1.5,` +
		`{"deep":2.5}],"text":"1.10","none":null,"yes":true}`
	for name, read := range map[string]func([]byte, any) error{
		"v1": stdjson.Unmarshal,
		"v2": func(b []byte, into any) error { return codec.Unmarshal(b, into) },
	} {
		t.Run(name, func(t *testing.T) {
			var holder struct {
				Fields model.OpenObject `json:"fields"`
			}
			require.NoError(t, read([]byte(`{"fields":`+document+`}`), &holder))
			object := holder.Fields
			assert.Equal(t, "0.10000000000000000000001", object["amount"].(model.Number).String())
			assert.True(t, object["count"].(model.Number).Equal(decimal.NewFromInt(9007199254740993)))
			assert.Equal(t, errors.JSON("1e999999999"), object["huge"], "as a number it would print as a gigabyte")
			assert.Contains(t, fmt.Sprint(object), "huge:1e999999999", "and not as a list of bytes")
			assert.Equal(t, "2.5", object["list"].([]any)[1].(map[string]any)["deep"].(model.Number).String())
			assert.Equal(t, "1.10", object["text"])
			assert.Nil(t, object["none"])
			assert.Equal(t, true, object["yes"])

			written, err := stdjson.Marshal(object)
			require.NoError(t, err)
			var again model.OpenObject
			require.NoError(t, read(written, &again))
			assert.Equal(t, object, again, "a number is written as a number")
		})
	}
}

func TestOpenObjectsAreObjects(t *testing.T) {
	object := model.OpenObject{"a": "b"}
	for _, document := range []string{`[1]`, `"a"`, `1`, `{"a":1,"a":2}`, `{"a":}`} {
		assert.Error(t, codec.Unmarshal([]byte(document), &object), document)
	}
	var syntax *codec.SyntacticError
	require.ErrorAs(t, codec.Unmarshal([]byte(`{"a":1.}`), &object), &syntax, "a number that is cut off")
	require.ErrorAs(t, object.UnmarshalJSON([]byte(`{"a":1.}`)), &syntax, "without a decoder that looked at it before")
	require.NoError(t, codec.Unmarshal([]byte(`null`), &object))
	assert.Nil(t, object)
}
