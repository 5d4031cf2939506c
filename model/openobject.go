package model

import (
	stderrors "errors"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// UnmarshalJSON reads a JSON object as encoding/json does, except for numbers. Each number becomes a [Number], because
// it can be an amount of money. A number of more than 78 digits becomes an errors.JSON, which has its text.
func (o *OpenObject) UnmarshalJSON(b []byte) error {
	var object map[string]any
	if err := jsonv2.Unmarshal(b, &object, jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(readOpen))); err != nil {
		return err
	}
	*o = object
	return nil
}

func readOpen(dec *jsonv2.Decoder, value *any) error {
	if dec.PeekKind() != jsonv2.KindNumber {
		return stderrors.ErrUnsupported // the decoder then reads the value in its usual way
	}
	literal, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if amount, err := wire.ParseNumber(string(literal)); err == nil {
		*value = NewNumber(amount)
	} else {
		*value = errors.JSON(literal.Clone())
	}
	return nil
}
