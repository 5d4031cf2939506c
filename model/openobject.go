package model

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// UnmarshalJSONFrom reads an object as encoding/json does, except that its numbers become [Number], exactly: what is not shown can be money. A
// number of more than 78 digits stays the jsontext.Value that it came as.
func (o *OpenObject) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var object map[string]any
	if err := json.UnmarshalDecode(dec, &object, json.WithUnmarshalers(json.UnmarshalFromFunc(readOpen))); err != nil {
		return err
	}
	*o = object
	return nil
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (o *OpenObject) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, o) }

func readOpen(dec *jsontext.Decoder, value *any) error {
	if dec.PeekKind() != jsontext.KindNumber {
		return errors.ErrUnsupported // for the usual reading
	}
	literal, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if amount, err := wire.ParseAmount(string(literal)); err == nil {
		*value = NewNumber(amount)
	} else {
		*value = literal.Clone()
	}
	return nil
}
